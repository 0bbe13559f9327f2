import { expect, test } from 'vitest'
import { LOOK_MS, LoopUtilisation } from '../../../src/observe/loop-utilisation.ts'
import { HeldClock } from '../../support/held-clock.ts'

test('what was worked over the last two looks is told at each, and nothing is left after the end', async () => {
  const clock = new HeldClock()
  let active = 0
  let share = 1
  let at = 0
  const told: number[] = []
  const utilisation = new LoopUtilisation(
    clock,
    (value, ms) => {
      told.push(Math.round(value * 100) / 100)
      expect(ms).toBe(LOOK_MS)
    },
    () => {
      active += (clock.now() - at) * share
      at = clock.now()
      return { active, idle: at - active, utilization: 0 }
    },
  )
  await clock.advance(3 * LOOK_MS)
  share = 0
  await clock.advance(3 * LOOK_MS)
  expect(told).toEqual([0, 1, 1, 0.5, 0, 0])
  expect(utilisation.value).toBe(0)
  utilisation.stop()
  await clock.advance(3 * LOOK_MS)
  expect(clock.timers).toEqual([])
})
