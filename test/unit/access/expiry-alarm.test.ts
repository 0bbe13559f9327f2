import { describe, expect, test } from 'vitest'
import { expiryAlarm } from '../../../src/access/expiry-alarm.ts'
import { heldClock } from './held-clock.ts'

const DAY = 86_400_000

function alarm(inMs: number | null) {
  const time = heldClock()
  const fired: number[] = []
  const start = time.wall()
  const expiresAt = inMs === null ? null : start + inMs
  const cancel = expiryAlarm(time.clock, time.wall, { expiresAt }, () => fired.push(time.wall() - start))
  return { time, fired, cancel, start }
}

describe('[AC3] the alarm of a live session', () => {
  test.each([1, 3_000, 59_999, 60_000, 60_001, 3_600_000, 3_000.5])('after %d ms', (ms) => {
    const { time, fired } = alarm(ms)
    time.advance(ms - 0.6)
    expect(fired).toEqual([])
    time.advance(1.6)
    expect(fired).toEqual([Math.ceil(ms)])
    time.advance(DAY)
    expect(fired).toHaveLength(1)
    expect(time.timers).toBe(0)
  })

  test('a token that outlives what setTimeout can hold', () => {
    const { time, fired } = alarm(60 * DAY)
    time.advance(60 * DAY - 1)
    expect(fired).toEqual([])
    time.advance(1)
    expect(fired).toEqual([60 * DAY])
  })

  test('one that is over already fires in a later turn', () => {
    const { time, fired } = alarm(-5_000)
    expect(fired).toEqual([])
    time.advance(0)
    expect(fired).toHaveLength(1)
  })

  test('one that never ends has no timer', () => {
    const { time, fired } = alarm(null)
    expect(time.timers).toBe(0)
    time.advance(100 * DAY)
    expect(fired).toEqual([])
  })

  test('called off, it stays silent, also after having been armed again', () => {
    const { time, fired, cancel } = alarm(200_000)
    time.advance(130_000)
    cancel()
    cancel()
    expect(time.timers).toBe(0)
    time.advance(DAY)
    expect(fired).toEqual([])
  })

  test('when the machine slept or its clock was set, the session ends within a minute', () => {
    const { time, fired, start } = alarm(3_600_000)
    time.advance(30_000)
    time.setWall(start + 2 * 3_600_000)
    time.advance(60_000)
    expect(fired).toHaveLength(1)
  })

  test('a clock that was set back gives the time back', () => {
    const { time, fired, start } = alarm(100_000)
    time.advance(50_000)
    time.setWall(start)
    time.advance(99_999)
    expect(fired).toEqual([])
    time.advance(1)
    expect(fired).toEqual([100_000])
  })
})
