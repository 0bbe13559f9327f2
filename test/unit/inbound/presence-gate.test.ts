import { expect, test } from 'vitest'
import { PresenceGate } from '../../../src/inbound/presence-gate.ts'
import { RateLimiter, Rates } from '../../../src/inbound/rate-limiter.ts'
import { Counter } from '../../../src/observe/counters.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { varuint } from '../../support/update-bytes.ts'

const MAX_STATE = 16_384
const MOST_HELD = 16 * (MAX_STATE + 32)

function gate() {
  const clock = new HeldClock()
  const rates = new Rates({ maxTokens: 10, refillMs: 1000, burstBytes: 100_000, bytesPerSecond: 100_000 }, clock.now)
  const superseded = new Counter()
  const due: Uint8Array[] = []
  const limiter = new RateLimiter(rates)
  const presence = new PresenceGate(limiter, clock, MAX_STATE, superseded, {
    presenceDue: (payload) => due.push(payload),
    queryDue: () => {},
  })
  return { clock, limiter, presence, superseded, due }
}
/** A payload that looks like one id's state; nobody reads more of it here. */
const payload = (id: number, length: number): Uint8Array =>
  Buffer.concat([Uint8Array.from([1, ...varuint(id)]), Buffer.alloc(length)])

test('[SP1] [MM2] what waits for the budget is bounded in bytes, however long the frames are and whatever id they name', () => {
  const { presence, limiter, superseded } = gate()
  limiter.spend(10, 100_000)
  for (let id = 1; id <= 16; id++) presence.admit(payload(id, 1_000_000))
  expect(presence.heldBytes).toBe(0)
  for (let id = 1; id <= 16; id++) presence.admit(payload(id, 100_000))
  expect(presence.heldBytes).toBeGreaterThan(0)
  expect(presence.heldBytes).toBeLessThanOrEqual(MOST_HELD)
  expect(superseded.value).toBe(30)
})

test('[SP1] the largest states of as many ids as a connection may have wait, each its newest', async () => {
  const { clock, presence, limiter, due } = gate()
  limiter.spend(10, 100_000)
  for (let round = 0; round < 3; round++) {
    for (let id = 1; id <= 8; id++) presence.admit(payload(id, MAX_STATE - round))
  }
  await clock.advance(10_000)
  expect(due.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => payload(1, MAX_STATE - 2).length))
  expect(presence.heldBytes).toBe(0)
})
