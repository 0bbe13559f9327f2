import type { Clock } from '../observe/clock.ts'

/** Part of an interval by which a tick may be early: a task that ran a little after its tick is due at a tick again. */
const SLACK = 0.25
/** Grid of rooms that never gather edits: presence has one all the same, ms. */
const MIN_TICK_MS = 4
/** Width of the grid for `ROOM_FLUSH_INTERVAL_MS`, ms: half of it, so that what is gathered waits little longer than it has to. */
export const gridMs = (flushIntervalMs: number): number => flushIntervalMs / 2 || MIN_TICK_MS
/** What an interval comes to on that grid, ms: something that waits for it runs at a tick. */
export function tickOf(intervalMs: number, flushIntervalMs: number): number {
  const grid = gridMs(flushIntervalMs)
  return Math.ceil(Math.max(intervalMs, grid) / grid - SLACK) * grid
}

/**
 * One timer for all rooms: what is due is done at the next tick of a common grid, so that a loop turn serves many rooms
 * instead of each room waking the loop for itself.
 */
export class Ticks {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #caught: (error: unknown) => void
  /** Tasks by the number of their tick. */
  readonly #tasks = new Map<number, (() => void)[]>()
  #next = Number.POSITIVE_INFINITY
  #cancel: (() => void) | null = null

  /** `intervalMs`: the grid's width, above 0. `caught`: a task threw, which the other tasks are not to suffer for. */
  constructor(clock: Clock, intervalMs: number, caught: (error: unknown) => void) {
    this.#caught = caught
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  /** Runs `task` at the first tick that is not before `due` (clock ms), but for what a turn takes. */
  at(due: number, task: () => void): void {
    const tick = Math.ceil(due / this.#intervalMs - SLACK)
    const tasks = this.#tasks.get(tick)
    if (tasks !== undefined) {
      tasks.push(task)
      return
    }
    this.#tasks.set(tick, [task])
    if (tick < this.#next) this.#arm(tick)
  }
  /** Whether a tick at `now` is the one for `due`, both clock ms. */
  isDue(now: number, due: number): boolean {
    return now >= due - SLACK * this.#intervalMs
  }
  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#tasks.clear()
  }

  #arm(tick: number): void {
    this.#cancel?.()
    this.#next = tick
    this.#cancel = this.#clock.after(Math.max(0, tick * this.#intervalMs - this.#clock.now()), () => this.#fire())
  }
  #fire(): void {
    this.#cancel = null
    this.#next = Number.POSITIVE_INFINITY
    // Timers may fire a fraction early: what this one was set for is due in any case.
    const now = Math.floor(this.#clock.now() / this.#intervalMs + SLACK)
    let next = Number.POSITIVE_INFINITY
    for (const [tick, tasks] of this.#tasks) {
      if (tick > now) {
        next = Math.min(next, tick)
        continue
      }
      this.#tasks.delete(tick)
      for (const task of tasks) this.#run(task)
    }
    for (const tick of this.#tasks.keys()) next = Math.min(next, tick)
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next)
  }
  #run(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#caught(error)
    }
  }
}
