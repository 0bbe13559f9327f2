import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { Random } from './random.ts'
import type { ThinClient } from './thin-link.ts'

/** A board of about `bytes`, drawn by four authors in turn, some of it deleted again. */
export function bigBoard(bytes: number, seed = 1): Y.Doc {
  const random = new Random(seed)
  const authors = Array.from({ length: 4 }, (_, i) => {
    const doc = new Y.Doc()
    doc.clientID = 1000 + i
    return doc
  })
  let total = 0
  for (let turn = 0; total < bytes; turn++) {
    const author = authors[turn % 4]!
    author.transact(() => {
      const shapes = author.getMap<Y.Map<unknown>>('shapes')
      for (let i = 0; i < 200; i++) {
        const points = Array.from({ length: 40 }, () => random.int(4000))
        shapes.set(`s${turn}-${i}`, new Y.Map<unknown>(Object.entries({ points, colour: '#123456' })))
        total += 180
      }
      if (turn > 4 && random.chance(0.5)) for (let i = 0; i < 40; i++) shapes.delete(`s${turn - 4}-${i}`)
    })
    const next = authors[(turn + 1) % 4]!
    Y.applyUpdate(next, Y.encodeStateAsUpdate(author, Y.encodeStateVector(next)))
  }
  const all = new Y.Doc()
  for (const author of authors) Y.applyUpdate(all, Y.encodeStateAsUpdate(author))
  return all
}

/** What two documents have to agree on, small enough for a line. */
export const contentOf = (doc: Y.Doc) => ({
  vector: [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b),
  deletes: [...Y.createDeleteSetFromStructStore(doc.store).clients]
    .map(([client, items]) => [client, items.reduce((sum, { len }) => sum + len, 0)])
    .sort(([a], [b]) => a! - b!),
})
/** Whether the last state a thin client told of is the document's. */
export const isLevel = (client: ThinClient, doc: Y.Doc): boolean => {
  const last = client.said.at(-1) as { vector: number[][]; deletes: number[][] } | undefined
  if (last === undefined) return false
  const sorted = (rows: number[][]) => [...rows].sort(([a], [b]) => a! - b!)
  return isDeepStrictEqual({ vector: sorted(last.vector), deletes: sorted(last.deletes) }, contentOf(doc))
}
