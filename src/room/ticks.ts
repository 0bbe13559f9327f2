import type { Clock } from '../observe/clock.ts'

/**
 * One timer for all rooms: what is due is done at the next tick of a common grid, so that a loop turn serves many rooms
 * instead of each room waking the loop for itself.
 */
export class Ticks {
  readonly #clock: Clock
  readonly #intervalMs: number
  /** Tasks by the number of their tick. */
  readonly #tasks = new Map<number, (() => void)[]>()
  #next = Number.POSITIVE_INFINITY
  #cancel: (() => void) | null = null

  /** `intervalMs`: the grid's width, above 0. */
  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  /** Runs `task` at the first tick that is not before `due` (clock ms). */
  at(due: number, task: () => void): void {
    const tick = Math.ceil(due / this.#intervalMs)
    const tasks = this.#tasks.get(tick)
    if (tasks !== undefined) {
      tasks.push(task)
      return
    }
    this.#tasks.set(tick, [task])
    if (tick < this.#next) this.#arm(tick)
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
    const now = Math.floor(this.#clock.now() / this.#intervalMs + 0.25)
    let next = Number.POSITIVE_INFINITY
    for (const [tick, tasks] of this.#tasks) {
      if (tick > now) {
        next = Math.min(next, tick)
        continue
      }
      this.#tasks.delete(tick)
      for (const task of tasks) task()
    }
    for (const tick of this.#tasks.keys()) next = Math.min(next, tick)
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next)
  }
}
