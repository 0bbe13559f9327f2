import type * as Y from 'yjs'
import { applyOwned } from '../update/owned-update.ts'
import type { SliceSize } from '../update/slice-size.ts'
import { CHECK_LIMITS, checkUpdate } from '../update/update-check.ts'
import { type DeleteGuide, SLICE_BYTES, sliceUpdate } from '../update/update-slices.ts'

/** What was accepted once is not refused for its number of root names. The check is slower with a limit like this. */
const MANY_NAMES = { ...CHECK_LIMITS, rootNames: 1 << 20 }

/**
 * Stored bytes, which may be anything, as updates that are safe to apply, of about 64 KiB where they can be cut. Throws
 * when they are not an update. `size`: what a piece holds beside its bytes; `guide`: of deletes.
 */
export function storedSlices(
  bytes: Uint8Array,
  size: SliceSize | null = null,
  guide?: DeleteGuide,
): Iterable<Uint8Array> {
  let check = checkUpdate(bytes)
  if (!check.ok && check.reason === 'root_names') check = checkUpdate(bytes, MANY_NAMES)
  if (!check.ok) throw new Error(check.reason)
  return sliceUpdate(bytes, SLICE_BYTES, size, guide)
}

/**
 * Applies one piece of a stored board as it is. After a remote transaction Yjs tidies rich text, and would take away
 * formats to which the next piece gives a meaning; so this passes as a local one.
 */
export function applyStored(doc: Y.Doc, update: Uint8Array, origin?: unknown): void {
  doc.transact((transaction) => {
    applyOwned(doc, update)
    transaction.local = true
  }, origin)
}
