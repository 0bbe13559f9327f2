import * as Y from 'yjs'

/** How many shared types a struct of a document lies in, roots not counted; 0 when the document does not have it. */
export function typeLevels(doc: Y.Doc): (client: number, clock: number) => number {
  return (client, clock) => {
    if (clock >= Y.getState(doc.store, client)) return 0
    let item: Y.Item | Y.GC | null = Y.getItem(doc.store, Y.createID(client, clock))
    let level = -1
    // Types of a document nest 100 deep at most: deeper updates are refused.
    for (; item instanceof Y.Item; item = (item.parent as Y.AbstractType<unknown>)._item) level++
    return Math.max(0, level)
  }
}
