import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'

/** How long a cut connection is remembered, ms: a stock client is back within 2.5 s. */
const REMEMBER_MS = 30_000
const MAX_REMEMBERED = 4096

/**
 * Who was cut by the socket layer for a message far over the limit, by address and room. That layer sends no close frame, so
 * a stock client would come back and send it again for ever; its next join is told instead (IN7).
 */
export class Oversized {
  readonly #clock: Clock
  readonly #until = new RecentMap<string, number>(MAX_REMEMBERED)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(address: string, room: string): void {
    this.#until.set(key(address, room), this.#clock.now() + REMEMBER_MS)
  }

  /** Whether such a connection is to be told; once. */
  take(address: string, room: string): boolean {
    const until = this.#until.get(key(address, room))
    if (until === undefined) return false
    this.#until.delete(key(address, room))
    return this.#clock.now() < until
  }
}

const key = (address: string, room: string): string => `${address} ${room}`
