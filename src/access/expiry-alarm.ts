import type { Clock } from '../observe/clock.ts'
import type { Grant } from './grant.ts'

/**
 * Timers run on monotonic time and a token's expiry is wall time. The two drift apart when the machine sleeps or its
 * clock is set, and `setTimeout` fires at once for anything over 2^31 - 1 ms (24.8 days). So the alarm looks at the wall
 * clock at least this often; a session ends at most this much late after a jump, and on the millisecond without one.
 */
const LOOK_EVERY_MS = 60_000

/**
 * Calls `onExpired` once when the grant's time is over: at once (in a later turn) when it already is, never when it does
 * not expire. `wallClock` gives epoch milliseconds. Returns how to call it off; calling that twice is harmless.
 */
export function expiryAlarm(
  clock: Clock,
  wallClock: () => number,
  grant: Pick<Grant, 'expiresAt'>,
  onExpired: () => void,
): () => void {
  const { expiresAt } = grant
  if (expiresAt === null) return () => {}
  let cancel = arm(expiresAt)
  return () => cancel()

  function arm(at: number): () => void {
    // Rounded up: a timer that fires a fraction early would only be armed again.
    return clock.after(Math.min(Math.max(Math.ceil(at - wallClock()), 0), LOOK_EVERY_MS), () => {
      if (wallClock() < at) cancel = arm(at)
      else onExpired()
    })
  }
}
