import type * as Y from 'yjs'
import type { StateVector } from '../outbound/diff-cursor.ts'

/** What a document that broke can still tell. */
export function salvage(_doc: Y.Doc, _level: StateVector): readonly Uint8Array[] {
  return []
}
