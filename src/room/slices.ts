/**
 * Long work, cut: whoever loads or compacts a board takes turns here, one per turn of the event loop, so that ten boards
 * loading at once stall nobody longer than one does (ST9).
 */
import type { Clock } from '../observe/clock.ts'

/** How long one turn may last before the loop is given back, milliseconds: a flush tick of the other rooms. */
export const SLICE_MS = 8

export class Slices {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #ticking = false
  #exclusive: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits for a turn. It begins when this resolves, and lasts until `over()` says so or the work ends. */
  async turn(): Promise<Slice> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      if (!this.#ticking) {
        this.#ticking = true
        this.#clock.soon(this.#tick)
      }
    })
    const ends = this.#clock.now() + SLICE_MS
    return { over: () => this.#clock.now() >= ends }
  }

  /** Runs `work` when no other such work is running: compactions hold a whole board's bytes, one at a time. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#exclusive
    const mine = before.then(work)
    this.#exclusive = mine.then(
      () => undefined,
      () => undefined,
    )
    return mine
  }

  readonly #tick = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) this.#clock.soon(this.#tick)
    else this.#ticking = false
  }
}

/** One turn. */
export interface Slice {
  /** Whether its time is up: ask for the next one. */
  over(): boolean
}
