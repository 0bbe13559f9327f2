import type { Share } from '../budget/share.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { Outbox } from '../outbound/outbox.ts'
import type { UpdateSummary } from '../update/update-check.ts'
import type { PresenceOwner } from './presence.ts'
import { Repair } from './repair.ts'
import type { Strikes } from './strikes.ts'

const NO_IDS: readonly number[] = []
const NOTHING: ReadonlyMap<number, number> = new Map()

/** Whose member it is. */
export interface MemberOwner {
  /** Who it is across connections: a token's subject, else the address group. */
  readonly identity: string
  /** Pays for an update whose cost is known only when it has been checked, which for a long one is later than it came. */
  pay(summary: UpdateSummary): void
}

/** One client in a room: made by its session, watched by its room. */
export class Member implements PresenceOwner {
  readonly outbox: Outbox
  readonly strikes: Strikes
  readonly log: Log
  readonly repair: Repair
  readonly owner: MemberOwner
  /** Of the loop's time. */
  readonly share: Share
  /** Bytes of its updates that wait to be applied; kept by the room's intake. */
  waitingBytes = 0
  presenceIds: readonly number[] = NO_IDS
  ownId: number | null = null
  /** Per author the clock from which on this member is to answer, although the room has more: see writers. */
  asked: ReadonlyMap<number, number> = NOTHING
  readonly #step1: (instead: ReadonlyMap<number, number>) => Uint8Array | null

  /**
   * `step1` makes the frame that asks this client for what the room does not have, as if it had the clocks `instead`; null while
   * the room has no document, and will ask everybody when it has.
   */
  constructor(
    outbox: Outbox,
    strikes: Strikes,
    log: Log,
    clock: Clock,
    step1: (instead: ReadonlyMap<number, number>) => Uint8Array | null,
    owner: MemberOwner,
    share: Share,
  ) {
    this.owner = owner
    this.share = share
    this.outbox = outbox
    this.strikes = strikes
    this.log = log
    this.#step1 = step1
    this.repair = new Repair(clock, this)
  }

  get identity(): string {
    return this.owner.identity
  }
  /** Bytes that the room holds for this member and the document does not have: what waits its turn, what waits for a gap. */
  get heldBytes(): number {
    return this.waitingBytes + this.repair.parkedBytes
  }

  /** Asks for what the room misses; for `Repair`. */
  ask(): void {
    const frame = this.#step1(this.asked)
    if (frame !== null) this.outbox.pushControl('step1', frame)
  }
}
