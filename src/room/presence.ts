/**
 * Who is in a room: the newest state of every presence id, the connection each id belongs to, and the clocks of those that
 * left. States stay the bytes they came in. No timers: a stock client renews its own presence, and an id leaves with the
 * connection that owns it.
 */
import type { OwedPresence, PresenceFrame, PresenceStates } from '../outbound/outgoing.ts'
import { encodePresence } from '../protocol/frames.ts'
import {
  encodeHeld,
  entryBytes,
  type HeldEntry,
  heldRemoval,
  isNullState,
  type PresenceEntry,
  type PresenceError,
  removal,
  stateError,
} from '../protocol/presence-frame.ts'
import { DepartedIds, type Heir, heirOf, waiting } from './departed-ids.ts'

/** A connection as presence sees it. */
export interface PresenceOwner {
  /** Who is behind it, across connections: a token's subject, else the address group. */
  readonly identity: string
  /** Ids that leave with this connection: one of its own, and those of sibling tabs. */
  presenceIds: readonly number[]
  /** The id this connection announced as its own, if it has. */
  ownId: number | null
}

export interface PresenceSettings {
  /** `MAX_PRESENCE_IDS_PER_CONNECTION` */
  readonly maxIdsPerConnection: number
}

interface Known {
  readonly id: number
  clock: number
  /** Holds the state in its first `length` bytes: a cursor that moves writes over its last place. */
  buffer: Uint8Array
  length: number
  owner: PresenceOwner
  /** Announced by its own connection, not relayed by a sibling (another tab's broadcast). */
  own: boolean
  /** Whose it was before a stranger took it: it is theirs again when they come back in time. */
  heir: Heir | null
}

/** An id claimed while another live connection owns it: the owner is asked whether it is still there (PR1). */
export interface PresenceClaim {
  readonly entry: PresenceEntry
  readonly claimant: PresenceOwner
  readonly owner: PresenceOwner
}

/** One presence frame to send, and the one connection that need not have it. */
export interface PresenceTick {
  readonly frame: PresenceFrame
  readonly author: PresenceOwner | null
}

export interface Announcement {
  readonly changed: boolean
  readonly claims: readonly PresenceClaim[]
  /** Removals to send back to the announcer alone: they make a stock client announce again at clock + 1 (PR2). */
  readonly reannounce: readonly PresenceEntry[]
  /** Entries not taken, by reason; null when all were. */
  readonly refused: { readonly not_owner: number; readonly too_many_ids: number; readonly room_full: number } | null
}

/** What nearly every frame comes to: one cursor has moved. */
const MOVED: Announcement = { changed: true, claims: [], reannounce: [], refused: null }

/** Most bytes of states in one room (PR4). */
const MAX_ROOM_BYTES = 1_048_576
/** A connection with so little is taken in also when others have used that up: a name and a cursor. */
const ALWAYS_BYTES = 4_096
/** Room for a state to grow by a digit or a name. */
const SLACK_BYTES = 24
/** A state that has become so much shorter than its place gets a smaller one: what is held is counted by the states. */
const MOST_SLACK_BYTES = 256
/** Most bytes in one presence frame sent (PR4). */
const MAX_FRAME_BYTES = 65_536
/**
 * Largest clock a stranger begins with. A clock grows by one a change: 2^32 is 60 years at 2 a second, and a client at
 * 2^53 - 1 could never be announced again.
 */
const MAX_FIRST_CLOCK = 2 ** 32
/**
 * How far beyond the newest clock heard an id may jump. Whoever took an id to the bound above while its client was away
 * would otherwise have shut that client out: it goes on from the clock it is told.
 */
const MAX_CLOCK_STEP = 65_536
/** What an id takes in memory beside its state. */
const KNOWN_BYTES = 250

export class Presence implements PresenceStates {
  readonly #settings: PresenceSettings
  readonly #known = new Map<number, Known>()
  readonly #departed = new DepartedIds()
  /** The id looked for last, -1 for none: handling one frame looks for the same three times. */
  #lastId = -1
  #last: Known | undefined
  readonly #changed = new Set<number>()
  #changedAt = 0
  #bytes = 0

  constructor(settings: PresenceSettings) {
    this.#settings = settings
  }

  /** Bytes that are held, about. */
  get heldBytes(): number {
    return this.#bytes + this.#known.size * KNOWN_BYTES + this.#departed.heldBytes
  }
  get size(): number {
    return this.#known.size
  }
  /** Bytes of all states. */
  get bytes(): number {
    return this.#bytes
  }
  ids(): Iterable<number> {
    return this.#known.keys()
  }
  /** The newest clock heard of an id, -1 for a stranger. Bound, so that it can be handed to `isEcho`. */
  readonly knownClock = (id: number): number => this.#find(id)?.clock ?? this.#departed.clockOf(id) ?? -1

  /** What keeps any of these entries from being relayed; the frame is then refused whole. */
  errorIn(entries: readonly PresenceEntry[]): PresenceError | null {
    for (const { id, clock, state } of entries) {
      const newest = this.knownClock(id)
      if (clock <= newest) continue
      if (clock > Math.max(MAX_FIRST_CLOCK, newest + MAX_CLOCK_STEP)) return 'presence_clock'
      const error = stateError(state)
      if (error !== null) return error
    }
    return null
  }

