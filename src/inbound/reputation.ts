/**
 * What is kept of a client across its connections, from the moment that it was granted access, and what of it meets the
 * innocent who come from the same address: nothing that refuses them, or that they would notice for long.
 *   who     a token's subject; else address and presence id, as soon as that is announced; else nobody in particular
 *   what    used-up budgets · a message that was too large (4413) · evictions, for which it comes back coalesced
 */
import type { Clock } from '../observe/clock.ts'
import type { KeptBudget, KeptBudgets } from './kept-budgets.ts'
import type { Oversized } from './oversized.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { SecondChances } from './second-chances.ts'

export interface ReputationDeps {
  readonly clock: Clock
  readonly budgets: KeptBudgets
  readonly oversized: Oversized
  readonly chances: SecondChances
}

/** Where a client is, and from where. */
export interface Whereabouts {
  readonly room: string | null
  readonly address: string
  /** What shares a budget: the address, or an IPv6 address's /64. */
  readonly group: string
}

export interface ReputationEvents {
  /** This client's last connection was cut for a message that was too large: it is to be told. */
  wasTooLarge(): void
  /** From now on it gets one diff every `intervalMs`, or everything as it comes (0). */
  paced(intervalMs: number): void
}

/** A client that has said nothing of itself this long after its question has no presence, ms: stock ones send both at once. */
const ANONYMOUS_AFTER_MS = 250

/** Who somebody is, to the server, across connections. */
const identityOf = (subject: string | null, group: string): string =>
  subject === null ? `address ${group}` : `subject ${subject}`

export class Reputation {
  readonly #deps: ReputationDeps
  readonly #where: Whereabouts
  readonly #subject: string | null
  readonly #limiter: RateLimiter
  readonly #events: ReputationEvents
  #id: number | null = null
  /** What it has taken over of somebody from its address, without the debt. */
  #inherited: KeptBudget | null = null
  #cancelPace: (() => void) | null = null
  #cancelAsk: (() => void) | null = null

  /** For a client that was granted access. `limiter` is its own and still full. */
  constructor(
    deps: ReputationDeps,
    where: Whereabouts,
    subject: string | null,
    limiter: RateLimiter,
    events: ReputationEvents,
  ) {
    this.#deps = deps
    this.#where = where
    this.#subject = subject
    this.#limiter = limiter
    this.#events = events
    this.#inherit()
  }

  /** It is in its room: what is known of a subject has its effect now. */
  joined(): void {
    this.#recognise()
  }
  /** Its presence id is known. */
  announced(id: number): void {
    if (this.#id === id) return
    this.#id = id
    this.#settleDebt()
    this.#recognise()
  }
  /** It brings something for the document. */
  writes(): void {
    this.#settleDebt()
  }
  /** It has asked for the board. `hasMore`: whether it has something that the room does not. */
  asked(hasMore: () => boolean): void {
    const { oversized, clock } = this.#deps
    const room = this.#room
    if (this.#key !== null || !oversized.has(this.#anonymous, room) || !hasMore()) return
    this.#cancelAsk?.()
    this.#cancelAsk = clock.after(ANONYMOUS_AFTER_MS, () => {
      if (this.#key === null && oversized.take(this.#anonymous, room)) this.#events.wasTooLarge()
    })
  }
  /** It could not keep up. */
  evicted(): void {
    if (this.#key !== null) this.#deps.chances.note(this.#key)
  }
  /** The socket layer cut it for its message's size. */
  cut(): void {
    this.#deps.oversized.note(this.#key ?? this.#anonymous, this.#room)
  }
  /** It has left its room. */
  left(): void {
    this.#cancelPace?.()
    this.#cancelAsk?.()
  }
  /** Its connection is over. */
  closed(): void {
    this.#settleDebt()
    this.#deps.budgets.keep(this.identity, { limiter: this.#limiter, id: this.#id })
  }

  get identity(): string {
    return identityOf(this.#subject, this.#where.group)
  }
  /** Who it is; null for one that cannot be told from others behind its address. */
  get #key(): string | null {
    if (this.#subject !== null) return `subject ${this.#subject}`
    return this.#id === null ? null : `${this.#where.address} ${this.#id}`
  }
  get #room(): string {
    return this.#where.room ?? ''
  }
  get #anonymous(): string {
    return `anonymous ${this.#where.address}`
  }

  /**
   * A subject goes on with what it had. Somebody from an address begins at worst with an empty budget, which lasts for the
   * wait for one token; a debt is taken over by who had it, or has not said who it is, when it writes (see `#settleDebt`).
   */
  #inherit(): void {
    const kept = this.#deps.budgets.take(this.identity)
    if (kept === null) return
    const { tokens, bytes } = kept.limiter.deficit
    if (this.#subject !== null) {
      this.#limiter.spend(tokens, bytes)
      return
    }
    const { maxTokens, burstBytes } = this.#limiter
    this.#limiter.spend(Math.min(tokens, maxTokens), Math.min(bytes, burstBytes))
    if (tokens > maxTokens || bytes > burstBytes) this.#inherited = kept
  }
  #settleDebt(): void {
    const kept = this.#inherited
    if (kept === null) return
    this.#inherited = null
    if (this.#id !== null && kept.id !== this.#id && kept.id !== null) {
      this.#deps.budgets.keep(this.identity, kept)
      return
    }
    const { tokens, bytes } = kept.limiter.deficit
    const { maxTokens, burstBytes } = this.#limiter
    this.#limiter.spend(Math.max(0, tokens - maxTokens), Math.max(0, bytes - burstBytes))
  }

  #recognise(): void {
    const key = this.#key
    if (key === null) return
    if (this.#deps.oversized.take(key, this.#room)) this.#events.wasTooLarge()
    else this.#pace(key)
  }
  /** A client that was evicted too often gets a coalesced stream, until its window is clean again (FC7). */
  #pace(key: string): void {
    const { chances, clock } = this.#deps
    const ms = chances.degradedForMs(key)
    this.#events.paced(ms > 0 ? chances.settings.intervalMs : 0)
    this.#cancelPace?.()
    this.#cancelPace = ms === 0 ? null : clock.after(ms, () => this.#pace(key))
  }
}
