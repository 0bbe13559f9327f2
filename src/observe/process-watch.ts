/** What is looked at on a timer because asking on demand would miss it or cost too much: loop lag and resident memory. */
import { type Clock, every } from './clock.ts'
import { RecentMax } from './counters.ts'

/** How often the loop's lag is measured, ms. */
const LAG_INTERVAL_MS = 100
/** How often resident memory is read, ms. */
const MEMORY_INTERVAL_MS = 1_000

export class ProcessWatch {
  readonly #clock: Clock
  readonly #lag = new RecentMax()
  readonly #stop: readonly (() => void)[]
  /** Resident memory at the last look, bytes. */
  residentBytes = process.memoryUsage.rss()

  constructor(clock: Clock) {
    this.#clock = clock
    let due = clock.now() + LAG_INTERVAL_MS
    this.#stop = [
      every(clock, LAG_INTERVAL_MS, () => {
        const now = clock.now()
        this.#lag.note(Math.max(0, now - due) / 1000, now)
        due = now + LAG_INTERVAL_MS
      }),
      every(clock, MEMORY_INTERVAL_MS, () => {
        this.residentBytes = process.memoryUsage.rss()
      }),
    ]
  }

  /** How late a timer was, worst of the last minute, seconds. */
  get lagSeconds(): number {
    return this.#lag.get(this.#clock.now())
  }
  stop(): void {
    for (const stop of this.#stop) stop()
  }
}
