/** One callback that throws is one callback that failed: neither its neighbours nor the process notice. */
import { expect, test } from 'vitest'
import { Account } from '../../../src/budget/account.ts'
import { Boundary } from '../../../src/observe/boundary.ts'
import { every } from '../../../src/observe/clock.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { DrainScheduler } from '../../../src/outbound/drain-scheduler.ts'
import { Ticks } from '../../../src/room/ticks.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'
import { WireClient, World } from '../../support/memory-world.ts'

const failure = new Error('injected')
const fail = (): never => {
  throw failure
}

function boundary() {
  const metrics = new Metrics([])
  const lines: object[] = []
  const errors = new Boundary(metrics, { error: (facts) => void lines.push(facts as object) })
  return { metrics, lines, errors }
}

test('[RB3] the server’s clock catches what its tasks throw, and counts it', async () => {
  const { metrics, lines, errors } = boundary()
  const clock = errors.clock()
  clock.soon(fail)
  clock.after(1, fail)
  await new Promise<void>((resolve) => clock.after(5, resolve))
  expect(metrics.errorsCaught.values).toMatchObject({ immediate: 1, timer: 1 })
  expect(lines[0]).toMatchObject({ err: failure, where: 'immediate' })
})

test('[RB3] what is done again and again goes on after one time that failed', async () => {
  const { metrics, errors } = boundary()
  const clock = errors.clock()
  let times = 0
  await new Promise<void>((resolve) => {
    const stop = every(clock, 1, () => {
      times++
      if (times === 1) fail()
      stop()
      resolve()
    })
  })
  expect(times).toBe(2)
  expect(metrics.errorsCaught.values.timer).toBe(1)
})

test('[RB3] a rejection nobody waits for is counted', async () => {
  const { metrics, errors } = boundary()
  errors.background(Promise.reject(failure))
  await new Promise((resolve) => setImmediate(resolve))
  expect(metrics.errorsCaught.values.promise).toBe(1)
})

test('[RB3] one client’s turn that throws is that client’s failure; the others have theirs', async () => {
  const clock = new HeldClock()
  const scheduler = new DrainScheduler(heldLoop(clock))
  const failed: unknown[] = []
  let turns = 0
  const pump = (): 'idle' => {
    turns++
    return 'idle'
  }
  const account = new Account()
  const good = { account, pump, check: () => false, failed: fail }
  const bad = { account, pump: fail, check: fail, failed: (error: unknown) => void failed.push(error) }
  for (const outbox of [good, bad, { ...good }]) {
    scheduler.ready(outbox)
    scheduler.watch(outbox)
  }
  await clock.turn()
  expect([turns, failed.length]).toEqual([2, 1])
  await clock.advance(100)
  expect(failed).toEqual([failure, failure])
})

test('[RB3] one task of a tick that throws does not keep the others from theirs', async () => {
  const clock = new HeldClock()
  const caught: unknown[] = []
  const ticks = new Ticks(clock, 8, (error) => caught.push(error))
  let ran = 0
  for (const task of [() => ran++, fail, () => ran++]) ticks.at(8, task)
  await clock.advance(20)
  expect([ran, caught]).toEqual([2, [failure]])
})

test('[RB3] a socket that throws costs its client the connection, and nobody else anything', async () => {
  const world = new World()
  const [ann, bob, eve] = [1, 2, 3].map((id) => new WireClient(world, 'room', `c${id}`, id)) as [
    WireClient,
    WireClient,
    WireClient,
  ]
  const run = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      for (const client of [ann, bob, eve]) client.transmit()
      await world.clock.advance(10)
      await world.clock.settle()
    }
  }
  for (const client of [ann, bob, eve]) client.connect()
  await run(300)
  eve.sink!.write = fail
  ann.doc.getMap('m').set('k', 1)
  await run(300)
  expect(bob.doc.getMap('m').get('k')).toBe(1)
  expect(eve.sink!.closedWith).toMatchObject({ code: 1011, text: 'internal error' })
  expect(world.metrics.errorsCaught.values.client).toBe(1)
  expect([ann.isConnected, bob.isConnected]).toEqual([true, true])
})
