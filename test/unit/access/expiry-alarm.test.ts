import { describe, expect, test } from 'vitest'
import { expiryAlarm } from '../../../src/access/expiry-alarm.ts'
import { HeldClock } from '../../support/held-clock.ts'

const DAY = 86_400_000

function alarm(inMs: number | null) {
  const time = new HeldClock()
  const fired: number[] = []
  const start = time.wall()
  const expiresAt = inMs === null ? null : start + inMs
  const cancel = expiryAlarm(time, time.wall, { expiresAt }, () => fired.push(time.wall() - start))
  return { time, fired, cancel, start }
}

describe('[AC3] the alarm of a live session', () => {
  test.each([1, 3_000, 59_999, 60_000, 60_001, 3_600_000, 3_000.5])('after %d ms', async (ms) => {
    const { time, fired } = alarm(ms)
    await time.advance(ms - 0.6)
    expect(fired).toEqual([])
    await time.advance(1.6)
    expect(fired).toEqual([Math.ceil(ms)])
    await time.advance(DAY)
    expect(fired).toHaveLength(1)
    expect(time.timers).toEqual([])
  })

  test('a token that outlives what setTimeout can hold', async () => {
    const { time, fired } = alarm(60 * DAY)
    await time.advance(60 * DAY - 1)
    expect(fired).toEqual([])
    await time.advance(1)
    expect(fired).toEqual([60 * DAY])
  })

  test('one that is over already fires in a later turn', async () => {
    const { time, fired } = alarm(-5_000)
    expect(fired).toEqual([])
    await time.advance(0)
    expect(fired).toHaveLength(1)
  })

  test('one that never ends has no timer', async () => {
    const { time, fired } = alarm(null)
    expect(time.timers).toEqual([])
    await time.advance(100 * DAY)
    expect(fired).toEqual([])
  })

  test('called off, it stays silent, also after having been armed again', async () => {
    const { time, fired, cancel } = alarm(200_000)
    await time.advance(130_000)
    cancel()
    cancel()
    expect(time.timers).toEqual([])
    await time.advance(DAY)
    expect(fired).toEqual([])
  })

  test('when the machine slept or its clock was set, the session ends within a minute', async () => {
    const { time, fired, start } = alarm(3_600_000)
    await time.advance(30_000)
    time.setWall(start + 2 * 3_600_000)
    await time.advance(60_000)
    expect(fired).toHaveLength(1)
  })

  test('a clock that was set back gives the time back', async () => {
    const { time, fired, start } = alarm(100_000)
    await time.advance(50_000)
    time.setWall(start)
    await time.advance(99_999)
    expect(fired).toEqual([])
    await time.advance(1)
    expect(fired).toEqual([100_000])
  })
})
