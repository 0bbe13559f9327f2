import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { CONTAINER_BYTES, liveWeight, TYPE_BYTES } from '../../../src/room/live-weight.ts'
import { MeasuredSum } from '../../../src/room/measured-sum.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'
import { manyAuthors } from '../../support/many-authors.ts'

const sum = (pieces: Iterable<number>): number => [...pieces].reduce((total, piece) => total + piece, 0)

test('[HI2] weight is what is live: types and containers that were replaced or deleted weigh nothing', () => {
  const doc = new Y.Doc()
  const map = doc.getMap('m')
  map.set('flat', 'text')
  map.set('bytes', new Uint8Array(10))
  expect(sum(liveWeight(doc))).toBe(0)
  map.set('points', { points: [[1], [2], { x: 3 }] })
  expect(sum(liveWeight(doc))).toBe(5 * CONTAINER_BYTES)
  for (let i = 0; i < 50; i++) map.set('points', { points: [[1], [2], [i]] })
  expect(sum(liveWeight(doc))).toBe(5 * CONTAINER_BYTES)
  const inner = new Y.Array<unknown>()
  map.set('inner', inner)
  inner.push([{ a: [] }, 1])
  doc.getText('t').insert(0, 'bold', { bold: { deep: true } })
  doc.getText('t').insertEmbed(4, { image: { of: 1 } })
  // One type; two in the list, one each in two marks' values, of which the closing one is null, and two in the embed.
  expect(sum(liveWeight(doc))).toBe(TYPE_BYTES + (5 + 2 + 1 + 2) * CONTAINER_BYTES)
  map.delete('inner')
  map.delete('points')
  expect(sum(liveWeight(doc))).toBe(3 * CONTAINER_BYTES)
})

test('[HI2] it comes in pieces, and a document that changes between two of them is read on where it was', () => {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, manyAuthors(2000))
  const [list, map] = [doc.getArray<unknown>('list'), doc.getMap('map')]
  list.push(Array.from({ length: 5000 }, (_, i) => i))
  doc.transact(() => {
    for (let i = 0; i < 3000; i++) map.set(`k${i}`, {})
  })
  const pieces: number[] = []
  for (const piece of liveWeight(doc)) {
    pieces.push(piece)
    // Splits and joins structs behind and before the place where the reading stands.
    list.delete(pieces.length * 7, 1)
    list.insert(pieces.length * 11, ['split'])
    map.delete(`k${pieces.length * 100}`)
  }
  expect(pieces.length).toBeGreaterThan(3)
  const found = pieces.reduce((total, piece) => total + piece, 0)
  expect(found).toBeGreaterThanOrEqual((3000 - pieces.length) * CONTAINER_BYTES)
  expect(found).toBeLessThanOrEqual(3000 * CONTAINER_BYTES)
})

/** A sum over something that a test changes under it. */
function measured(limit: number, pieces: number, msAPiece: number) {
  const clock = new HeldClock()
  const world = { real: 0, readings: 0, longest: 0 }
  const size = new MeasuredSum(limit, heldLoop(clock), function* () {
    world.readings++
    for (let i = 0; i < pieces; i++) {
      clock.spend(msAPiece)
      yield Math.round(world.real / pieces)
    }
  })
  return { clock, size, world }
}

test('[HI2] nothing is over a limit that was not measured to be; the sum only says when to look', async () => {
  const { clock, size, world } = measured(100, 5, 0)
  world.real = 50
  for (let i = 0; i < 30; i++) size.add(10)
  expect([size.value, size.isOver]).toEqual([300, false])
  await clock.advance(0)
  expect([size.value, size.isOver, world.readings]).toEqual([50, false, 1])
  world.real = 120
  size.add(70)
  await clock.advance(999)
  expect(size.isOver).toBe(false)
  await clock.advance(1)
  expect([size.value, size.isOver, world.readings]).toEqual([120, true, 2])
})

test('[HI2] what is over is measured again when something was taken away, also while it is being measured, and not for ever', async () => {
  const { clock, size, world } = measured(100, 10, 2)
  world.real = 150
  size.add(150)
  await clock.advance(50)
  expect(size.isOver).toBe(true)
  await clock.advance(60_000)
  expect(world.readings).toBe(1)
  size.changed()
  clock.soon(() => {
    world.real = 80
    size.changed()
  })
  await clock.advance(3000)
  expect([size.value, size.isOver]).toEqual([80, false])
  await clock.advance(60_000)
  expect(world.readings).toBeLessThanOrEqual(3)
})

test('[HI2] measuring gives the loop back, and takes a tenth of it at most', async () => {
  const { clock, size, world } = measured(300, 200, 1)
  world.real = 200
  size.add(400)
  await clock.advance(250)
  expect([size.value, world.readings]).toEqual([200, 1])
  // 200 ms of measuring: the next one is two seconds away.
  size.add(150)
  await clock.advance(1500)
  expect(world.readings).toBe(1)
  await clock.advance(1000)
  expect(world.readings).toBe(2)
})
