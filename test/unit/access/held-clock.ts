import type { Clock } from '../../../src/observe/clock.ts'

/** Time that moves only when the test says so. `wall` is epoch milliseconds and can be set apart from `clock`. */
export function heldClock(start = Date.UTC(2025, 0, 1)) {
  let now = 0
  let epoch = start
  let timers: { at: number; task: () => void }[] = []

  const clock: Clock = {
    now: () => now,
    soon: (task) => {
      clock.after(0, task)
    },
    after: (ms, task) => {
      // As setTimeout does: a delay over 2^31 - 1 fires at once.
      const timer = { at: now + (ms > 2 ** 31 - 1 ? 1 : ms), task }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  }

  return {
    clock,
    wall: () => epoch,
    setWall(ms: number) {
      epoch = ms
    },
    get timers() {
      return timers.length
    },
    /** Moves both clocks, firing every timer on its way at its time. */
    advance(ms: number) {
      const end = now + ms
      for (;;) {
        const due = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers = timers.filter((timer) => timer !== due)
        epoch += due.at - now
        now = due.at
        due.task()
      }
      epoch += end - now
      now = end
    },
  }
}
