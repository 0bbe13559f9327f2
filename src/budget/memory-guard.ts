/**
 * Memory is one ledger with `MAX_MEMORY_BYTES` at its top. Over it the server lets go of what it holds before the kernel ends
 * it, in this order, until it is below again; newcomers wait meanwhile.
 *   garbage ─▶ empty rooms ─▶ the clients that hold most and do not keep up ─▶ the largest rooms
 * Of each it is the turn of whoever holds most in all: many that are just not the largest would make somebody else pay.
 *
 * Two figures: `resident` is what the kernel counts; it falls late, because V8 collects when it sees fit and the allocator
 * keeps pages to use them again. `used` is what is really in use. Nobody is shed for pages that are only kept: it takes both.
 */
import { type Clock, every } from '../observe/clock.ts'
import type { LabelledCounter } from '../observe/counters.ts'
import type { ShedKind } from '../observe/metrics.ts'

/** Somebody who holds memory, and can be made to let go of it. */
export interface Holder {
  /** Bytes, about. */
  readonly bytes: number
  /** Whose they are: an address, a token's subject. Null: nobody else's. */
  readonly owner: string | null
  /** Who it is, for the log. */
  describe(): object
  /** Lets go, now or within moments. */
  shed(): void
}

/** V8's collector. */
export interface GarbageCollector {
  /** Asks for a collection that goes on beside the loop's work, for some hundreds of milliseconds, and stops it for tens at the end. */
  begin(): void
  /** Whether one was finished since the last `begin`. */
  isOver(): boolean
  /** Collects all of it at once: the loop stands still for half a millisecond and more for each megabyte that is live. */
  force(): void
}

export interface MemoryParts {
  readonly clock: Clock
  readonly log: { warn(facts: object, message: string): void; info(facts: object, message: string): void }
  readonly shed: LabelledCounter<ShedKind>
  /** `MAX_MEMORY_BYTES` */
  readonly maxBytes: number
  /** Resident bytes now. */
  resident(): number
  /** Bytes in use: live objects, buffers, and what the process took before it served anybody. */
  used(): number
  /** How garbage is collected. */
  readonly garbage: GarbageCollector
  /** Rooms that nobody is in. */
  idleRooms(): readonly Holder[]
  /** Clients that do not keep up with what they are sent, or send more than can be handled. */
  slowClients(): readonly Holder[]
  /** All rooms; to shed one closes its members. */
  rooms(): readonly Holder[]
}

/** How often resident memory is looked at, ms: at 1 Gbit/s 12 MB come in meanwhile. */
const LOOK_MS = 100
/** Sheds until this share of the limit is in use; above the first with nothing kept back, above the second sheds begin. */
const ENOUGH = 0.8
const TOO_MUCH = 0.9
/** Newcomers are let in again below this share of the limit. */
const RELIEVED = 0.95
/** After this long it is seen what letting go has brought: close frames are read, or cut, in the meantime; ms. */
const SETTLE_MS = 500
/** Least time between two collections, ms. */
const COLLECT_MS = 1_000
/** V8 has not got to it in this time, ms: it is done at once. */
const PATIENCE_MS = 5_000
/** Or memory is so far beyond the limit, and has grown by so much of it meanwhile. */
const FAR_BEYOND = 1.1
const MUCH_MORE = 0.15
/**
 * Where no more than this is in use a collection takes a fifth of a second at most: it is forced, as soon as memory is short, and once in
 * a while when it is near that.
 */
