import { expect, test } from 'vitest'
import { TextHold } from '../../../src/room/text-hold.ts'
import { HeldClock } from '../../support/held-clock.ts'

function setup() {
  const clock = new HeldClock()
  let overdue = 0
  const hold = new TextHold(clock, () => overdue++)
  return { clock, hold, overdue: () => overdue }
}

test('[LT2] members wait for text that is half there for five seconds at most, and not for that text again', async () => {
  const { clock, hold, overdue } = setup()
  expect(hold.keep(true)).toBe(true)
  await clock.advance(4_999)
  expect([hold.keep(true), overdue()]).toEqual([true, 0])
  await clock.advance(1)
  expect([hold.isOn, hold.keep(true), overdue()]).toEqual([false, false, 1])
  await clock.advance(1_000_000)
  expect(hold.keep(true)).toBe(false)
  hold.keep(false)
  expect(hold.keep(true)).toBe(true)
})

test('[LT2] one text after the other: a twentieth of the time is waited in the long run', async () => {
  const { clock, hold, overdue } = setup()
  let waited = 0
  for (let i = 0; i < 1_000; i++) {
    const isOn = hold.keep(true)
    await clock.advance(500)
    if (isOn) waited += 500
    hold.keep(false)
    await clock.advance(100)
  }
  expect(waited).toBeGreaterThan(5_000)
  expect(waited).toBeLessThan(5_000 + 600_000 * 0.06)
  expect(overdue()).toBeGreaterThan(100)
})

test('nothing is left of a wait that is over', async () => {
  const { clock, hold, overdue } = setup()
  hold.keep(true)
  hold.keep(false)
  hold.keep(true)
  hold.stop()
  expect([hold.isOn, clock.timers, overdue()]).toEqual([false, [], 0])
})
