import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { DeleteScan, DeleteSnapshot } from '../../../src/diff/delete-snapshot.ts'
import { OwedDeletes } from '../../../src/diff/owed-deletes.ts'
import { Random } from '../../support/random.ts'
import { RandomWorld } from './random-world.ts'

const rangesOf = (snapshot: DeleteSnapshot): unknown =>
  snapshot.ranges.map(({ client, bounds }) => [client, [...bounds]] as const)

function deleteSetOf(doc: Y.Doc): unknown {
  return [...Y.createDeleteSetFromStructStore(doc.store).clients]
    .sort(([a], [b]) => b - a)
    .map(([client, items]) => [client, items.flatMap(({ clock, len }) => [clock, clock + len])])
}

test('[FC8] a delete set read in steps, with edits between them, is whole together with what they deleted', () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = new Random(seed)
    const world = new RandomWorld(random)
    for (let step = 0; step < 60; step++) world.step()
    const scan = new DeleteScan(world.server.store)
    const since = new OwedDeletes()
    world.server.on('afterTransaction', (transaction: Y.Transaction) => since.add(transaction.deleteSet))
    while (!scan.step(1 + random.int(20))) if (random.chance(0.4)) world.step()
    const all = new OwedDeletes()
    for (const { client, bounds } of scan.finish().ranges) {
      for (let i = 0; i < bounds.length; i += 2) all.addRange(client, bounds[i]!, bounds[i + 1]! - bounds[i]!)
    }
    all.addAll(since)
    // Structs that arrive collected are not in a transaction's delete set; the source notes them on its own.
    for (const [client, structs] of world.server.store.clients) {
      for (const struct of structs) if (struct instanceof Y.GC) all.addRange(client, struct.id.clock, struct.length)
    }
    expect(rangesOf(new DeleteSnapshot(all.byAuthor())), `seed ${seed}`).toEqual(deleteSetOf(world.server))
    world.close()
  }
})

test('[FC8] the parts of a delete set keep to their size, begin alike for everybody and together are all of it', () => {
  const doc = new Y.Doc()
  for (const author of [5, 900, 70_000]) {
    doc.clientID = author
    doc.getArray('list').insert(
      0,
      Array.from({ length: 900 }, (_, index) => index),
    )
  }
  for (let i = 0; i < 1350; i++) doc.getArray('list').delete(i, 1)
  const snapshot = new DeleteScan(doc.store).finish()
  const found = new OwedDeletes()
  for (let at: { author: number; bound: number } | null = { author: 0, bound: 0 }; at !== null; ) {
    const part = snapshot.part(at, 200)
    expect(part).toBe(snapshot.part({ ...at }, 200))
    expect(part.update.length).toBeLessThanOrEqual(200)
    found.add(Y.decodeUpdate(part.update).ds)
    at = part.next
  }
  expect(found.byAuthor()).toEqual(snapshot.ranges)
  expect(rangesOf(snapshot)).toEqual(deleteSetOf(doc))
  expect(snapshot.whole().length).toBe(snapshot.size)
})
