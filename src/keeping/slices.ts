/**
 * Long work, cut: whoever loads or compacts a board takes turns here, one per turn of the event loop, out of the
 * budget that all work shares, so that ten boards loading at once stall nobody longer than one does (ST9, LT1).
 */
import { Account, type Job } from '../budget/account.ts'
import type { LoopTime } from '../budget/loop-time.ts'

export class Slices {
  readonly #loop: LoopTime
  readonly #turns: Turns
  #exclusive: Promise<void> = Promise.resolve()

  constructor(loop: LoopTime) {
    this.#loop = loop
    this.#turns = new Turns(loop)
  }

  /** Waits for a turn. It begins when this resolves, and lasts until `over()` says so or the work ends. */
  turn(): Promise<Slice> {
    return this.#turns.next()
  }

  /** Runs `work` when no other such work is running: compactions hold a whole board's bytes, one at a time. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#exclusive
    const mine = before.then(work)
    this.#exclusive = mine.then(
      () => undefined,
      () => undefined,
    )
    return mine
  }

  /** Nobody's turn comes any more. */
  stop(): void {
    this.#loop.forget(this.#turns)
  }
}

/** Who waits: all boards together count as one account. */
class Turns implements Job {
  readonly kind = 'load'
  readonly account = new Account()
  readonly #loop: LoopTime
  readonly #waiting: ((slice: Slice) => void)[] = []

  constructor(loop: LoopTime) {
    this.#loop = loop
  }

  next(): Promise<Slice> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#loop.defer(this)
    })
  }

  run(started: number, until: number): void {
    this.#waiting.shift()?.(new Slice(this.account, this.#loop, started, until))
    if (this.#waiting.length > 0) this.#loop.defer(this)
    // The work itself is behind the promise: whatever else would run in this turn would come on top of it.
    this.#loop.handOver()
  }
}

/** One turn. */
export class Slice {
  readonly #account: Account
  readonly #loop: LoopTime
  readonly #ends: number
  /** When `over` was asked last, or the turn began, clock ms. */
  at: number
  /** What the work took until then, from the time before, ms. */
  lap = 0

  constructor(account: Account, loop: LoopTime, started: number, ends: number) {
    this.#account = account
    this.#loop = loop
    this.#ends = ends
    this.at = started
  }

  /** The work goes on after it waited for something, which was none of the loop's time. As `over`. */
  resume(): boolean {
    this.at = this.#loop.clock.now()
    return this.at >= this.#ends
  }
  /** Whether its time is up: ask for the next one. */
  over(): boolean {
    const now = this.#loop.clock.now()
    this.lap = now - this.at
    this.#loop.charge(this.#account, this.lap)
    this.at = now
    return now >= this.#ends
  }
}
