import type { Clock } from '../observe/clock.ts'

/**
 * When a room flushes: at the end of the event-loop turn when it has been quiet for an interval (leading edge), at the next
 * tick when it has not. Asking twice is asking once.
 */
export class Pacer {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #run: () => void
  #ranAt = Number.NEGATIVE_INFINITY
  #asked = false
  #stopped = false
  #cancel: (() => void) | null = null

  /** `intervalMs` 0: at the end of every turn that asked. */
  constructor(clock: Clock, intervalMs: number, run: () => void) {
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.#run = run
  }

  ask(): void {
    if (this.#asked || this.#stopped) return
    this.#asked = true
    const due = this.#ranAt + this.#intervalMs - this.#clock.now()
    if (due <= 0) this.#clock.soon(() => this.#fire())
    else this.#cancel = this.#clock.after(due, () => this.#fire())
  }
  /** Runs at the end of this turn, whenever it ran last: somebody waits for an answer. */
  askSoon(): void {
    if (this.#stopped) return
    this.#cancel?.()
    this.#cancel = null
    this.#asked = true
    this.#clock.soon(() => this.#fire())
  }
  /** Takes over a run that is asked for, if at least `ms` have passed since the last one. True: the caller does its work. */
  takeOver(ms: number): boolean {
    const now = this.#clock.now()
    if (!this.#asked || now - this.#ranAt < ms) return false
    this.#cancel?.()
    this.#cancel = null
    this.#asked = false
    this.#ranAt = now
    return true
  }
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #fire(): void {
    if (!this.#asked || this.#stopped) return
    this.#asked = false
    this.#cancel = null
    this.#ranAt = this.#clock.now()
    this.#run()
  }
}