const QUICK_BYTES = 384 << 20
const QUICK_MS = 10_000
/** That stops the loop for what it takes: so seldom that it is a tenth of the time at most. */
const FORCED_SHARE = 10
/** Near the limit garbage is collected before it makes anybody wait: above this share, as soon as so much was added. */
const NEAR = 0.85
const NEAR_COLLECT_MS = 3_000
/** Nobody is shed for less than this, nor where its owner holds less than four times as much. */
const WORTHWHILE_BYTES = 16_384
/** Rooms are not the problem where nobody holds more than this in them. */
const LARGE_ROOM_BYTES = 1_048_576
/** What is let go of one kind: holders of `each` bytes or more, of owners of `inAll` or more, `most` of them. */
interface Measure {
  readonly each: number
  readonly inAll: number
  readonly most: number
}
/** How many clients are let go in one look at most: what comes of it is looked at before more are. */
const MOST_AT_ONCE = 64
const MEASURES: Record<ShedKind, Measure> = {
  idle_room: { each: 0, inAll: 0, most: MOST_AT_ONCE * 16 },
  client: { each: WORTHWHILE_BYTES, inAll: WORTHWHILE_BYTES * 4, most: MOST_AT_ONCE },
  // Whoever is in it may be doing well: only where nothing else is to be had, and one at a time.
  room: { each: WORTHWHILE_BYTES, inAll: LARGE_ROOM_BYTES, most: 1 },
}

export class MemoryGuard {
  readonly #parts: MemoryParts
  readonly #stop: () => void
  #isShort = false
  #isTight = false
  #settledAt = Number.NEGATIVE_INFINITY
  #collectedAt = Number.NEGATIVE_INFINITY
  /** When the collection that is under way was begun, clock ms. */
  #begunAt: number | null = null
  #forcedAt = Number.NEGATIVE_INFINITY
  #forcedMs = 0
  /** In use when garbage was collected last, bytes. */
  #live = 0
  /** In use when the collection that is under way was begun. */
  #usedThen = 0
  /** It will be forced. */
  #isQuick = false
  /** Something was let go since the last collection. */
  #hasShed = false

  constructor(parts: MemoryParts) {
    this.#parts = parts
    this.look()
    this.#stop = every(parts.clock, LOOK_MS, () => this.look())
  }

  /** Whether little is left: who sends more than can be handled is asked for it later. */
  get isTight(): boolean {
    return this.#isTight
  }
  /** Whether nobody is let in just now. */
  get isShort(): boolean {
    return this.#isShort
  }
  stop(): void {
    this.#stop()
  }

