import * as Y from 'yjs'

/** Whether two documents hold the same: every struct and every deletion, whatever the order they came in. */
export function sameBoard(a: Y.Doc, b: Y.Doc): boolean {
  if (a.store.pendingStructs !== null || b.store.pendingStructs !== null) return false
  return Y.equalSnapshots(Y.snapshot(a), Y.snapshot(b))
}

/** Writes `bytes` of text into an array, one element and one transaction per 32 KiB: a paste that cannot be folded. */
export function pour(doc: Y.Doc, bytes: number, chunk = 32_768): void {
  const array = doc.getArray<string>('poured')
  for (let left = bytes; left > 0; left -= chunk) {
    // Unlike text everywhere: nothing here compresses or merges it.
    array.push([String.fromCharCode(97 + (array.length % 26)).repeat(Math.min(chunk, left))])
  }
}
