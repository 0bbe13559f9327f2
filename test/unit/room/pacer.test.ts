import { expect, test } from 'vitest'
import { Pacer } from '../../../src/room/pacer.ts'
import { Ticks } from '../../../src/room/ticks.ts'
import { HeldClock } from '../../support/held-clock.ts'

const rethrow = (error: unknown): never => {
  throw error
}

/** One pacer on a grid of 8 ms, and when it ran. */
function setup(intervalMs = 8, quietMs = 32) {
  const clock = new HeldClock()
  const ticks = new Ticks(clock, 8, rethrow)
  const runs: number[] = []
  const pacer = new Pacer(clock, ticks, { spacingMs: () => intervalMs, quietMs, run: () => runs.push(clock.now()) })
  return { clock, ticks, runs, pacer }
}

test('a quiet room runs at the end of the turn, a busy one at the next tick, however often it is asked', async () => {
  const { clock, runs, pacer } = setup()
  await clock.advance(100)
  pacer.ask()
  pacer.ask()
  await clock.turn()
  expect(runs).toEqual([100])
  await clock.advance(1)
  pacer.ask()
  pacer.ask()
  await clock.settle()
  expect(runs).toEqual([100])
  await clock.advance(20)
  // Not before an interval has passed, and on the grid: 108 at the earliest, 112 on it.
  expect(runs).toEqual([100, 112])
})

test('rooms that are busy share their ticks, and none is forgotten', async () => {
  const clock = new HeldClock()
  const ticks = new Ticks(clock, 8, rethrow)
  const runs: [number, number][] = []
  const pacers = Array.from(
    { length: 20 },
    (_, i) => new Pacer(clock, ticks, { spacingMs: () => 8, quietMs: 32, run: () => runs.push([i, clock.now()]) }),
  )
  for (const [i, pacer] of pacers.entries()) {
    await clock.advance(i % 3)
    pacer.ask()
    await clock.settle()
  }
  runs.length = 0
  for (const pacer of pacers) pacer.ask()
  await clock.advance(40)
  expect(new Set(runs.map(([i]) => i)).size).toBe(20)
  expect(new Set(runs.map(([, at]) => at)).size).toBeLessThanOrEqual(3)
  expect(clock.timers).toEqual([])
})

test('0 runs at the end of every turn that asked', async () => {
  const { clock, runs, pacer } = setup(0, 0)
  for (let i = 0; i < 3; i++) {
    pacer.ask()
    await clock.turn()
  }
  expect(runs).toEqual([0, 0, 0])
})

test('somebody else may take a run over, or have it done now; it is not done twice', async () => {
  const { clock, runs, pacer } = setup(33, 66)
  await clock.advance(100)
  pacer.ask()
  await clock.settle()
  pacer.ask()
  expect(pacer.takeOver(16)).toBe(false)
  await clock.advance(20)
  expect(pacer.takeOver(16)).toBe(true)
  expect(pacer.takeOver(0)).toBe(false)
  await clock.advance(100)
  expect(runs).toEqual([100])
  pacer.ask()
  pacer.runNow()
  await clock.advance(100)
  expect(runs).toEqual([100, 220])
})

test('after a stop nothing runs and no timer is left', async () => {
  const { clock, ticks, runs, pacer } = setup()
  await clock.advance(100)
  pacer.ask()
  await clock.settle()
  pacer.ask()
  pacer.stop()
  ticks.stop()
  await clock.advance(100)
  expect(runs).toEqual([100])
  expect(clock.timers).toEqual([])
})

test('a run that was taken over does not bring the next one forward', async () => {
  const { clock, runs, pacer } = setup(32, 1000)
  await clock.advance(100)
  pacer.runNow()
  pacer.askSoon()
  await clock.settle()
  // Asked for the tick at 136, done by somebody else at 130, asked for again: due at 162, to which the tick at 160 is near.
  pacer.ask()
  await clock.advance(30)
  expect(pacer.takeOver(16)).toBe(true)
  pacer.ask()
  await clock.advance(100)
  expect(runs).toEqual([100, 160])
})

test('a room that gathers longer has its turn more rarely; when it need not gather any more, at the end of the turn', async () => {
  const clock = new HeldClock()
  const ticks = new Ticks(clock, 8, rethrow)
  const runs: number[] = []
  let spacingMs = 8
  const pacer = new Pacer(clock, ticks, { spacingMs: () => spacingMs, quietMs: 32, run: () => runs.push(clock.now()) })
  /** Asks all the time, and tells how far apart the last runs were. */
  const spacing = async (): Promise<number> => {
    for (let ms = 0; ms < 500; ms++) {
      pacer.ask()
      await clock.advance(1)
    }
    const [before, last] = runs.slice(-2) as [number, number]
    return Math.round(last - before)
  }
  expect(await spacing()).toBe(8)
  spacingMs = 24
  expect(await spacing()).toBe(24)
  spacingMs = 48
  expect(await spacing()).toBe(48)
  spacingMs = 0
  expect(await spacing()).toBe(1)
  ticks.stop()
})
