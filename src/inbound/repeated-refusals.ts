/**
 * Who was refused with a close frame lately and came again. Stock clients before 3.1 are back 100 ms after a close frame, for
 * ever, and at the full rate: a connection that was opened is a success to them. An HTTP error at the upgrade makes every
 * version back off to 2.5 s; but only after a close frame of 44xx does 3.1 stop for good, so the first ones get that.
 */
import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'

/** Close frames one may draw in a row: a page that is reloaded a few times, several tabs of it. */
const BURST = 8
/** One more after this long, ms. With a client that then backs off this is 0.7 attempts a second in all. */
const REFILL_MS = 10_000
/** Most remembered, the least recent are forgotten: they begin anew. */
const MAX_REMEMBERED = 10_000

export class RepeatedRefusals {
  readonly #clock: Pick<Clock, 'now'>
  /** When a full burst is there again, clock ms. */
  readonly #fullAt = new RecentMap<string, number>(MAX_REMEMBERED)

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /**
   * Whether this one is to be told with a close frame once more; counted if so. `who`: the same address, room, origin and
   * credentials, so that nobody is answered for somebody else.
   */
  mayTell(who: string): boolean {
    const now = this.#clock.now()
    const fullAt = Math.max(this.#fullAt.get(who) ?? now, now)
    if (fullAt + REFILL_MS > now + BURST * REFILL_MS) return false
    this.#fullAt.set(who, fullAt + REFILL_MS)
    return true
  }
}