  /**
   * Takes a checked frame from `from`. `opening`: no SyncStep2 of this connection has been read yet. A stock client announces
   * itself before it answers the server's SyncStep1 and can echo others only after, so a single entry in that place is
   * its own, whatever its clock.
   */
  announce(from: PresenceOwner, entries: readonly PresenceEntry[], opening: boolean, now: number): Announcement {
    if (entries.length === 1 && this.#updateOwn(from, entries[0]!, now)) return MOVED
    const claims: PresenceClaim[] = []
    const reannounce: PresenceEntry[] = []
    const refused = { not_owner: 0, too_many_ids: 0, room_full: 0 }
    let changed = false
    const introduces = entries.length === 1 && opening
    for (const entry of entries) {
      const known = this.#find(entry.id)
      const isNull = isNullState(entry.state)
      const newest = this.knownClock(entry.id)
      if (known === undefined) {
        if (isNull || (entry.clock <= newest && !introduces)) continue
        if (!this.#hasPlace(from)) refused.too_many_ids++
        else if (!this.#fits(from, entry.state.length)) refused.room_full++
        else {
          if (entry.clock <= newest) reannounce.push(removal(entry.id, newest))
          // Never back below what was heard: the others ignore it, and their late echoes would pass for news.
          const isOwn = this.#isOwn(entry, entries, from)
          this.#admit({ ...entry, clock: Math.max(entry.clock, newest) }, from, isOwn, now)
          changed = this.#note(entry.id, now)
        }
      } else if (known.owner === from) {
        if (entry.clock < known.clock || (entry.clock === known.clock && !isNull)) continue
        if (isNull) this.#remove(entry.id, entry.clock, now)
        else if (this.#fits(from, entry.state.length - known.length)) this.#update(known, entry)
        else {
          refused.room_full++
          continue
        }
        changed = this.#note(entry.id, now)
      } else if (entry.clock > known.clock || introduces) {
        if (isNull) refused.not_owner++
        else if (!this.#hasPlace(from)) refused.too_many_ids++
        else if (!this.#fits(from, entry.state.length - known.length)) refused.room_full++
        else if (this.#isOwn(entry, entries, from) && (!known.own || this.#returns(known, from, now))) {
          changed = this.#move(known, { entry, claimant: from, owner: known.owner }, reannounce, now)
        } else claims.push({ entry: copyOf(entry), claimant: from, owner: known.owner })
      }
    }
    const isRefused = refused.not_owner + refused.too_many_ids + refused.room_full > 0
    return { changed, claims, reannounce, refused: isRefused ? refused : null }
  }

  /** A newer state of an id that `from` owns; false when it is anything else. */
  #updateOwn(from: PresenceOwner, entry: PresenceEntry, now: number): boolean {
    const known = this.#find(entry.id)
    if (known === undefined || known.owner !== from || entry.clock <= known.clock || isNullState(entry.state))
      return false
    if (!this.#fits(from, entry.state.length - known.length)) return false
    this.#update(known, entry)
    return this.#note(entry.id, now)
  }

  /**
   * Moves an id to its claimant, the owner being gone or silent, unless the claimant has come to have its share meanwhile.
   * Returns removals for the claimant alone.
   */
  grant(claim: PresenceClaim, now: number): readonly PresenceEntry[] {
    const known = this.#find(claim.entry.id)
    const reannounce: PresenceEntry[] = []
    if (known?.owner !== claim.owner || !this.#hasPlace(claim.claimant)) return reannounce
    if (this.#fits(claim.claimant, claim.entry.state.length - known.length)) this.#move(known, claim, reannounce, now)
    return reannounce
  }

  /** Removes every id of a connection, without bumping clocks. Returns whether there was any. */
  leave(owner: PresenceOwner, now: number): boolean {
    const ids = owner.presenceIds
    for (const id of ids) {
      const known = this.#find(id)
      if (known?.owner !== owner) continue
      this.#remove(id, known.clock, now)
      this.#note(id, now)
    }
    return ids.length > 0
  }

  /** What changed since the last tick, in frames of at most 64 KiB, and whose alone it was, if it was. */
  tick(): PresenceTick[] {
    const frames: PresenceTick[] = []
    while (this.#changed.size > 0) {
      const entries = this.#take(this.#changed)
      if (entries.length === 0) break
      const frame = { bytes: encodePresence(encodeHeld(entries)), ids: entries.map(idOf), at: this.#changedAt }
      frames.push({ frame, author: this.#soleOwner(frame.ids) })
    }
    return frames
  }

  takeFrame(owed: Map<number, number>): OwedPresence | null {
    const first = new Map(owed)
    const entries = this.#take(owed)
    if (entries.length === 0) return null
    let at = Number.POSITIVE_INFINITY
    for (const [id, since] of first) if (since < at && !owed.has(id)) at = since
    return { bytes: encodePresence(encodeHeld(entries)), at }
  }

  /** The newest states of as many of `ids` as fit a frame; `ids` loses them. */
  #take(ids: Pick<Map<number, unknown>, 'keys' | 'delete'>): HeldEntry[] {
    const entries: HeldEntry[] = []
    let bytes = 8
    for (const id of ids.keys()) {
      const entry = this.#known.get(id) ?? this.#removalOf(id)
      if (entry !== null) {
        bytes += entryBytes(entry)
        if (bytes > MAX_FRAME_BYTES && entries.length > 0) break
        entries.push(entry)
      }
      ids.delete(id)
    }
    return entries
  }
  #removalOf(id: number): HeldEntry | null {
    const clock = this.#departed.clockOf(id)
    return clock === undefined ? null : heldRemoval(id, clock)
  }

  #find(id: number): Known | undefined {
    if (id !== this.#lastId) {
      this.#last = this.#known.get(id)
      this.#lastId = id
    }
    return this.#last
  }

  /** Whether an entry speaks for its own connection: alone in its frame, from one that has announced no other id. */
  #isOwn(entry: PresenceEntry, entries: readonly PresenceEntry[], from: PresenceOwner): boolean {
    return entries.length === 1 && (from.ownId === null || from.ownId === entry.id)
  }
  /** Whether `from` is whose id this was, back in time from a reconnect. */
  #returns({ heir }: Known, { identity }: PresenceOwner, now: number): boolean {
    return waiting(heir, now)?.identity === identity
  }
  #hasPlace({ presenceIds }: PresenceOwner): boolean {
    return presenceIds.length < this.#settings.maxIdsPerConnection
  }
  /** Whether there is room for so much more of `owner`. */
  #fits({ presenceIds }: PresenceOwner, moreBytes: number): boolean {
    if (moreBytes <= 0 || this.#bytes + moreBytes <= MAX_ROOM_BYTES) return true
    let bytes = moreBytes
    for (const id of presenceIds) bytes += this.#find(id)?.length ?? 0
    return bytes <= ALWAYS_BYTES
  }
  #admit(entry: PresenceEntry, owner: PresenceOwner, own: boolean, now: number): void {
    const { id, clock, state } = entry
    const buffer = new Uint8Array(state.length + SLACK_BYTES)
    buffer.set(state)
    this.#lastId = -1
    const heir = this.#departed.claim(id, owner.identity, now)
    this.#known.set(id, { id, clock, buffer, length: state.length, owner, own, heir })
    this.#bytes += state.length
    gain(owner, id)
    if (own) owner.ownId = id
  }
  #update(known: Known, entry: PresenceEntry): void {
    this.#bytes += entry.state.length - known.length
    known.clock = entry.clock
    const { length } = entry.state
    const place = known.buffer.length
    if (length > place || place > 2 * length + MOST_SLACK_BYTES) known.buffer = new Uint8Array(length + SLACK_BYTES)
    known.buffer.set(entry.state)
    known.length = length
  }
  #move(known: Known, { entry, claimant }: PresenceClaim, reannounce: PresenceEntry[], now: number): boolean {
    const heir = this.#heirOf(known, now)
    known.heir = heir?.identity === claimant.identity ? null : heir
    lose(known.owner, entry.id)
    known.owner = claimant
    known.own = true
    gain(claimant, entry.id)
    claimant.ownId ??= entry.id
    if (entry.clock > known.clock) this.#update(known, entry)
    else if (entry.clock < known.clock) reannounce.push(removal(entry.id, known.clock))
    return this.#note(entry.id, now)
  }
  /** Whose id it is, when it changes hands: its owner's, unless that one is a stranger to whom it came a moment ago. */
  #heirOf({ heir, own, owner }: Known, now: number): Heir | null {
    return waiting(heir, now) ?? (own ? heirOf(owner.identity, now) : null)
  }
  #remove(id: number, clock: number, now: number): void {
    const known = this.#find(id)
    if (known === undefined) return
    this.#lastId = -1
    this.#known.delete(id)
    this.#bytes -= known.length
    lose(known.owner, id)
    this.#departed.note(id, clock, this.#heirOf(known, now))
  }
  #note(id: number, now: number): true {
    if (this.#changed.size === 0) this.#changedAt = now
    this.#changed.add(id)
    return true
  }
  #soleOwner(ids: readonly number[]): PresenceOwner | null {
    let sole: PresenceOwner | null = null
    for (const id of ids) {
      const owner = this.#find(id)?.owner ?? null
      if (owner === null || (sole !== null && owner !== sole)) return null
      sole = owner
    }
    return sole
  }
}

/** Arrays that fit: one that is pushed to makes room for sixteen more, of which nearly nobody has a second. */
function gain(owner: PresenceOwner, id: number): void {
  owner.presenceIds = owner.presenceIds.concat(id)
}
function lose(owner: PresenceOwner, id: number): void {
  owner.presenceIds = owner.presenceIds.filter((one) => one !== id)
  if (owner.ownId === id) owner.ownId = null
}

const idOf = ({ id }: HeldEntry): number => id

/** Frames are only lent: what is kept is copied. */
const copyOf = ({ id, clock, state }: PresenceEntry): PresenceEntry => ({ id, clock, state: state.slice() })
