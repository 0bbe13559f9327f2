import { expect, test } from 'vitest'
import { KeptBudgets } from '../../../src/inbound/kept-budgets.ts'
import { Oversized } from '../../../src/inbound/oversized.ts'
import { RateLimiter, Rates } from '../../../src/inbound/rate-limiter.ts'
import { Reputation } from '../../../src/inbound/reputation.ts'
import { SecondChances } from '../../../src/inbound/second-chances.ts'
import { HeldClock } from '../../support/held-clock.ts'

/** 100 tokens a second, 1 000 bytes a second. */
const RATES = { maxTokens: 100, refillMs: 1000, burstBytes: 10_000, bytesPerSecond: 1_000 }

function house() {
  const clock = new HeldClock()
  const deps = {
    clock,
    budgets: new KeptBudgets(),
    oversized: new Oversized(clock),
    chances: new SecondChances({ evictions: 2, windowMs: 60_000, intervalMs: 250 }, clock),
  }
  const rates = new Rates(RATES, clock.now)
  /** A client from the one address there is. */
  const come = (subject: string | null = null) => {
    const limiter = new RateLimiter(rates)
    const told: unknown[] = []
    const reputation = new Reputation(
      deps,
      { room: 'board', address: '192.0.2.1', group: '192.0.2.1' },
      subject,
      limiter,
      { wasTooLarge: () => told.push('too large'), paced: (ms) => told.push(ms) },
    )
    return { limiter, reputation, told }
  }
  return { clock, come }
}

test.for([null, 'ann'])(
  '[IN1] [SP6] reconnecting buys nothing: tokens used up stay used up (subject %s)',
  (subject) => {
    const { come } = house()
    const first = come(subject)
    first.limiter.spend(90, 0)
    first.reputation.closed()
    expect(come(subject).limiter.tokens).toBe(10)
    expect(come(subject).limiter.tokens).toBe(100)
  },
)

test.for([null, 'ann'])(
  '[IN1] [SP6] a debt of bytes survives a reconnect, although no token is missing (subject %s)',
  async (subject) => {
    const { clock, come } = house()
    const first = come(subject)
    first.reputation.announced(5)
    first.limiter.spend(1, 15_000)
    first.reputation.closed()
    await clock.advance(1_000)
    const second = come(subject)
    second.reputation.announced(5)
    expect(second.limiter.bytes).toBe(-4_000)
    // One that says nothing of itself is taken for it, too.
    second.reputation.closed()
    const third = come(subject)
    third.reputation.writes()
    expect(third.limiter.bytes).toBe(-4_000)
    expect(third.limiter.take(10)).toBe(false)
  },
)

test('[SP6] of all that are kept the emptiest is gone on with, by tokens or by bytes', () => {
  const { come } = house()
  const [tokens, bytes] = [come(), come()]
  tokens.limiter.spend(50, 0)
  bytes.limiter.spend(0, 9_000)
  tokens.reputation.closed()
  bytes.reputation.closed()
  expect(come().limiter.bytes).toBe(1_000)
  expect(come().limiter.tokens).toBe(50)
})

test('[SP6] who comes from the same address begins with an empty budget at worst, and the debt waits for whose it is', () => {
  const { come } = house()
  const debtor = come()
  debtor.reputation.announced(5)
  debtor.limiter.spend(200, 20_000)
  debtor.reputation.closed()
  const innocent = come()
  innocent.reputation.announced(6)
  innocent.reputation.writes()
  expect([innocent.limiter.tokens, innocent.limiter.bytes]).toEqual([0, 0])
  const back = come()
  back.reputation.announced(5)
  expect([back.limiter.tokens, back.limiter.bytes]).toEqual([-100, -10_000])
})

test('[SP6] another subject of the same address has nothing to do with it', () => {
  const { come } = house()
  const ann = come('ann')
  ann.limiter.spend(200, 20_000)
  ann.reputation.evicted()
  ann.reputation.evicted()
  ann.reputation.cut()
  ann.reputation.closed()
  const bob = come('bob')
  bob.reputation.joined()
  expect([bob.limiter.tokens, bob.limiter.bytes, bob.told]).toEqual([100, 10_000, [0]])
  const again = come('ann')
  again.reputation.joined()
  expect([again.limiter.tokens, again.limiter.bytes, again.told]).toEqual([-100, -10_000, ['too large']])
})

test('[FC7] [SP6] evictions are remembered of an address and a presence id, never of an address', async () => {
  const { clock, come } = house()
  for (let i = 0; i < 2; i++) {
    const slow = come()
    slow.reputation.announced(5)
    slow.reputation.evicted()
    slow.reputation.left()
  }
  const [colleague, slow] = [come(), come()]
  colleague.reputation.announced(6)
  slow.reputation.announced(5)
  expect([colleague.told, slow.told]).toEqual([[0], [250]])
  await clock.advance(60_000)
  expect(slow.told).toEqual([250, 0])
})
