/**
 * A figure of a document that is dear to read: a sum of what was added, which can only be too high, until it passes a limit;
 * then it is measured, out of the loop's budget. Nothing is over the limit that was not measured
 * to be, and what was is measured again as soon as it may have become less.
 *   add ──▶ sum over the limit? ──▶ measure in slices ──▶ isOver, and the sum is what was found
 */
import type { Account, Job } from '../budget/account.ts'
import type { LoopTime } from '../budget/loop-time.ts'

/**
 * Least time between two measurements, ms; and measuring takes a tenth of a core at most. In between a board can grow by what
 * its writers may send: reading one of 16 MB takes 0.4 s, so that is four seconds.
 */
const MEASURE_INTERVAL_MS = 1000
const MEASURE_SHARE = 1 / 10

/** A measurement under way. */
interface Reading {
  readonly pieces: Iterator<number>
  readonly valueBefore: number
  total: number
  spentMs: number
}

export class MeasuredSum implements Job {
  readonly kind = 'measure'
  readonly #limit: number
  readonly #loop: LoopTime
  readonly #read: () => Iterable<number>
  #value = 0
  #isOver = false
  #isMeasuring = false
  /** Something was added or taken away since the measurement began: it may have missed it. */
  #isStale = false
  #notBefore = Number.NEGATIVE_INFINITY
  #isStopped = false
  #reading: Reading | null = null

  /** `read` gives what is there now in pieces, each of them quick to find. */
  constructor(limit: number, loop: LoopTime, read: () => Iterable<number>) {
    this.#limit = limit
    this.#loop = loop
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
    this.#loop.forget(this)
  }

  #measure(): void {
    if (this.#isMeasuring || this.#isStopped) return
    this.#isMeasuring = true
    const { clock } = this.#loop
    clock.after(Math.max(0, this.#notBefore - clock.now()), () => {
      if (this.#isStopped) return
      this.#isStale = false
      this.#reading = { pieces: this.#read()[Symbol.iterator](), valueBefore: this.#value, total: 0, spentMs: 0 }
      this.#loop.defer(this)
    })
  }

  /** As a job of the loop's, nobody's in particular. */
  get account(): Account {
    return this.#loop.common
  }
  run(started: number, until: number): void {
    const reading = this.#reading
    if (reading === null || this.#isStopped) return
    let now = started
    let piece = reading.pieces.next()
    while (piece.done !== true) {
      reading.total += piece.value
      now = this.#loop.clock.now()
      if (now >= until) break
      piece = reading.pieces.next()
    }
    reading.spentMs += now - started
    this.#loop.charge(this.account, now - started)
    if (this.#isStopped) return
    if (piece.done === true) this.#measured(reading, now)
    else this.#loop.defer(this)
  }
  #measured({ total, valueBefore, spentMs }: Reading, now: number): void {
    this.#reading = null
    this.#notBefore = now + Math.max(MEASURE_INTERVAL_MS, spentMs / MEASURE_SHARE)
    this.#isMeasuring = false
    this.#isOver = total > this.#limit
    // What was added meanwhile may or may not be in what was found.
    this.#value = total + (this.#value - valueBefore)
    if (this.#value > this.#limit && this.#isStale) this.#measure()
  }
}
