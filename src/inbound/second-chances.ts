/**
 * Clients that were evicted, by who they are: a token's subject, else address and presence id, never a whole office. One
 * that could not keep up three times in ten minutes has a network that cannot carry the full stream: it comes back to a
 * coalesced one instead of a reconnect loop, until a whole window has passed without another eviction (FC7).
 */
import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'

export interface SecondChanceSettings {
  /** `WS_EVICTIONS_BEFORE_DEGRADED`; 0: never. */
  readonly evictions: number
  /** `WS_EVICTION_WINDOW_MS` */
  readonly windowMs: number
  /** `WS_DEGRADED_INTERVAL_MS` */
  readonly intervalMs: number
}

/** Most clients remembered; over it those whose last eviction is longest ago are forgotten. */
const MAX_CLIENTS = 10_000

export class SecondChances {
  readonly settings: SecondChanceSettings
  readonly #clock: Clock
  readonly #evictions = new RecentMap<string, number[]>(MAX_CLIENTS)

  constructor(settings: SecondChanceSettings, clock: Clock) {
    this.settings = settings
    this.#clock = clock
  }

  note(client: string): void {
    const { evictions, windowMs } = this.settings
    if (evictions === 0) return
    const now = this.#clock.now()
    const times = (this.#evictions.get(client) ?? []).filter((at) => now - at < windowMs)
    times.push(now)
    this.#evictions.set(client, times.slice(-evictions))
  }

  /** How long this client stays degraded if nothing more happens, ms; 0 when it is not. */
  degradedForMs(client: string): number {
    const { evictions, windowMs } = this.settings
    const times = this.#evictions.get(client)
    if (times === undefined || times.length < evictions) return 0
    const now = this.#clock.now()
    const [first, last] = [times[0]!, times.at(-1)!]
    // Three within a window made it so; a window after the last one makes it good.
    return last - first < windowMs ? Math.max(0, last + windowMs - now) : 0
  }
}
