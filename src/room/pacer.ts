import type { Clock } from '../observe/clock.ts'
import type { Ticks } from './ticks.ts'

export interface PacerOptions {
  /** Least time between two runs now, ms; 0: at the end of every turn that asked. */
  readonly spacingMs: () => number
  /** Quiet is a room that has not run for so long, and for twice its spacing, ms. */
  readonly quietMs: number
  readonly run: () => void
}

/**
 * When a room flushes: at the end of the event-loop turn while it need not gather, or has been quiet for a while (leading edge), else
 * at a tick that it shares with all other rooms. Asking twice is asking once.
 */
export class Pacer {
  readonly #clock: Clock
  readonly #ticks: Ticks
  readonly #options: PacerOptions
  readonly #onTurn = (): void => this.runNow()
  readonly #onTick = (): void => this.#tick()
  #ranAt = Number.NEGATIVE_INFINITY
  #asked = false
  /** A tick is already asked for: it finds out itself whether it is too early. */
  #isQueued = false
  #stopped = false

  constructor(clock: Clock, ticks: Ticks, options: PacerOptions) {
    this.#clock = clock
    this.#ticks = ticks
    this.#options = options
  }

  ask(): void {
    if (this.#asked || this.#stopped) return
    this.#asked = true
    const now = this.#clock.now()
    const spacing = this.#options.spacingMs()
    if (spacing === 0 || now - this.#ranAt >= Math.max(this.#options.quietMs, 2 * spacing))
      this.#clock.soon(this.#onTurn)
    else this.#queue(now)
  }
  /** Runs at the end of this turn, whenever it ran last: somebody waits for an answer. */
  askSoon(): void {
    if (this.#stopped) return
    this.#asked = true
    this.#clock.soon(this.#onTurn)
  }
  /** Runs now, if it was asked for. */
  runNow(): void {
    if (!this.#asked || this.#stopped) return
    this.#asked = false
    this.#ranAt = this.#clock.now()
    this.#options.run()
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

  #queue(now: number): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#ticks.at(Math.max(now, this.#dueAt), this.#onTick)
  }
  /** The run that this tick was for may have happened otherwise, and the next not be due. */
  #tick(): void {
    this.#isQueued = false
    if (!this.#asked || this.#stopped) return
    const now = this.#clock.now()
    if (this.#ticks.isDue(now, this.#dueAt)) this.runNow()
    else this.#queue(now)
  }
  get #dueAt(): number {
    return this.#ranAt + this.#options.spacingMs()
  }
}
