import type { Clock } from '../observe/clock.ts'

/** Longest time for which members wait for formatted text to be whole, ms: some 5 MB of notes on an idle server. */
const MOST_MS = 5_000
/** How much of it comes back in a millisecond: a twentieth of the time may be waited in the long run. */
const REFILL = 0.05
/** With less left, waiting is not begun, ms. */
const LEAST_MS = 1_000

/**
 * For how long a room keeps its members waiting while an update with formatted text is taken in slices. A budget, so that
 * whoever sends one after the other, or one that is very dear, does not keep everybody from seeing each other draw (LT2).
 */
export class TextHold {
  readonly #clock: Clock
  readonly #overdue: () => void
  #left = MOST_MS
  /** When `left` was right, clock ms. */
  #at: number
  /** Set while it is on. */
  #cancel: (() => void) | null = null
  /** What is half there has been shown so: it is too late to wait for the rest of it. */
  #isTooLate = false

  /** `overdue`: there is no time for the text that is half there; it is off. */
  constructor(clock: Clock, overdue: () => void) {
    this.#clock = clock
    this.#overdue = overdue
    this.#at = clock.now()
  }

  get isOn(): boolean {
    return this.#cancel !== null
  }

  /** Text is half there, or is not; whether members wait. */
  keep(isHalf: boolean): boolean {
    if (!isHalf) {
      this.stop()
      return false
    }
    if (this.isOn || this.#isTooLate) return this.isOn
    const now = this.#clock.now()
    this.#left = Math.min(MOST_MS, this.#left + (now - this.#at) * REFILL)
    this.#at = now
    this.#isTooLate = true
    if (this.#left < LEAST_MS) {
      this.#overdue()
      return false
    }
    this.#cancel = this.#clock.after(this.#left, () => {
      this.#end()
      this.#overdue()
    })
    return true
  }
  /** Nothing is half there any more; no timer is left. */
  stop(): void {
    this.#isTooLate = false
    if (this.isOn) this.#end()
  }

  #end(): void {
    this.#cancel?.()
    this.#cancel = null
    const now = this.#clock.now()
    this.#left = Math.max(0, this.#left - (now - this.#at))
    this.#at = now
  }
}
