/** One connection's budgets: frames, and beside them bytes. What it had used up when it closed is kept: see kept-budgets. */

export interface RateSettings {
  /** Most frames at once: `WS_RATE_LIMIT_MAX_TOKENS` for document frames. */
  readonly maxTokens: number
  /** Time in which an empty budget is full again, ms: `WS_RATE_LIMIT_REFILL_WINDOW_MS`. */
  readonly refillMs: number
  /** Most bytes at once. For document frames `WS_MAX_MESSAGE_BYTES`: a full budget has enough for any message. */
  readonly burstBytes: number
  /** `WS_INBOUND_BYTES_PER_S` */
  readonly bytesPerSecond: number
}

/** What is missing to full budgets. */
export interface Deficit {
  readonly tokens: number
  readonly bytes: number
}
const NOTHING: Deficit = { tokens: 0, bytes: 0 }

/** What every connection's budgets have in common. */
export class Rates {
  readonly maxTokens: number
  readonly burstBytes: number
  readonly tokensPerMs: number
  readonly bytesPerMs: number
  /** Clock ms. */
  readonly now: () => number

  constructor({ maxTokens, refillMs, burstBytes, bytesPerSecond }: RateSettings, now: () => number) {
    this.maxTokens = maxTokens
    this.burstBytes = burstBytes
    this.tokensPerMs = maxTokens / refillMs
    this.bytesPerMs = bytesPerSecond / 1000
    this.now = now
  }
}

/**
 * Two token buckets in one: of frames and of bytes. Each refills evenly up to its capacity; who must not be refused may go
 * into debt, which later takers pay off. Flat, because it is the first thing that every frame of every client touches.
 */
export class RateLimiter {
  readonly #rates: Rates
  #tokens: number
  #bytes: number
  #at: number

  constructor(rates: Rates, deficit: Deficit = NOTHING) {
    this.#rates = rates
    this.#tokens = rates.maxTokens - deficit.tokens
    this.#bytes = rates.burstBytes - deficit.bytes
    this.#at = rates.now()
  }

  /** Most tokens there can be. */
  get maxTokens(): number {
    return this.#rates.maxTokens
  }
  /** Most bytes there can be. */
  get burstBytes(): number {
    return this.#rates.burstBytes
  }
  /** Tokens there now; negative while in debt. */
  get tokens(): number {
    this.#refill()
    return this.#tokens
  }
  /** Bytes of the budget that are there now; negative while in debt. */
  get bytes(): number {
    this.#refill()
    return this.#bytes
  }
  get deficit(): Deficit {
    return { tokens: this.#rates.maxTokens - this.tokens, bytes: this.#rates.burstBytes - this.bytes }
  }

  /** One frame of `length` bytes: both budgets have it, or neither pays. One longer than all there can be takes all there is. */
  take(length: number): boolean {
    this.#refill()
    if (this.#tokens < 1 || (this.#bytes < length && this.#bytes < this.#rates.burstBytes)) return false
    this.#bytes -= length
    this.#tokens -= 1
    return true
  }
  /** A frame that is not refused whatever it costs. Debt is bounded by a full budget: nobody waits longer than two refills. */
  spend(tokens: number, length: number): void {
    this.#refill()
    this.#tokens = Math.max(-this.#rates.maxTokens, this.#tokens - tokens)
    this.#bytes = Math.max(-this.#rates.burstBytes, this.#bytes - length)
  }
  /** How long until a frame of `length` bytes is affordable with `tokens` tokens, ms, rounded up; 0 when it is. */
  msUntil(tokens: number, length: number): number {
    this.#refill()
    const { maxTokens, burstBytes, tokensPerMs, bytesPerMs } = this.#rates
    const forTokens = (Math.min(tokens, maxTokens) - this.#tokens) / tokensPerMs
    const forBytes = (Math.min(length, burstBytes) - this.#bytes) / bytesPerMs
    return Math.max(0, Math.ceil(forTokens), Math.ceil(forBytes))
  }

  #refill(): void {
    const { now, maxTokens, burstBytes, tokensPerMs, bytesPerMs } = this.#rates
    const at = now()
    const passed = at - this.#at
    this.#at = at
    this.#tokens = Math.min(maxTokens, this.#tokens + passed * tokensPerMs)
    this.#bytes = Math.min(burstBytes, this.#bytes + passed * bytesPerMs)
  }
}
