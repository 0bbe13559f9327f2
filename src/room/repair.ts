/**
 * What one connection still owes the room: the answer to a SyncStep1, and the parts of its updates that wait for a
 * predecessor. A part never waits inside the document, where it would cost every later update and ride along in every
 * reply (IN4): it waits here, under a bound, and the author is asked for what is missing.
 */
import type { Clock } from '../observe/clock.ts'
import type { Gap } from '../update/update-gaps.ts'

/** An update that cannot be applied yet, or the part of one that could not. */
export interface ParkedPart {
  readonly update: Uint8Array
  /** Per author the clock that it waits for. */
  readonly missing: ReadonlyMap<number, number>
}

const NONE: readonly ParkedPart[] = []

/** Most bytes of one connection's parked parts. Over it they are let go: the answer to the next SyncStep1 has them. */
const MAX_PARKED_BYTES = 65_536
/** What one part counts beside its bytes: every flush looks at each, so that there must not be many. */
const PART_OVERHEAD = 1024
/** An unanswered SyncStep1 is asked again after this long, then after twice as long, up to the last. */
const FIRST_REASK_MS = 1_000
const LAST_REASK_MS = 30_000
/** Two asks of one connection are never closer than this: an answer carries a whole delete set. */
const MIN_ASK_INTERVAL_MS = 250

/** Who sends the connection a SyncStep1 with the document's vector of that moment. */
export interface Asker {
  ask(): void
}

export class Repair {
  readonly #clock: Clock
  readonly #asker: Asker
  #parked: readonly ParkedPart[] = NONE
  #parkedBytes = 0
  #awaiting = false
  /** Answers that are here and not yet in the document. */
  #answersWaiting = 0
  /** A gap that the author was asked about, and whether its answer has been taken in since. */
  #gap: Gap | null = null
  #isAnswered = false
  #askedAt = Number.NEGATIVE_INFINITY
  #attempts = 0
  #cancel: (() => void) | null = null
  /** The connection is gone; what it sent may still be on its way into the document. */
  #isOver = false

  constructor(clock: Clock, asker: Asker) {
    this.#clock = clock
    this.#asker = asker
  }

  /** Whether a SyncStep1 is out: one SyncStep2 is then taken whatever the budgets say. */
  get awaiting(): boolean {
    return this.#awaiting
  }
  /**
   * Whether an answer is on its way, or here and not yet in the document. It holds all that its author had, and comes behind
   * whatever is looked at now: what that lacks need not be kept, nor asked for.
   */
  get isAnswerDue(): boolean {
    return this.#awaiting || this.#answersWaiting > 0
  }
  get parkedBytes(): number {
    return this.#parkedBytes
  }
  get parked(): readonly ParkedPart[] {
    return this.#parked
  }

  /**
   * Asks the connection for what the room misses, now or as soon as the last ask is old enough. An ask that is still out is
   * enough: frames arrive in order, so an answer that comes after a loss was made after it.
   */
  request(): void {
    if (this.#awaiting || this.#isOver) return
    const wait = this.#askedAt + MIN_ASK_INTERVAL_MS - this.#clock.now()
    if (wait <= 0) this.#send()
    else this.#schedule(wait)
  }

  /**
   * An update of this connection lacks something, and no answer is due that would bring it. True: that is an offence, since the
   * same was asked before, and the answer had not got it. `stateOf` gives an author's next clock.
   */
  noteGap(gap: Gap, stateOf: (client: number) => number): boolean {
    const isRepeated = this.#gap !== null && this.#isAnswered && stateOf(this.#gap.client) <= this.#gap.clock
    this.#gap = gap
    this.#isAnswered = false
    return isRepeated
  }

  /** An answer has come, and waits for its turn. */
  answerCame(): void {
    this.#answersWaiting++
    this.answered()
  }
  /** It is in the document, or refused. */
  answerTaken(): void {
    this.#answersWaiting--
    this.#isAnswered = true
  }

  /** Asks anew, whatever was asked before: the document is another one. What was parked is in the answer. */
  restart(): void {
    this.answered()
    this.request()
  }

  /** The SyncStep2 is here. It holds everything its author has, so what was parked is in it. */
  answered(): void {
    this.#awaiting = false
    this.#attempts = 0
    this.#cancel?.()
    this.#cancel = null
    this.clear()
  }

  /** Keeps a part. False: the bound was reached and everything parked was let go. Of a client that is gone nothing is kept. */
  park(part: ParkedPart): boolean {
    if (this.#isOver) return true
    this.#parkedBytes += part.update.length + PART_OVERHEAD
    if (this.#parkedBytes > MAX_PARKED_BYTES) {
      this.clear()
      return false
    }
    this.#parked = [...this.#parked, part]
    return true
  }

  /** Takes out the parts for which something they waited for has come. `stateOf` gives an author's next clock. */
  takeReady(stateOf: (client: number) => number): ParkedPart[] {
    const ready = this.#parked.filter(({ missing }) => {
      for (const [client, clock] of missing) if (clock < stateOf(client)) return true
      return false
    })
    if (ready.length === 0) return ready
    this.#parked = this.#parked.filter((part) => !ready.includes(part))
    this.#parkedBytes = this.#parked.reduce((sum, part) => sum + part.update.length + PART_OVERHEAD, 0)
    return ready
  }

  clear(): void {
    this.#parked = NONE
    this.#parkedBytes = 0
  }
  /** The connection is gone: nobody is asked from now on. */
  stop(): void {
    this.#isOver = true
    this.#cancel?.()
    this.#cancel = null
    this.#awaiting = false
    this.clear()
  }

  #send(): void {
    this.#awaiting = true
    this.#askedAt = this.#clock.now()
    this.#attempts++
    this.#asker.ask()
    this.#schedule(Math.min(FIRST_REASK_MS * 2 ** (this.#attempts - 1), LAST_REASK_MS))
  }
  #schedule(ms: number): void {
    this.#cancel?.()
    this.#cancel = this.#clock.after(ms, () => {
      this.#cancel = null
      this.#send()
    })
  }
}
