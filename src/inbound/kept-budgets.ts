/**
 * Budgets of connections that are gone, by who had them: a token's subject, else the address group. Who comes next goes on with
 * the emptiest of them, so that reconnecting buys nothing (IN1); an office behind one address shares nothing else.
 */
import { RecentMap } from '../observe/recent-map.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** One that is kept. */
export interface KeptBudget {
  readonly limiter: RateLimiter
  /** The presence id that its client had announced as its own, if it had. */
  readonly id: number | null
}

/** Most clients and addresses remembered; over it the oldest are forgotten. */
const MAX_KEYS = 10_000
/** Most closed connections remembered of each. */
const MAX_PER_KEY = 64
/** Used up by less than this share, a budget is as good as a new one and is not kept. */
const NEARLY_FULL = 0.1

export class KeptBudgets {
  readonly #kept = new RecentMap<string, KeptBudget[]>(MAX_KEYS)

  keep(key: string, budget: KeptBudget): void {
    if (emptiness(budget.limiter) < NEARLY_FULL) return
    const kept = (this.#kept.get(key) ?? []).filter(({ limiter }) => emptiness(limiter) >= NEARLY_FULL)
    kept.push(budget)
    if (kept.length > MAX_PER_KEY) kept.shift()
    this.#kept.set(key, kept)
  }

  /** Takes out the emptiest; null when there is none. */
  take(key: string): KeptBudget | null {
    const kept = this.#kept.get(key)
    if (kept === undefined) return null
    let emptiest = 0
    for (const [i, { limiter }] of kept.entries()) {
      if (emptiness(limiter) > emptiness(kept[emptiest]!.limiter)) emptiest = i
    }
    const [budget] = kept.splice(emptiest, 1) as [KeptBudget]
    if (kept.length === 0) this.#kept.delete(key)
    return budget
  }
}

/** 0 full, 1 empty, up to 2 in debt: of frames or of bytes, whichever is used up more. */
function emptiness(limiter: RateLimiter): number {
  const { tokens, bytes } = limiter.deficit
  return Math.max(tokens / limiter.maxTokens, bytes / limiter.burstBytes)
}
