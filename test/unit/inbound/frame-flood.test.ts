import { expect, test } from 'vitest'
import { FrameFlood } from '../../../src/inbound/frame-flood.ts'
import { HeldClock } from '../../support/held-clock.ts'

const RATE = 1000
const times = (n: number, work: () => unknown): unknown[] => Array.from({ length: n }, work)

test('[SP5] a connection may send ten seconds worth at once, and goes on at its rate for ever', async () => {
  const clock = new HeldClock()
  const flood = new FrameFlood(RATE, clock)
  const count = flood.open('a')
  expect(times(10_000, () => count.add(10)).every((over) => over === null)).toBe(true)
  expect(count.add(10)).toBe('connection')
  const steady = flood.open('b')
  for (let i = 0; i < 600; i++) {
    expect(times(100, () => steady.add(10)).every((over) => over === null)).toBe(true)
    await clock.advance(100)
  }
  flood.stop()
})

test('[SP5] long frames count more: a whole board passes, a flood of bytes does not', () => {
  const flood = new FrameFlood(RATE, new HeldClock())
  const count = flood.open('a')
  expect(count.add(16 << 20)).toBeNull()
  expect(times(12, () => count.add(16 << 20)).at(-1)).toBe('connection')
  flood.stop()
})

test('[SP5] an address over its bound closes those that are ahead, also when they come back; others send as they did', async () => {
  const clock = new HeldClock()
  const flood = new FrameFlood(RATE, clock)
  const attackers = Array.from({ length: 10 }, () => flood.open('office'))
  const innocent = flood.open('office')
  for (const attacker of attackers) times(2_000, () => attacker.add(10))
  expect(attackers[0]!.add(10)).toBe('address')
  for (const attacker of attackers) flood.close('office', attacker)
  const back = flood.open('office')
  expect(times(250, () => back.add(10)).at(-1)).toBeNull()
  expect(back.add(10)).toBe('address')
  // 800 a second, while the attack goes on.
  for (let i = 0; i < 100; i++) {
    times(1_600, () => back.add(10))
    expect(times(80, () => innocent.add(10)).every((over) => over === null)).toBe(true)
    await clock.advance(100)
  }
  // Two seconds after the last of it, it is forgotten.
  await clock.advance(2_000)
  const late = flood.open('office')
  expect(times(1_000, () => late.add(10)).every((over) => over === null)).toBe(true)
  flood.stop()
})

test('[SP5] an address is forgotten when it has no connection and its level is gone', async () => {
  const clock = new HeldClock()
  const flood = new FrameFlood(RATE, clock)
  const count = flood.open('a')
  times(15_000, () => count.add(10))
  flood.close('a', count)
  const before = flood.open('a')
  expect(before.address).toBe(count.address)
  flood.close('a', before)
  await clock.advance(1_200)
  expect(flood.open('a').address).not.toBe(count.address)
  flood.stop()
})
