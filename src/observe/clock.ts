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

/** Runs a task, and may look after what it throws. */
export type RunTask = (task: () => void) => void

/**
 * The real clock. Its timers do not keep the process alive: the listening socket does that. Tasks are handed to these two
 * functions, so that no timer is set without whatever boundary they are.
 */
export function realClock(runSoon: RunTask, runLater: RunTask): Clock {
  return {
    now: () => performance.now(),
    soon: (task) => {
      setImmediate(runSoon, task)
    },
    after: (ms, task) => {
      const timer = setTimeout(runLater, ms, task)
      timer.unref()
      return () => clearTimeout(timer)
    },
  }
}

const run: RunTask = (task) => task()
/** For tools: what is thrown ends them. */
export const systemClock: Clock = realClock(run, run)

/** Runs `task` every `ms` milliseconds until the returned function is called. */
export function every(clock: Clock, ms: number, task: () => void): () => void {
  let cancel = clock.after(ms, run)
  function run(): void {
    cancel = clock.after(ms, run)
    task()
  }
  return () => cancel()
}
