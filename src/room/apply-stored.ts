import * as Y from 'yjs'
import { CHECK_LIMITS, checkUpdate } from '../protocol/update-check.ts'
import { sliceUpdate } from '../protocol/update-slices.ts'

/** What was accepted once is not refused for its number of root names: the room bounds those as they come in. */
const LIMITS = { ...CHECK_LIMITS, rootNames: Number.MAX_SAFE_INTEGER }

/**
 * Stored bytes, which may be anything, as updates that are safe to apply, of about 64 KiB where they can be cut. Throws
 * when they are not an update.
 */
export function storedSlices(bytes: Uint8Array): Iterable<Uint8Array> {
  const check = checkUpdate(bytes, LIMITS)
  if (!check.ok) throw new Error(check.reason)
  return sliceUpdate(bytes)
}

/**
 * Applies one piece of a stored board as it is. After a remote transaction Yjs tidies rich text, and would take away
 * formats to which the next piece gives a meaning; so this passes as a local one.
 */
export function applyStored(doc: Y.Doc, update: Uint8Array, origin?: unknown): void {
  doc.transact((transaction) => {
    Y.applyUpdate(doc, update)
    transaction.local = true
  }, origin)
}
