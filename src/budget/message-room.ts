/**
 * Who may send how long a message. Until a message is whole it lies in the socket library, where nobody sees it; what all
 * connections together could leave there unfinished is therefore given out when they come. Some may send the longest message
 * there is; the others one that every usual update and answer fits. Who is cut for a longer one gets a long place when it is
 * back, and half of them are kept for those.
 */
import type { Clock } from '../observe/clock.ts'
import type { Counter } from '../observe/counters.ts'
import { RecentMap } from '../observe/recent-map.ts'

export interface MessageRoomSettings {
  /** Longest message there is, bytes: `WS_MAX_MESSAGE_BYTES` and a margin. */
  readonly longBytes: number
  /** `MAX_MEMORY_BYTES` */
  readonly maxMemoryBytes: number
  /** `MAX_CONNECTIONS_PER_IP` */
  readonly maxConnectionsPerIp: number
}

/** An eighth of all memory for long places, and as much for what one address can leave in all its short ones. */
const SHARE = 1 / 8
/** Bounds of a short place: the whole delete set of a large board fits, and the largest piece that is handled at once. */
const LEAST_SHORT_BYTES = 131_072
const MOST_SHORT_BYTES = 1_114_112
/** How long a client that was cut may take to come back, ms. */
const REMEMBER_MS = 60_000
const MAX_REMEMBERED = 4096
/**
 * A long place that somebody came back for and that was not used for this long may be taken back, ms: 8 MB at 1 Mbit/s take as
 * long. At most one in the second time.
 */
const UNUSED_MS = 60_000
const RECLAIM_MS = 1_000

/** A connection with a long place. */
export interface LongPlace {
  /** When it last sent a message that a short place would not take, or came; clock ms. */
  usedAt: number
  /** Whether it came back for it. Whoever was given one at first keeps it: it must not pay for what others send. */
  readonly isWanted: boolean
  /** Ends the connection: it comes back to a short place. */
  end(): void
}

export class MessageRoom {
  /** Longest message of a short place, bytes. */
  readonly shortBytes: number
  readonly longBytes: number
  /** Long places there are. */
  readonly most: number
  readonly #clock: Pick<Clock, 'now'>
  readonly #cut: Counter
  readonly #taken = new Set<LongPlace>()
  readonly #wanted = new RecentMap<string, number>(MAX_REMEMBERED)
  #promised = 0
  #reclaimedAt = Number.NEGATIVE_INFINITY

  /** `cut` counts those that were cut for a message that only a long place takes. */
  constructor(settings: MessageRoomSettings, clock: Pick<Clock, 'now'>, cut: Counter) {
    const { longBytes, maxMemoryBytes, maxConnectionsPerIp } = settings
    const share = maxMemoryBytes * SHARE
    const short = Math.max(LEAST_SHORT_BYTES, Math.min(MOST_SHORT_BYTES, Math.floor(share / maxConnectionsPerIp)))
    this.longBytes = longBytes
    this.shortBytes = Math.min(longBytes, short)
    // Where all places are as long there is nothing to give out.
    this.most = this.shortBytes === longBytes ? Number.MAX_SAFE_INTEGER : Math.max(2, Math.floor(share / longBytes))
    this.#clock = clock
    this.#cut = cut
  }

  /**
   * Whether a new connection of `who` gets a long place, because it was cut for want of one or because there are plenty. It is
   * then promised until `take`, or `giveBack` with null.
   */
  promise(who: string): 'wanted' | 'plenty' | null {
    const now = this.#clock.now()
    const isWanted = (this.#wanted.get(who) ?? now) > now
    const free = this.most - this.#taken.size - this.#promised
    const isFree = isWanted ? free > 0 : free > Math.floor(this.most / 2)
    if (isFree) this.#promised++
    else if (isWanted) this.#reclaim(now)
    return !isFree ? null : isWanted ? 'wanted' : 'plenty'
  }
  take(place: LongPlace): void {
    this.#promised--
    this.#taken.add(place)
  }
  giveBack(place: LongPlace | null): void {
    if (place === null) this.#promised--
    else this.#taken.delete(place)
  }
  /** `who` was cut in a short place. */
  want(who: string): void {
    this.#cut.add()
    this.#wanted.set(who, this.#clock.now() + REMEMBER_MS)
  }

  #reclaim(now: number): void {
    if (now < this.#reclaimedAt + RECLAIM_MS) return
    let longest: LongPlace | null = null
    for (const place of this.#taken) {
      if (place.isWanted && (longest === null || place.usedAt < longest.usedAt)) longest = place
    }
    if (longest === null || now < longest.usedAt + UNUSED_MS) return
    this.#reclaimedAt = now
    longest.end()
  }
}
