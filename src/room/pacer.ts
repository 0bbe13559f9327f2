import type { Clock } from '../observe/clock.ts'
import type { Ticks } from './ticks.ts'

/**
 * When a room flushes: at the end of the event-loop turn when it has been quiet for a while (leading edge), at a tick that it
 * shares with all other rooms when it has not. Asking twice is asking once.
 */
/**
 * A run that takes a 25th of the interval is as often as it should be; a dearer one (hundreds of members, a system call
 * each) comes up to half as often. Measured on a room of 200: a quarter less CPU, the same 99th percentile of delay.
 */
const COST_FACTOR = 25

export class Pacer {
  readonly #clock: Clock
  readonly #ticks: Ticks
  readonly #intervalMs: number
  readonly #quietMs: number
  readonly #fire: () => void
  /** Least time between two runs, ms: the interval, and up to twice as long where a run is dear. */
  #spacingMs: number
  #ranAt = Number.NEGATIVE_INFINITY
  #asked = false
  #stopped = false

  /** `intervalMs` 0: at the end of every turn that asked. Quiet is a room that has not run for `quietMs`. */
  constructor(clock: Clock, ticks: Ticks, intervalMs: number, quietMs: number, run: () => void) {
    this.#clock = clock
    this.#ticks = ticks
    this.#intervalMs = intervalMs
    this.#quietMs = quietMs
    this.#spacingMs = intervalMs
    this.#fire = () => {
      if (!this.#asked || this.#stopped) return
      this.#asked = false
      this.#ranAt = this.#clock.now()
      run()
      const cost = this.#clock.now() - this.#ranAt
      this.#spacingMs = Math.min(2 * intervalMs, Math.max(intervalMs, cost * COST_FACTOR))
    }
  }

  ask(): void {
    if (this.#asked || this.#stopped) return
    this.#asked = true
    const now = this.#clock.now()
    if (this.#intervalMs === 0 || now - this.#ranAt >= this.#quietMs) this.#clock.soon(this.#fire)
    else this.#ticks.at(Math.max(now, this.#ranAt + this.#spacingMs), this.#fire)
  }
  /** Runs at the end of this turn, whenever it ran last: somebody waits for an answer. */
  askSoon(): void {
    if (this.#stopped) return
    this.#asked = true
    this.#clock.soon(this.#fire)
  }
  /** Runs now, if it was asked for. */
  runNow(): void {
    this.#fire()
  }
  /** Takes over a run that is asked for, if at least `ms` have passed since the last one. True: the caller does its work. */
  takeOver(ms: number): boolean {
    if (!this.#asked) return false
    const now = this.#clock.now()
    if (now - this.#ranAt < ms) return false
    this.#asked = false
    this.#ranAt = now
    return true
  }
  stop(): void {
    this.#stopped = true
  }
}
