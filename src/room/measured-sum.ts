/**
 * A figure of a document that is dear to read: a sum of what was added, which can only be too high, until it passes a limit;
 * then it is measured, a little at a time with the loop free in between. Nothing is over the limit that was not measured
 * to be, and what was is measured again as soon as it may have become less.
 *   add ──▶ sum over the limit? ──▶ measure in slices ──▶ isOver, and the sum is what was found
 */
import type { Clock } from '../observe/clock.ts'

/** Longest stretch of measuring, ms. */
const SLICE_MS = 5
/** Least time between two measurements, ms; and measuring takes a twentieth of a core at most. */
const MEASURE_INTERVAL_MS = 1000
const MEASURE_SHARE = 1 / 20

export class MeasuredSum {
  readonly #limit: number
  readonly #clock: Clock
  readonly #read: () => Iterable<number>
  #value = 0
  #isOver = false
  #isMeasuring = false
  /** Something was added or taken away since the measurement began: it may have missed it. */
  #isStale = false
  #notBefore = Number.NEGATIVE_INFINITY
  #isStopped = false

  /** `read` gives what is there now in pieces, each of them quick to find. */
  constructor(limit: number, clock: Clock, read: () => Iterable<number>) {
    this.#limit = limit
    this.#clock = clock
    this.#read = read
  }

  /** At most this much is there. */
  get value(): number {
    return this.#value
  }
  /** More than the limit was there when it was last measured. */
  get isOver(): boolean {
    return this.#isOver
  }

  add(amount: number): void {
    this.#value += amount
    this.#isStale = true
    if (this.#value > this.#limit) this.#measure()
  }
  /** There may be less than there was. */
  changed(): void {
    this.add(0)
  }
  stop(): void {
    this.#isStopped = true
  }

  #measure(): void {
    if (this.#isMeasuring || this.#isStopped) return
    this.#isMeasuring = true
    const wait = Math.max(0, this.#notBefore - this.#clock.now())
    this.#clock.after(wait, () => {
      this.#isStale = false
      this.#step(this.#read()[Symbol.iterator](), 0, this.#value, 0)
    })
  }
  #step(pieces: Iterator<number>, sum: number, valueBefore: number, spentMs: number): void {
    if (this.#isStopped) return
    const started = this.#clock.now()
    let total = sum
    for (let piece = pieces.next(); piece.done !== true; piece = pieces.next()) {
      total += piece.value
      const took = this.#clock.now() - started
      if (took < SLICE_MS) continue
      this.#clock.soon(() => this.#step(pieces, total, valueBefore, spentMs + took))
      return
    }
    if (this.#isStopped) return
    const now = this.#clock.now()
    this.#notBefore = now + Math.max(MEASURE_INTERVAL_MS, (spentMs + now - started) / MEASURE_SHARE)
    this.#isMeasuring = false
    this.#isOver = total > this.#limit
    // What was added meanwhile may or may not be in what was found.
    this.#value = total + (this.#value - valueBefore)
    if (this.#value > this.#limit && this.#isStale) this.#measure()
  }
}
