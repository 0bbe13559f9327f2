import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'

/** How long a cut connection is remembered, ms: a stock client is back within 2.5 s. */
const REMEMBER_MS = 30_000
const MAX_REMEMBERED = 4096

/**
 * Who was cut by the socket layer for a message far over the limit, and in which room. That layer sends no close frame, so a
 * stock client would come back and send it again for ever; when it is back it is told instead (IN7). `client` is as in
 * `clientKey`: nobody else is told.
 */
export class Oversized {
  readonly #clock: Clock
  readonly #until = new RecentMap<string, number>(MAX_REMEMBERED)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(client: string, room: string): void {
    this.#until.set(key(client, room), this.#clock.now() + REMEMBER_MS)
  }
  has(client: string, room: string): boolean {
    return this.#clock.now() < (this.#until.get(key(client, room)) ?? Number.NEGATIVE_INFINITY)
  }
  /** Whether such a client is to be told; once. */
  take(client: string, room: string): boolean {
    const isKnown = this.has(client, room)
    this.#until.delete(key(client, room))
    return isKnown
  }
}

const key = (client: string, room: string): string => `${client} ${room}`
