import { expect, test } from 'vitest'
import { seldom } from '../../../src/observe/seldom.ts'
import { HeldClock } from '../../support/held-clock.ts'

test('[LT1] a page that is asked for without end is made for a tenth of the time, and is never older than ten times what it takes', async () => {
  const clock = new HeldClock()
  let made = 0
  const page = seldom(() => {
    clock.spend(5)
    return String(++made)
  }, clock.now)
  for (let i = 0; i < 10; i++) page()
  expect(made).toBe(10)
  made = 0
  let stale = 0
  let lastMade = clock.now()
  for (let i = 0; i < 10_000; i++) {
    const before = made
    page()
    if (made > before) lastMade = clock.now()
    stale = Math.max(stale, clock.now() - lastMade)
    await clock.advance(1)
  }
  expect(made * 5).toBeLessThan(0.15 * clock.now())
  expect(stale).toBeLessThanOrEqual(60)
})
