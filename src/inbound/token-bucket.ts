/**
 * A token bucket: holds at most `capacity` tokens and refills evenly. A taker that must not be refused may go into debt,
 * which later takers pay off.
 */
export class TokenBucket {
  readonly #now: () => number
  readonly #perMs: number
  readonly capacity: number
  #tokens: number
  #at: number

  /** An empty bucket is full again after `refillMs`. `now` is in ms; `tokens` is what it starts with. */
  constructor(capacity: number, refillMs: number, now: () => number, tokens: number = capacity) {
    this.capacity = capacity
    this.#perMs = capacity / refillMs
    this.#now = now
    this.#tokens = tokens
    this.#at = now()
  }

  /** Takes `n` if they are there. */
  take(n: number): boolean {
    return this.takeAt(this.#now(), n)
  }
  /** The same at a moment the caller has looked at: several buckets, one look at the clock. */
  takeAt(now: number, n: number): boolean {
    if (this.#refill(now) < n) return false
    this.#tokens -= n
    return true
  }
  /** Takes `n` in any case. Debt is bounded by one capacity, so that nobody waits longer than two refills. */
  spend(n: number): void {
    this.#tokens = Math.max(-this.capacity, this.tokens - n)
  }
  /** Puts back what was just taken. */
  giveBack(n: number): void {
    this.#tokens += n
  }
  /** Tokens there now; negative while in debt. */
  get tokens(): number {
    return this.#refill(this.#now())
  }
  #refill(now: number): number {
    this.#tokens = Math.min(this.capacity, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
    return this.#tokens
  }
  /** How long until there are `n`, ms, rounded up; 0 when there are. */
  msUntil(n: number): number {
    return Math.max(0, Math.ceil((Math.min(n, this.capacity) - this.tokens) / this.#perMs))
  }
}
