/**
 * Presence ids that left: the clock each had, so that a late echo cannot bring it back, and whose it was, so that it is
 * theirs again when they come back (PR1).
 */
import { RecentMap } from '../observe/recent-map.ts'

/** Whose id it was, and until when it goes to them before anybody else (clock ms). */
export interface Heir {
  /** As in `PresenceOwner`. */
  readonly identity: string
  readonly until: number
}

/** How long an id waits for its last owner, ms: a stock client is back within 2.5 s, a laptop that wakes within some more. */
const WAIT_MS = 30_000
/**
 * The bound only has to outlast a round trip, and those 30 s, in the busiest room; the oldest go first.
 */
const MAX_REMOVED = 4096

interface Departed {
  readonly clock: number
  readonly heir: Heir | null
}

export const heirOf = (identity: string, now: number): Heir => ({ identity, until: now + WAIT_MS })
/** An heir who may still come; null for one whose time is over. */
export const waiting = (heir: Heir | null, now: number): Heir | null =>
  heir !== null && now < heir.until ? heir : null

/** What one takes in memory. */
const DEPARTED_BYTES = 120

export class DepartedIds {
  readonly #ids = new RecentMap<number, Departed>(MAX_REMOVED)

  /** Bytes that are held, about. */
  get heldBytes(): number {
    return this.#ids.size * DEPARTED_BYTES
  }

  /** The clock an id had; undefined when it is not known here. */
  clockOf(id: number): number | undefined {
    return this.#ids.get(id)?.clock
  }
  note(id: number, clock: number, heir: Heir | null): void {
    this.#ids.set(id, { clock, heir })
  }
  /** The id is taken. Returns whom it goes to when they come, unless it is they who take it. */
  claim(id: number, identity: string, now: number): Heir | null {
    const heir = waiting(this.#ids.get(id)?.heir ?? null, now)
    this.#ids.delete(id)
    return heir?.identity === identity ? null : heir
  }
}
