/**
 * Time, handed in: nothing below the composition root calls `Date.now`, `setTimeout` or `setImmediate` itself, so a test
 * can hold time still.
 */
export interface Clock {
  /** Monotonic milliseconds, fractional. The origin is arbitrary: only differences mean something. */
  now(): number
  /** Runs `task` after the current event-loop turn has handled its input. */
  soon(task: () => void): void
  /** Runs `task` once after `ms` milliseconds. Returns how to cancel it; cancelling twice is harmless. */
  after(ms: number, task: () => void): () => void
}

/** The real clock. Its timers do not keep the process alive: the listening socket does that. */
export const systemClock: Clock = {
  now: () => performance.now(),
  soon: (task) => {
    setImmediate(task)
  },
  after: (ms, task) => {
    const timer = setTimeout(task, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Runs `task` every `ms` milliseconds until the returned function is called. */
export function every(clock: Clock, ms: number, task: () => void): () => void {
  let cancel = clock.after(ms, run)
  function run(): void {
    cancel = clock.after(ms, run)
    task()
  }
  return () => cancel()
}
