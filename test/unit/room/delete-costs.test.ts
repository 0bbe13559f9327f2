/** What deleting takes in a document, which neither its bytes nor its clocks tell. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { DeleteCosts } from '../../../src/room/delete-costs.ts'
import { SliceSize } from '../../../src/update/slice-size.ts'
import { sliceUpdate } from '../../../src/update/update-slices.ts'
import { WireClient, World } from '../../support/memory-world.ts'
import { varuint } from '../../support/update-bytes.ts'

/** Author 1: `count` letters in the root `a` that stay structs of their own. */
const letters = (count: number): Uint8Array =>
  Uint8Array.from([
    1,
    ...varuint(count),
    1,
    0,
    ...Array.from({ length: count }, () => [4, 1, 1, 0x61, 1, 0x78]).flat(),
    0,
  ])
const deleteOf = (from: number, length: number): Uint8Array =>
  Uint8Array.from([0, 1, 1, 1, ...varuint(from), ...varuint(length)])
const frame = (update: Uint8Array): Uint8Array => Uint8Array.from([0, 2, ...varuint(update.length), ...update])

function docOf(update: Uint8Array): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return doc
}
const slicesOf = (doc: Y.Doc, update: Uint8Array): Uint8Array[] => [
  ...sliceUpdate(update, 65_536, new SliceSize(32), new DeleteCosts(() => doc)),
]

test('[LT1] [LT3] fifteen bytes that delete 2^47 clocks are taken at once, and the room is settled', async () => {
  const world = new World()
  const client = new WireClient(world, 'room', 'a', 100)
  client.connect()
  await world.clock.advance(20)
  client.transmit()
  await world.clock.advance(300)
  client.session!.receive(frame(letters(10)), true)
  await world.clock.advance(50)
  client.session!.receive(frame(deleteOf(0, 2 ** 47)), true)
  await world.clock.advance(50)
  const room = world.registry.get('room')!
  expect(room.isSettled).toBe(true)
  expect(room.doc.getArray('a').length).toBe(0)
  // As far when the clocks are there: a collected struct may be as long as that.
  client.session!.receive(frame(Uint8Array.from([1, 1, 2, 0, 0, ...varuint(2 ** 47), 0])), true)
  client.session!.receive(frame(Uint8Array.from([0, 1, 2, 1, 0, ...varuint(2 ** 47)])), true)
  await world.clock.advance(50)
  expect(room.isSettled).toBe(true)
  expect(Y.getState(room.doc.store, 2)).toBe(2 ** 47)
})

test('[LT1] a delete is cut by the structs that it meets', () => {
  const doc = docOf(letters(20_000))
  const slices = slicesOf(doc, deleteOf(0, 20_000))
  expect(slices.length).toBeGreaterThanOrEqual(5)
  expect(slices.length).toBeLessThan(10)
  for (const slice of slices) Y.applyUpdate(doc, slice)
  expect(doc.getArray('a').length).toBe(0)
  // One long text is one struct.
  const text = new Y.Doc()
  text.clientID = 1
  text.getText('t').insert(0, 'x'.repeat(100_000))
  expect(slicesOf(text, deleteOf(0, 100_000))).toHaveLength(1)
})

test('[LT1] ranges that split structs of an author who has very many are few in one go', () => {
  const range = Array.from({ length: 1000 }, (_, i) => [...varuint(2 * i), 1]).flat()
  const deletes = Uint8Array.from([0, 1, 1, ...varuint(1000), ...range])
  expect(slicesOf(docOf(letters(3000)), deletes).length).toBeLessThan(5)
  expect(slicesOf(docOf(letters(200_000)), deletes).length).toBeGreaterThan(60)
})

test('[LT1] what lies in a deleted type counts with it', () => {
  const doc = new Y.Doc()
  const map = doc.getMap<Y.Array<number>>('m')
  doc.clientID = 1
  for (let i = 0; i < 8; i++) {
    const list = new Y.Array<number>()
    map.set(`k${i}`, list)
    for (let n = 0; n < 2000; n++) list.insert(0, [n])
  }
  expect(slicesOf(doc, deleteOf(0, 8 * 2001)).length).toBeGreaterThan(3)
  expect(new DeleteCosts(() => doc).reach(1, 0, 1, 4096).cost).toBeGreaterThan(2000)
})
