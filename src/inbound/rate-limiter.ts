/**
 * One connection's budgets: frames, and beside them bytes. What a connection had used up when it closed is remembered
 * for its address, so that reconnecting buys nothing; an office behind one address shares nothing else.
 */
import { RecentMap } from '../observe/recent-map.ts'
import { TokenBucket } from './token-bucket.ts'

export interface RateSettings {
  /** `WS_RATE_LIMIT_MAX_TOKENS` */
  readonly maxTokens: number
  /** `WS_RATE_LIMIT_REFILL_WINDOW_MS` */
  readonly refillMs: number
  /** `WS_MAX_MESSAGE_BYTES`: the largest single message is always affordable to a full budget. */
  readonly burstBytes: number
  /** `WS_INBOUND_BYTES_PER_S` */
  readonly bytesPerSecond: number
}

/** What is missing to full budgets. */
export interface Deficit {
  readonly tokens: number
  readonly bytes: number
}

export class RateLimiter {
  readonly frames: TokenBucket
  readonly bytes: TokenBucket
  readonly #now: () => number

  constructor(settings: RateSettings, now: () => number, deficit: Deficit = { tokens: 0, bytes: 0 }) {
    this.#now = now
    const { maxTokens, refillMs, burstBytes, bytesPerSecond } = settings
    this.frames = new TokenBucket(maxTokens, refillMs, now, maxTokens - deficit.tokens)
    this.bytes = new TokenBucket(burstBytes, (burstBytes / bytesPerSecond) * 1000, now, burstBytes - deficit.bytes)
  }

  /** One frame of `length` bytes: both budgets have it, or neither pays. */
  take(length: number): boolean {
    const now = this.#now()
    if (!this.bytes.takeAt(now, length)) return false
    if (this.frames.takeAt(now, 1)) return true
    this.bytes.giveBack(length)
    return false
  }
  /** A frame that is not refused whatever it costs. */
  spend(tokens: number, length: number): void {
    this.frames.spend(tokens)
    this.bytes.spend(length)
  }
  /** How long until a frame of `length` bytes is affordable with `tokens` tokens, ms. */
  msUntil(tokens: number, length: number): number {
    return Math.max(this.frames.msUntil(tokens), this.bytes.msUntil(length))
  }
  get deficit(): Deficit {
    return { tokens: this.frames.capacity - this.frames.tokens, bytes: this.bytes.capacity - this.bytes.tokens }
  }
}

/** Most addresses remembered; over it the oldest are forgotten. */
const MAX_ADDRESSES = 10_000
/** Most closed connections remembered of one address. */
const MAX_PER_ADDRESS = 64

/** Budgets of connections that are gone, by address: the next one from there goes on with the emptiest of them. */
export class AddressBudgets {
  readonly #settings: RateSettings
  readonly #now: () => number
  readonly #closed = new RecentMap<string, RateLimiter[]>(MAX_ADDRESSES)

  constructor(settings: RateSettings, now: () => number) {
    this.#settings = settings
    this.#now = now
  }

  /** A limiter for a new connection. */
  open(address: string): RateLimiter {
    const closed = this.#closed.get(address)
    if (closed === undefined) return new RateLimiter(this.#settings, this.#now)
    let emptiest = 0
    for (const [i, limiter] of closed.entries()) {
      if (limiter.frames.tokens < closed[emptiest]!.frames.tokens) emptiest = i
    }
    const [limiter] = closed.splice(emptiest, 1) as [RateLimiter]
    if (closed.length === 0) this.#closed.delete(address)
    return new RateLimiter(this.#settings, this.#now, limiter.deficit)
  }

  /** A connection has closed. A limiter that is full again is as good as a new one and is not kept. */
  close(address: string, limiter: RateLimiter): void {
    const { tokens, bytes } = limiter.deficit
    if (tokens < limiter.frames.capacity / 10 && bytes < limiter.bytes.capacity / 10) return
    const closed = (this.#closed.get(address) ?? []).filter((one) => one.deficit.tokens > 1)
    closed.push(limiter)
    if (closed.length > MAX_PER_ADDRESS) closed.shift()
    this.#closed.set(address, closed)
  }
}
