import { expect, test } from 'vitest'
import { type Holder, MemoryGuard } from '../../../src/budget/memory-guard.ts'
import { LabelledCounter } from '../../../src/observe/counters.ts'
import { SHED_KINDS } from '../../../src/observe/metrics.ts'
import { HeldClock } from '../../support/held-clock.ts'

const MB = 1_000_000
const MAX = 300 * MB

/** A process in which everything that is held is known, and garbage and kept pages are what the test says. */
class Held {
  readonly clock = new HeldClock()
  readonly shed = new LabelledCounter(SHED_KINDS)
  readonly gone: string[] = []
  garbage = 0
  kept = 0
  collections = 0
  /** Of those, the ones that stopped everything. */
  forced = 0
  isOver = true
  /** Whether V8 gets to what it was asked to collect. */
  collectsInBackground = true
  readonly holders = {
    idle: new Map<string, number>(),
    slow: new Map<string, number>(),
    room: new Map<string, number>(),
  }
  readonly guard: MemoryGuard

  constructor(maxBytes = MAX) {
    const list = (of: Map<string, number>): Holder[] =>
      [...of].map(([name, bytes]) => ({
        bytes,
        owner: name.startsWith('of ') ? name.split(' ')[1]! : null,
        describe: () => ({ name }),
        shed: () => {
          of.delete(name)
          this.gone.push(name)
          // The allocator keeps its pages, V8 its garbage.
          this.garbage += bytes
        },
      }))
    this.guard = new MemoryGuard({
      clock: this.clock,
      log: { warn: () => {}, info: () => {} },
      shed: this.shed,
      maxBytes,
      resident: () => this.used + this.kept,
      used: () => this.used,
      garbage: {
        begin: () => {
          this.isOver = false
          if (this.collectsInBackground) this.#collect()
        },
        isOver: () => this.isOver,
        force: () => {
          this.forced++
          this.#collect()
        },
      },
      idleRooms: () => list(this.holders.idle),
      slowClients: () => list(this.holders.slow),
      rooms: () => list(this.holders.room),
    })
  }
  #collect(): void {
    this.collections++
    this.garbage = 0
    this.isOver = true
  }
  get used(): number {
    let bytes = this.garbage
    for (const of of Object.values(this.holders)) for (const each of of.values()) bytes += each
    return bytes
  }
}

test('[MM1] below the limit nobody is shed and everybody let in', async () => {
  const held = new Held()
  held.holders.slow.set('slow', 200 * MB)
  await held.clock.advance(10_000)
  expect(held.guard.isShort).toBe(false)
  expect(held.gone).toEqual([])
})

test('[MM1] garbage and pages that are only kept cost nobody its connection', async () => {
  const held = new Held()
  held.holders.slow.set('slow', 100 * MB)
  held.garbage = 250 * MB
  await held.clock.advance(1000)
  expect([held.collections, held.guard.isShort, held.gone]).toEqual([1, false, []])
  held.kept = 250 * MB
  await held.clock.advance(10_000)
  // Newcomers wait all the same: the kernel counts those pages.
  expect([held.guard.isShort, held.gone]).toEqual([true, []])
  expect(held.collections).toBeLessThanOrEqual(11)
  held.kept = 0
  await held.clock.advance(200)
  expect(held.guard.isShort).toBe(false)
})

test('[MM1] empty rooms go first, then who holds most and does not keep up, until it is below', async () => {
  const held = new Held()
  for (let i = 0; i < 10; i++) held.holders.idle.set(`idle ${i}`, MB)
  for (let i = 1; i <= 40; i++) held.holders.slow.set(`slow ${i}`, i * MB)
  held.holders.slow.set('hardly slow', 1000)
  held.holders.room.set('room', 100 * MB)
  await held.clock.advance(5000)
  expect(held.used).toBeLessThanOrEqual(MAX)
  expect(held.gone.slice(0, 10).every((name) => name.startsWith('idle'))).toBe(true)
  expect(held.gone.slice(10, 12)).toEqual(['slow 40', 'slow 39'])
  expect(held.holders.slow.has('slow 1') && held.holders.slow.has('hardly slow')).toBe(true)
  expect(held.holders.room.has('room')).toBe(true)
  expect(held.shed.values).toMatchObject({ idle_room: 10, room: 0 })
  expect(held.guard.isShort).toBe(false)
})

test('[MM1] where nothing else is to be had the largest rooms go, one at a time', async () => {
  const held = new Held()
  for (let i = 1; i <= 10; i++) held.holders.room.set(`room ${i}`, i * 10 * MB)
  await held.clock.advance(5000)
  expect(held.gone).toEqual(['room 10', 'room 9', 'room 8'])
  expect(held.guard.isShort).toBe(false)
})

test('[MM1] one that holds little each of many times goes before somebody who holds more once', async () => {
  const held = new Held()
  for (let i = 0; i < 1000; i++) held.holders.slow.set(`of many ${i}`, 0.3 * MB)
  for (let i = 0; i < 10; i++) held.holders.slow.set(`of office ${i}`, 0.9 * MB)
  await held.clock.advance(20_000)
  expect(held.guard.isShort).toBe(false)
  expect(held.gone.length).toBeGreaterThan(0)
  expect(held.gone.filter((name) => !name.startsWith('of many'))).toEqual([])
})

test('[MM1] many rooms of one owner, none of them large, go before the large one of another', async () => {
  const held = new Held()
  for (let i = 0; i < 400; i++) held.holders.room.set(`of many ${i}`, 0.9 * MB)
  held.holders.room.set('of one board', 2 * MB)
  await held.clock.advance(90_000)
  expect(held.guard.isShort).toBe(false)
  expect(held.holders.room.has('of one board')).toBe(true)
})

test('[MM1] garbage is collected beside the work; what V8 does not get to is forced, and that takes a tenth of the time at most', async () => {
  const held = new Held(900 * MB)
  held.garbage = 910 * MB
  await held.clock.advance(500)
  expect([held.collections, held.forced, held.guard.isShort]).toEqual([1, 0, false])
  held.collectsInBackground = false
  held.garbage = 910 * MB
  await held.clock.advance(4_500)
  // It is waited for a while, and nobody is shed for garbage meanwhile.
  expect([held.forced, held.gone]).toEqual([0, []])
  await held.clock.advance(2_500)
  expect([held.forced, held.guard.isShort]).toEqual([1, false])
})

test('[MM1] where more pours in than that keeps up with, it is not waited for', async () => {
  const held = new Held(900 * MB)
  held.collectsInBackground = false
  held.garbage = 910 * MB
  await held.clock.advance(200)
  held.garbage = 980 * MB
  await held.clock.advance(300)
  expect([held.forced, held.guard.isShort]).toEqual([0, true])
  held.garbage = 1_100 * MB
  await held.clock.advance(100)
  expect([held.forced, held.guard.isShort]).toEqual([1, false])
})

test('[MM1] nor where so little is in use that forcing it takes a moment', async () => {
  const held = new Held(300 * MB)
  held.collectsInBackground = false
  held.garbage = 310 * MB
  await held.clock.advance(200)
  expect([held.forced, held.guard.isShort]).toEqual([1, false])
})
