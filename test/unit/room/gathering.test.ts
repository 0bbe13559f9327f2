import { expect, test } from 'vitest'
import { Gathering, MAX_SPACING_MS } from '../../../src/room/gathering.ts'

const LOOK_MS = 100

/** Looks at a loop of this utilisation while rooms have these deliveries a second; how long each gathers then, ms. */
function after(gathering: Gathering, looks: number, utilisation: number, rates: readonly number[]): number[] {
  const rooms = rates.map(() => gathering.room())
  for (let i = 0; i < looks; i++) {
    for (const [n, room] of rooms.entries()) room.delivered((rates[n]! * LOOK_MS) / 1000)
    gathering.look(utilisation, LOOK_MS)
  }
  return rooms.map(({ spacingMs }) => spacingMs)
}

test('[FR8] while the loop works less than half of its time nobody gathers', () => {
  const gathering = new Gathering()
  expect(after(gathering, 20, 0.45, [2_000, 100, 5])).toEqual([0, 0, 0])
  expect(gathering.pressure).toBe(0)
})

test('[FR8] a full loop makes rooms gather within three looks, a free one lets them go within ten', () => {
  const gathering = new Gathering()
  expect(after(gathering, 3, 1, [1_000])[0]).toBe(MAX_SPACING_MS)
  const looks = (until: () => boolean): number => {
    let count = 0
    while (!until()) {
      gathering.look(0.2, LOOK_MS)
      count++
    }
    return count
  }
  expect(looks(() => gathering.pressure === 0)).toBeLessThanOrEqual(10)
})

test('[FR8] those that give the loop most to do gather longest; a pair beside a hall not at all', () => {
  const [hall, pair] = after(new Gathering(), 10, 0.8, [4_000, 20])
  expect(hall).toBe(MAX_SPACING_MS)
  expect(pair).toBe(0)
})

test('[FR8] rooms that are all alike share what has to be gathered', () => {
  const gathering = new Gathering()
  const spacings = after(
    gathering,
    2,
    0.75,
    Array.from({ length: 50 }, () => 180),
  )
  expect(new Set(spacings).size).toBe(1)
  expect(spacings[0]).toBeGreaterThan(0)
  expect(spacings[0]).toBeLessThan(MAX_SPACING_MS)
})

test('[FR8] a room of very many deliveries gathers a few milliseconds on a loop that has time', () => {
  const [large, usual] = after(new Gathering(), 10, 0.1, [12_000, 3_000])
  expect(large).toBeCloseTo(8, 1)
  expect(usual).toBe(0)
})

test('a room in which nothing happens any more is forgotten', () => {
  const gathering = new Gathering()
  const room = gathering.room()
  room.delivered(10)
  for (let i = 0; i < 20; i++) gathering.look(1, LOOK_MS)
  expect(room.rate).toBe(0)
  expect(room.spacingMs).toBe(0)
})
