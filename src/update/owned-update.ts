/**
 * Applying an update so that the document keeps nothing of the bytes it came in.
 *
 * lib0 reads a byte array inside a value as a view: one of ten bytes keeps the whole message alive, or the 8 KiB of Node's
 * pool that a small message was copied to. Bytes that stay are therefore copied while they are read.
 */
import * as Y from 'yjs'

/** `value` with every byte array in it copied. Objects and arrays are fresh from the decoder and changed in place. */
function owned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  // Not `instanceof`: an object may have come with such a prototype.
  if (ArrayBuffer.isView(value)) return new Uint8Array(value as Uint8Array)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isObject(value[i])) value[i] = owned(value[i])
    return value
  }
  // A key `__proto__` has become the prototype, which is never written again but may be such a view.
  if (Object.getPrototypeOf(value) !== Object.prototype) Object.setPrototypeOf(value, Object.prototype)
  const parts = value as Record<string, unknown>
  for (const key in parts) if (isObject(parts[key])) parts[key] = owned(parts[key])
  return value
}
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

class OwningDecoderV1 extends Y.UpdateDecoderV1 {
  override readAny(): unknown {
    return owned(super.readAny())
  }
}

/** As `Y.applyUpdate`. */
export function applyOwned(doc: Y.Doc, update: Uint8Array, origin?: unknown): void {
  Y.applyUpdateV2(doc, update, origin, OwningDecoderV1)
}
