/** One room's failing writes: when to try again, since when it fails and why, and what the log says of it. */

import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'

/** Why a room is not saved, for the readiness page. */
export interface Failing {
  /** The clock's milliseconds. */
  readonly since: number
  readonly reason: string
}

const FIRST_MS = 100
const LONGEST_MS = 5_000

export class Retry {
  readonly #clock: Clock
  readonly #log: Log
  #failing: Failing | null = null
  #tries = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** From the first failure until `succeeded`. */
  get failing(): Failing | null {
    return this.#failing
  }

  /** Runs `again` after 100 ms, twice that the next time, and so on up to 5 s. Logs the first and every tenth time. */
  failed(reason: string, facts: object, again: () => void): void {
    this.#tries++
    this.#failing = { since: this.#failing?.since ?? this.#clock.now(), reason }
    if (this.#tries === 1 || this.#tries % 10 === 0) {
      this.#log.warn({ event: 'save_failed', ...facts, reason, tries: this.#tries }, 'board could not be saved')
    }
    this.#cancel = this.#clock.after(Math.min(FIRST_MS * 2 ** (this.#tries - 1), LONGEST_MS), again)
  }

  succeeded(facts: object): void {
    if (this.#failing === null) return
    const ms = Math.round(this.#clock.now() - this.#failing.since)
    this.#log.info({ event: 'save_recovered', ...facts, tries: this.#tries, ms }, 'board is being saved again')
    this.#failing = null
    this.#tries = 0
  }

  stop(): void {
    this.#cancel?.()
  }
}