  /** One look; called by its timer, and by tests. */
  look(): void {
    const { maxBytes, clock } = this.#parts
    const now = clock.now()
    let resident = this.#parts.resident()
    if (resident > maxBytes * NEAR) this.#begin(now, NEAR_COLLECT_MS)
    if (this.#isCollected(now, resident)) resident = this.#parts.resident()
    this.#isTight = resident > maxBytes * NEAR
    if (this.#isShort && resident < maxBytes * RELIEVED) this.#relieve(resident)
    // Whoever waits to be let in waits for the rest too: what is just below the limit goes on being let go.
    if (resident <= maxBytes && !this.#isShort) return
    if (!this.#isShort) {
      this.#isShort = true
      this.#parts.log.warn({ event: 'memory_short', resident, maxBytes }, 'memory is short: newcomers wait')
    }
    if (now < this.#settledAt) return
    this.#begin(now, COLLECT_MS)
    if (this.#isCollected(now, resident)) resident = this.#parts.resident()
    if (resident < maxBytes * RELIEVED) return
    // What was let go last is garbage until it is collected: it must not cost anybody else its connection.
    if (this.#hasShed) return
    // Nor must what became garbage since.
    const used = this.#begunAt === null || this.#isQuick ? this.#parts.used() : this.#live
    if (used <= maxBytes * TOO_MUCH) return
    this.#shed(used - maxBytes * ENOUGH)
    this.#hasShed = true
    this.#settledAt = now + SETTLE_MS
  }

  #relieve(resident: number): void {
    this.#isShort = false
    this.#parts.log.info(
      { event: 'memory_recovered', resident, maxBytes: this.#parts.maxBytes },
      'memory is enough again',
    )
  }
  /** Begins a collection, unless one is under way, or was over less than `pauseMs` ago. */
  #begin(now: number, pauseMs: number): void {
    if (this.#begunAt !== null || now < this.#collectedAt + pauseMs) return
    this.#begunAt = now
    this.#isQuick = this.#parts.used() < QUICK_BYTES
    if (this.#isQuick) return
    this.#parts.garbage.begin()
    this.#usedThen = this.#parts.used()
  }
  /** Whether a collection was under way and is over; it is made to be when it cannot be waited for. */
  #isCollected(now: number, resident: number): boolean {
    if (this.#begunAt === null) return false
    const { garbage, clock } = this.#parts
    if (this.#isQuick || !garbage.isOver()) {
      if (now < this.#begunAt + PATIENCE_MS && !this.#cannotWait(now, resident)) return false
      if (now < this.#forcedAt + this.#forcedMs * FORCED_SHARE) return false
      garbage.force()
      this.#forcedAt = clock.now()
      this.#forcedMs = this.#forcedAt - now
    }
    this.#begunAt = null
    this.#hasShed = false
    this.#collectedAt = clock.now()
    this.#live = this.#parts.used()
    return true
  }
  /** Whether more comes in than a collection in the background keeps up with, or one that is forced costs little. */
  #cannotWait(now: number, resident: number): boolean {
    const { maxBytes } = this.#parts
    if (this.#isQuick) return resident > maxBytes || this.#isShort || now >= this.#forcedAt + QUICK_MS
    return resident >= maxBytes * FAR_BEYOND && this.#parts.used() - this.#usedThen >= maxBytes * MUCH_MORE
  }

  #shed(bytes: number): void {
    const { idleRooms, slowClients, rooms } = this.#parts
    let left = bytes
    left = this.#letGo('idle_room', idleRooms.call(this.#parts), left)
    if (left > 0) left = this.#letGo('client', slowClients.call(this.#parts), left)
    if (left === bytes) this.#letGo('room', rooms.call(this.#parts), left)
  }
  /** Lets holders go, in turn, until `left` is none or enough are gone. What is left. */
  #letGo(kind: ShedKind, holders: readonly Holder[], left: number): number {
    const { shed, log } = this.#parts
    let rest = left
    let count = 0
    for (const holder of inTurn(holders, MEASURES[kind])) {
      if (rest <= 0 || count >= MEASURES[kind].most) break
      if (count === 0)
        log.warn(
          { event: 'memory_shed', kind, bytes: holder.bytes, ...holder.describe() },
          'memory is short: letting go',
        )
      holder.shed()
      shed.add(kind)
      rest -= holder.bytes
      count++
    }
    if (count > 1) log.warn({ event: 'memory_shed_more', kind, count, bytes: left - rest }, 'memory is short: let go')
    return rest
  }
}

/** All that one owner holds. */
interface Holding {
  bytes: number
  /** The largest last. */
  readonly holders: Holder[]
}

/** In the order in which they are let go: always the largest of who then holds most. */
function* inTurn(holders: readonly Holder[], { each, inAll }: Measure): Generator<Holder> {
  const byOwner = new Map<string | Holder, Holding>()
  for (const holder of holders.filter(({ bytes }) => bytes >= each).sort((a, b) => a.bytes - b.bytes)) {
    const key = holder.owner ?? holder
    const holding = byOwner.get(key)
    if (holding === undefined) byOwner.set(key, { bytes: holder.bytes, holders: [holder] })
    else {
      holding.bytes += holder.bytes
      holding.holders.push(holder)
    }
  }
  const queue = [...byOwner.values()].sort((a, b) => a.bytes - b.bytes)
  for (let next = queue.pop(); next !== undefined && next.bytes >= inAll; next = queue.pop()) {
    const holder = next.holders.pop()!
    yield holder
    next.bytes -= holder.bytes
    if (next.holders.length > 0) insert(queue, next)
  }
}

/** In its place in `queue`, which is in ascending order. */
function insert(queue: Holding[], holding: Holding): void {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (queue[middle]!.bytes < holding.bytes) low = middle + 1
    else high = middle
  }
  queue.splice(low, 0, holding)
}
