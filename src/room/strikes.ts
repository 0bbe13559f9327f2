import type { Clock } from '../observe/clock.ts'

/**
 * Malformed frames of one connection. One is an accident; the fifth in a minute is a client that cannot be talked to (IN6).
 */
const STRIKES = 5
const WITHIN_MS = 60_000

export class Strikes {
  readonly #clock: Clock
  readonly #times: number[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes one more. True: it was the fifth within a minute. */
  add(): boolean {
    const now = this.#clock.now()
    this.#times.push(now)
    if (this.#times.length > STRIKES) this.#times.shift()
    return this.#times.length === STRIKES && now - this.#times[0]! <= WITHIN_MS
  }
}
