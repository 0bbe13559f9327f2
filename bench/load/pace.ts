/**
 * Sends at fixed rates, each sender in a phase of its own, whatever the server does (an open loop): one timer for all. A
 * send's own time counts as its beginning, so a late timer makes no delay.
 */
import { seededRandom } from './script.ts'

const TICK_MS = 1
/** So late that the load cannot keep up: the sends are left out and counted. */
const TOO_LATE_PERIODS = 4

export class Pace {
  readonly #random = seededRandom(7)
  readonly #run: ((now: number) => void)[] = []
  readonly #period: number[] = []
  #due = new Float64Array(0)
  #timer: NodeJS.Timeout | null = null
  /** Sends left out because the load itself was behind. */
  skipped = 0

  add(perSecond: number, run: (now: number) => void): void {
    if (perSecond <= 0) return
    this.#run.push(run)
    this.#period.push(1000 / perSecond)
  }

  start(): void {
    const now = performance.now()
    this.#due = Float64Array.from(this.#period, (period) => now + this.#random() * period)
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #tick(): void {
    const due = this.#due
    const started = performance.now()
    for (let i = 0; i < due.length; i++) {
      if (due[i]! > started) continue
      const period = this.#period[i]!
      this.#run[i]!(performance.now())
      // People are not metronomes: a tenth early or late.
      due[i]! += period * (0.9 + 0.2 * this.#random())
      if (due[i]! < started - TOO_LATE_PERIODS * period) {
        this.skipped += Math.floor((started - due[i]!) / period)
        due[i] = started + period
      }
    }
  }
}
