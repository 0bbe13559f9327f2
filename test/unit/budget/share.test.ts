import { expect, test } from 'vitest'
import { LoopTime } from '../../../src/budget/loop-time.ts'
import { type Share, Shares } from '../../../src/budget/share.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { HeldClock } from '../../support/held-clock.ts'

function setup() {
  const clock = new HeldClock()
  const loop = new LoopTime({ clock, metrics: new Metrics([]), onError: () => {} })
  const shares = new Shares(loop, { msPerSecond: 250, burstMs: 10_000 })
  const pay = (share: Share, ms: number) => {
    share.unpaid += ms
    return share.pay(1, clock.now())
  }
  return { clock, loop, shares, pay }
}

test('[LT3] a burst is free, what goes on over the share waits, and what goes on for a minute is too long', () => {
  const { clock, shares, pay } = setup()
  const share = shares.open('a')
  // A whole board brought at once.
  expect(pay(share, 9000)).toBe('ok')
  expect(share.waitAt(clock.now())).toBe(0)
  expect(pay(share, 1500)).toBe('slowed')
  expect(share.isOver).toBe(true)
  expect(share.waitAt(clock.now())).toBe(2000)
  const outcomes = new Set<string>()
  for (let i = 0; i < 58; i++) {
    clock.spend(1000)
    outcomes.add(pay(share, 250))
  }
  expect([...outcomes].sort()).toEqual(['over'])
  clock.spend(3000)
  expect(pay(share, 800)).toBe('too_long')
})

test('[LT3] a pause mends it', () => {
  const { clock, shares, pay } = setup()
  const share = shares.open('a')
  expect(pay(share, 10_001)).toBe('slowed')
  clock.spend(30_000)
  expect(share.waitAt(clock.now())).toBe(0)
  clock.spend(31_000)
  expect(pay(share, 9000)).toBe('ok')
})

test('[LT3] coming back buys nothing; who shares an address is not charged for it twice', () => {
  const { clock, shares, pay } = setup()
  const heavy = shares.open('a')
  pay(heavy, 10_500)
  shares.close('a', heavy)
  const again = shares.open('a')
  const neighbour = shares.open('a')
  expect(again.debtAt(clock.now())).toBe(10_500)
  expect(neighbour.debtAt(clock.now())).toBe(0)
})

test('[LT2] what a share pays, its account has had, and clients of one key have one account', () => {
  const { loop, shares, pay } = setup()
  const [a, b, other] = [shares.open('a'), shares.open('a'), shares.open('b')]
  expect(a.account).toBe(b.account)
  pay(a, 5)
  pay(b, 5)
  expect(loop.virtualOf(a.account) - loop.virtualOf(other.account)).toBe(10)
})
