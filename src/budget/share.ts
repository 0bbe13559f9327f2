/**
 * One client's share of the loop's time: what its updates really took, in a bucket that fills again. While others wait the
 * queue is fair anyway; this is for who makes the server work without end. Over its share a client's updates wait, and one
 * that stays over it is closed (LT3).
 */
import { RecentMap } from '../observe/recent-map.ts'
import type { Account } from './account.ts'
import type { LoopTime } from './loop-time.ts'

export interface ShareSettings {
  /** `WS_WORK_MS_PER_S` */
  readonly msPerSecond: number
  /** `WS_WORK_BURST_MS` */
  readonly burstMs: number
}

/** A client that was over its share for this long, without a pause, is closed, ms. */
const CLOSE_AFTER_MS = 60_000
/** What has to be there again until it counts as a pause: a part of the burst. */
const RECOVERED = 0.1

export class Share {
  readonly account: Account
  readonly #loop: LoopTime
  readonly #settings: ShareSettings
  #left: number
  #at: number
  /** Since when it is over its share, clock ms. */
  #overSince: number | null = null
  /** What is measured and not paid yet, ms. */
  unpaid = 0

  /** `debt`: what is missing to a full bucket, ms. */
  constructor(account: Account, loop: LoopTime, settings: ShareSettings, debt: number) {
    this.account = account
    this.#loop = loop
    this.#settings = settings
    this.#left = settings.burstMs - debt
    this.#at = loop.clock.now()
  }

  /** What is missing to a full bucket at `now` (clock ms), ms. */
  debtAt(now: number): number {
    this.#refill(now)
    return this.#settings.burstMs - this.#left
  }
  /** Whether this client's updates have to wait. */
  get isOver(): boolean {
    return this.#overSince !== null && this.#left < 0
  }
  /** How long until they may go on, ms; 0: they may. */
  waitAt(now: number): number {
    if (!this.isOver) return 0
    this.#refill(now)
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left * 1000) / this.#settings.msPerSecond)
  }

  /** Pays what was measured, times `factor`: what belongs to all of it is shared among those who caused it. */
  pay(factor: number, now: number): 'ok' | 'slowed' | 'over' | 'too_long' {
    const ms = this.unpaid * factor
    this.unpaid = 0
    this.#loop.charge(this.account, ms)
    this.#refill(now)
    this.#left -= ms
    if (this.#left >= 0) return 'ok'
    if (this.#overSince === null) {
      this.#overSince = now
      return 'slowed'
    }
    return now - this.#overSince >= CLOSE_AFTER_MS ? 'too_long' : 'over'
  }

  #refill(now: number): void {
    const { burstMs, msPerSecond } = this.#settings
    this.#left = Math.min(burstMs, this.#left + ((now - this.#at) * msPerSecond) / 1000)
    this.#at = now
    if (this.#left >= burstMs * RECOVERED) this.#overSince = null
  }
}

/** Most addresses remembered; over it the oldest are forgotten. */
const MAX_REMEMBERED = 10_000
/** Most closed clients remembered of one address or person. */
const MAX_PER_KEY = 64

/** Bytes of updates that are checked in the callbacks of their sockets in one turn of the loop: 0.5 to 2 ms. */
const CHECKED_BYTES = 262_144

/** Shares of all clients. What one had used up when it closed is remembered: reconnecting buys nothing. */
export class Shares {
  readonly #loop: LoopTime
  readonly #settings: ShareSettings
  #checked = 0
  readonly #closed = new RecentMap<string, Share[]>(MAX_REMEMBERED)

  constructor(loop: LoopTime, settings: ShareSettings) {
    this.#loop = loop
    this.#settings = settings
  }

  /** A share for a client that comes; `key` is who it is as far as is known: its token's subject, else its address. */
  open(key: string): Share {
    const now = this.#loop.clock.now()
    const closed = this.#closed.get(key)
    let debt = 0
    if (closed !== undefined) {
      closed.sort((a, b) => a.debtAt(now) - b.debtAt(now))
      debt = closed.pop()!.debtAt(now)
      if (closed.length === 0) this.#closed.delete(key)
    }
    return new Share(this.#loop.open(key), this.#loop, this.#settings, debt)
  }
  /** Whether an update of this length may be checked at once. Else it is checked when its turn to be applied has come. */
  mayCheck(length: number): boolean {
    const had = this.#checked
    this.#checked += length
    if (this.#checked <= CHECKED_BYTES) return true
    if (had <= CHECKED_BYTES) this.#loop.clock.soon(this.#onTurn)
    return false
  }
  readonly #onTurn = (): void => {
    this.#checked = 0
  }

  close(key: string, share: Share): void {
    this.#loop.close(key, share.account)
    const now = this.#loop.clock.now()
    if (share.debtAt(now) < this.#settings.burstMs * RECOVERED) return
    const closed = this.#closed.get(key) ?? []
    closed.push(share)
    if (closed.length > MAX_PER_KEY) closed.shift()
    this.#closed.set(key, closed)
  }
}
