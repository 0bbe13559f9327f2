import { expect, test } from 'vitest'
import type { Account } from '../../../src/budget/account.ts'
import { type Job, LEAST_STRETCH_MS, LoopTime, STRETCH_MS, TURN_MS } from '../../../src/budget/loop-time.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { HeldClock } from '../../support/held-clock.ts'

function setup() {
  const clock = new HeldClock()
  const metrics = new Metrics([])
  const errors: unknown[] = []
  const loop = new LoopTime({ clock, metrics, onError: (error) => errors.push(error) })
  const log: string[] = []
  return { clock, metrics, errors, loop, log }
}

/** A job whose units take `unitMs` each; it notes every unit, and when it was done. */
class Units implements Job {
  readonly kind = 'flush'
  doneAt = Number.NaN
  constructor(
    readonly name: string,
    readonly account: Account,
    public left: number,
    readonly unitMs: number,
    readonly world: ReturnType<typeof setup>,
  ) {}
  run(_started: number, until: number): void {
    const { clock, loop, log } = this.world
    const began = clock.now()
    while (this.left > 0) {
      clock.spend(this.unitMs)
      this.left--
      log.push(this.name)
      if (clock.now() >= until) break
    }
    loop.charge(this.account, clock.now() - began)
    if (this.left > 0) loop.defer(this)
    else this.doneAt = clock.now()
  }
}

test('[LT1] work runs at once while the turn has time; what does not fit goes on after the sockets were served', async () => {
  const world = setup()
  const { clock, loop } = world
  const account = loop.open('a')
  const jobs = Array.from({ length: 100 }, (_, i) => new Units(`${i}`, account, 1, 1, world))
  for (const job of jobs) loop.run(job)
  expect(world.log).toHaveLength(TURN_MS)
  const turns: number[] = []
  while (loop.waiting > 0) {
    const before = clock.now()
    await clock.turn()
    turns.push(clock.now() - before)
  }
  expect(world.log).toHaveLength(100)
  expect(turns.every((ms) => ms <= TURN_MS)).toBe(true)
  // In the order in which they came, as they are all of one account.
  expect(world.log).toEqual(jobs.map(({ name }) => name))
  expect(world.metrics.loopWork.values.flush).toBeCloseTo(0.1)
  expect(world.metrics.loopPostponed.values.flush).toBeGreaterThanOrEqual(90)
})

test('[LT1] a turn lasts no longer than its time and one unit, whoever asks', async () => {
  const world = setup()
  const { clock, loop } = world
  for (let i = 0; i < 20; i++) loop.run(new Units(`${i}`, loop.open(`${i}`), 40, 0.7, world))
  while (loop.waiting > 0) {
    const before = clock.now()
    await clock.turn()
    expect(clock.now() - before).toBeLessThanOrEqual(TURN_MS + LEAST_STRETCH_MS + 0.7)
  }
  expect(world.log).toHaveLength(800)
})

test('[LT2] whose work is dear waits behind itself: a small edit that comes later is next', async () => {
  const world = setup()
  const { clock, loop } = world
  const heavy = loop.open('heavy')
  const rooms = Array.from({ length: 50 }, (_, i) => new Units(`heavy ${i}`, heavy, 100, 1, world))
  for (const room of rooms) loop.run(room)
  const light = loop.open('light')
  const waits: number[] = []
  for (let i = 0; i < 20; i++) {
    await clock.turn()
    const edit = new Units('light', light, 1, 0.1, world)
    const asked = clock.now()
    loop.run(edit)
    await clock.turn()
    waits.push(edit.doneAt - asked)
  }
  expect(Math.max(...waits)).toBeLessThan(1)
})

test('[LT2] two that both have much to do get the same time, however dear one unit of each is', async () => {
  const world = setup()
  const { clock, loop } = world
  const cheap = new Units('cheap', loop.open('cheap'), 1e6, 0.05, world)
  const dear = new Units('dear', loop.open('dear'), 1e6, 3, world)
  // A third opens ten jobs, and gets no more for it.
  const many = loop.open('many')
  for (let i = 0; i < 10; i++) loop.run(new Units('many', many, 1e6, 0.5, world))
  loop.run(cheap)
  loop.run(dear)
  for (let i = 0; i < 300; i++) await clock.turn()
  const time = (name: string, unitMs: number) => world.log.filter((one) => one === name).length * unitMs
  const [a, b, c] = [time('cheap', 0.05), time('dear', 3), time('many', 0.5)]
  const all = a + b + c
  for (const part of [a, b, c]) expect(part / all).toBeCloseTo(1 / 3, 1)
})

test('what was not used while there was nothing to do is not saved up, and what nobody was kept from by is not held against one', async () => {
  const world = setup()
  const { clock, loop } = world
  const busy = loop.open('busy')
  const late = loop.open('late')
  // Alone for a long time.
  loop.run(new Units('busy', busy, 1000, 1, world))
  while (loop.waiting > 0) await clock.turn()
  expect(loop.virtualOf(busy)).toBe(loop.virtualOf(late))
  world.log.length = 0
  loop.run(new Units('busy', busy, 40, 1, world))
  loop.run(new Units('late', late, 40, 1, world))
  for (let i = 0; i < 4; i++) await clock.turn()
  const ofLate = world.log.filter((name) => name === 'late').length
  expect(Math.abs(world.log.length - 2 * ofLate)).toBeLessThanOrEqual(2 * STRETCH_MS)
})

test('a job that waits is there once, moves up when somebody who had less wants it, and can be forgotten', async () => {
  const { clock, loop, log } = setup()
  const [rich, poor] = [loop.open('rich'), loop.open('poor')]
  const job = (name: string, account: Account) => ({
    kind: 'flush' as const,
    account,
    run: () => {
      log.push(name)
      clock.spend(1)
    },
  })
  const keeper = job('keeper', loop.open('keeper'))
  loop.defer(keeper)
  loop.charge(rich, 5)
  const moved = job('moved', rich)
  const gone = job('gone', rich)
  const other = job('other', rich)
  for (const one of [other, gone, moved, moved]) loop.defer(one)
  expect(loop.waiting).toBe(4)
  moved.account = poor
  loop.defer(moved)
  loop.forget(gone)
  expect(loop.waiting).toBe(3)
  await clock.turn()
  expect(log).toEqual(['keeper', 'moved', 'other'])
})

test('a job that throws is told of, and the others run', async () => {
  const { clock, loop, log, errors, ...rest } = setup()
  const account = loop.open('a')
  loop.defer({ kind: 'load', account, run: () => { throw new Error('no') } }) // biome-ignore format: one line reads better
  loop.defer(new Units('after', account, 1, 1, { clock, loop, log, errors, ...rest }))
  await clock.turn()
  expect(errors).toHaveLength(1)
  expect(log).toEqual(['after'])
})

test('accounts are kept while somebody uses them', () => {
  const { loop } = setup()
  const account = loop.open('a')
  expect(loop.open('a')).toBe(account)
  loop.close('a', account)
  expect(loop.open('a')).toBe(account)
  loop.close('a', account)
  loop.close('a', account)
  expect(loop.open('a')).not.toBe(account)
})
