/** How long one room collects updates and presence before they leave, as the loop is now. */
import type { Gatherer } from './gathering.ts'

export interface TempoSettings {
  /** `ROOM_FLUSH_INTERVAL_MS` */
  readonly flushIntervalMs: number
  /** `AWARENESS_FLUSH_INTERVAL_MS` */
  readonly presenceIntervalMs: number
}

/** Presence of a room that gathers is sent this often at most: 30 cursor positions a second, ms. */
const GATHERED_PRESENCE_MS = 33
/** While the loop is busy presence is thinned first: with the greatest pressure it takes three times as long. */
const PRESENCE_THINNED = 2

export class Tempo {
  readonly #gatherer: Gatherer
  readonly #settings: TempoSettings

  constructor(gatherer: Gatherer, settings: TempoSettings) {
    this.#gatherer = gatherer
    this.#settings = settings
  }

  /** Of updates, ms; 0: they leave at once. */
  get updatesMs(): number {
    const { flushIntervalMs } = this.#settings
    if (flushIntervalMs === 0) return 0
    const { spacingMs } = this.#gatherer
    return spacingMs === 0 ? 0 : Math.max(spacingMs, flushIntervalMs)
  }
  /** Of presence, ms. */
  get presenceMs(): number {
    const { presenceIntervalMs } = this.#settings
    if (presenceIntervalMs === 0) return 0
    const thinned = presenceIntervalMs * (1 + PRESENCE_THINNED * this.#gatherer.pressure)
    return this.updatesMs === 0 ? thinned : Math.max(thinned, GATHERED_PRESENCE_MS)
  }
}
