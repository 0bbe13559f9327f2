/**
 * Sends as people do: each sender at times of its own (exponential gaps), whatever the others and the server do (an open loop).
 * Sends that fall due together leave in turns of the loop of their own, so that no server gets several in one read that
 * nobody sent together: work that is merged for free flatters who is measured.
 */
import { seededRandom } from './script.ts'

const TICK_MS = 1
/** A sender so far behind that the load cannot keep up: what it should have sent is left out and counted. */
const TOO_LATE_PERIODS = 6

export class Pace {
  readonly #random = seededRandom(7)
  readonly #run: ((now: number) => void)[] = []
  readonly #period: number[] = []
  #due = new Float64Array(0)
  #timer: NodeJS.Timeout | null = null
  /** Senders that are due, in random order. */
  #queue: number[] = []
  #isSending = false
  /** Sends left out because the load itself was behind. */
  skipped = 0

  add(perSecond: number, run: (now: number) => void): void {
    if (perSecond <= 0) return
    this.#run.push(run)
    this.#period.push(1000 / perSecond)
  }

  start(): void {
    const now = performance.now()
    this.#due = Float64Array.from(this.#period, (period) => now + this.#gap(period))
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#queue = []
  }

  #tick(): void {
    if (this.#isSending) return
    const now = performance.now()
    const due = this.#due
    for (let i = 0; i < due.length; i++) if (due[i]! <= now) this.#queue.push(i)
    this.#shuffle()
    if (this.#queue.length > 0) this.#sendNext()
  }

  /** A send's own time counts as its beginning, so a late timer makes no delay. */
  readonly #sendNext = (): void => {
    const next = this.#queue.pop()
    this.#isSending = next !== undefined
    if (next === undefined) return
    const now = performance.now()
    this.#run[next]!(now)
    const period = this.#period[next]!
    this.#due[next]! += this.#gap(period)
    const late = now - this.#due[next]!
    if (late > TOO_LATE_PERIODS * period) {
      this.skipped += Math.floor(late / period)
      this.#due[next] = now + this.#gap(period)
    }
    setImmediate(this.#sendNext)
  }

  #gap(period: number): number {
    return -Math.log(1 - this.#random()) * period
  }
  #shuffle(): void {
    const queue = this.#queue
    for (let i = queue.length - 1; i > 0; i--) {
      const other = Math.floor(this.#random() * (i + 1))
      ;[queue[i], queue[other]] = [queue[other]!, queue[i]!]
    }
  }
}
