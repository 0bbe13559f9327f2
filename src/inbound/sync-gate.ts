/**
 * What one connection's budget for document frames lets through, and how what it dropped comes back (IN1, IN2).
 *
 * After the first dropped update all updates are dropped, because each would wait for its predecessor, until the SyncStep2
 * that answers our SyncStep1 has come; it holds everything its author has. The question is asked when the budget has
 * recovered, and soon in any case: what was dropped is with its author alone until then, and lost with it (SP2). A
 * SyncStep1 of the client's is not dropped but handled when there are tokens.
 */
import type { Clock } from '../observe/clock.ts'
import type { Repair } from '../room/repair.ts'
import type { UpdateSummary } from '../update/update-check.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Share of the token capacity that must be there before a limited client is asked to send again. */
const RECOVERED = 0.1
/** A limited client is asked this long after the first dropped update at the latest, ms: with the way there and back, 2 s. */
const ASK_WITHIN_MS = 1_500
/** Unless it owes more than this share of the byte burst: an answer may be a whole board, and is taken whatever it costs. */
const DEEP_DEBT = 0.5
/** An answer up to this is no board: taken in any debt. */
const SHORT_ANSWER_BYTES = 65_536
/** An answer of this many bytes costs as much as a frame: writing it takes about as long as applying one does. */
const ANSWER_BYTES_PER_TOKEN = 16_384
/** A state vector of this many authors costs as much as a frame: reading one makes a map of them. */
const AUTHORS_PER_TOKEN = 512

/** What an update costs beside its bytes, tokens: structs and shared types take many times their bytes in memory (IN5). */
export const structTokens = ({ structs, types, subdocuments, containers }: UpdateSummary): number =>
  Math.floor(structs / 512 + types / 128 + subdocuments + containers / 1024)

export interface GateEvents {
  /** A frame is over the budget: dropped or put off. */
  limited(): void
  /** Updates are dropped from now on, or are taken again. */
  dropping(isDropping: boolean): void
  /** What was dropped is asked for. */
  repairing(): void
  /** A frame that was put off is due. */
  putOff(bytes: Uint8Array): void
}

export class SyncGate {
  readonly #limiter: RateLimiter
  readonly #repair: Repair
  readonly #clock: Clock
  readonly #events: GateEvents
  /** Updates were dropped and the answer that holds them has not come. */
  #dropping = false
  #mustAsk = false
  /** When what was dropped is asked for although the budget has not recovered, clock ms. */
  #askBy = 0
  #question: Uint8Array | null = null
  #cancel: (() => void) | null = null

  constructor(limiter: RateLimiter, repair: Repair, clock: Clock, events: GateEvents) {
    this.#limiter = limiter
    this.#repair = repair
    this.#clock = clock
    this.#events = events
  }

  /** Whether updates are being dropped. */
  get isLimited(): boolean {
    return this.#dropping
  }
  /** Bytes of a question that waits. */
  get heldBytes(): number {
    return this.#question?.length ?? 0
  }

  admitUpdate(length: number): boolean {
    if (!this.#dropping && this.#limiter.take(length)) return true
    this.#events.limited()
    this.lost()
    return false
  }

  /**
   * The answer to our question is taken whatever it costs; what it costs is debt. Any other pays like an update. A long one of
   * a client that is deep in debt already has to wait: whoever leaves gaps to be asked would be taken a board with each.
   */
  admitAnswer(length: number): boolean {
    if (!this.#repair.awaiting) return this.admitUpdate(length)
    if (length > SHORT_ANSWER_BYTES && this.#limiter.bytes < -this.#limiter.burstBytes * DEEP_DEBT) {
      this.#events.limited()
      this.#repair.answered()
      this.lost()
      return false
    }
    this.#limiter.spend(1, length)
    this.#mustAsk = false
    if (this.#dropping) this.#events.dropping(false)
    this.#dropping = false
    return true
  }

  admitQuestion(bytes: Uint8Array): boolean {
    if (this.#question === null && this.#limiter.take(bytes.length)) return true
    this.#events.limited()
    const isFirst = this.#question === null
    this.#question = bytes.slice()
    if (isFirst) this.#arm()
    return false
  }

  /** Updates of this connection were lost before they reached the room. */
  lost(): void {
    if (!this.#dropping) this.#events.dropping(true)
    this.#dropping = true
    // A question that is out will bring them: frames arrive in order, so its answer was made after the loss.
    if (this.#repair.awaiting || this.#mustAsk) return
    this.#mustAsk = true
    this.#askBy = this.#clock.now() + ASK_WITHIN_MS
    this.#arm()
  }

  /** What reading a SyncStep1 with this many authors costs beside its frame. */
  spendForVector(authors: number): void {
    const cost = Math.floor(authors / AUTHORS_PER_TOKEN)
    if (cost > 0) this.#limiter.spend(cost, 0)
  }

  /** What a SyncStep1 costs beside its frame: replies are not free. Bounded, so that a cold join of a big board is fine. */
  spendForAnswer(bytes: number): void {
    const cost = Math.min(this.#limiter.maxTokens / 2, Math.floor(bytes / ANSWER_BYTES_PER_TOKEN))
    if (cost > 0) this.#limiter.spend(cost, 0)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#question = null
  }

  /** Wakes when the first thing that waits is due. */
  #arm(): void {
    this.#cancel?.()
    let ms = Number.POSITIVE_INFINITY
    if (this.#question !== null) ms = this.#limiter.msUntil(1, this.#question.length)
    if (this.#mustAsk) ms = Math.min(ms, this.#msUntilAsk())
    this.#cancel = this.#clock.after(Math.max(1, ms), () => {
      this.#cancel = null
      this.#due()
    })
  }
  #msUntilAsk(): number {
    const { maxTokens, burstBytes } = this.#limiter
    const recovered = this.#limiter.msUntil(Math.max(1, maxTokens * RECOVERED), 0)
    const payable = this.#limiter.msUntil(Number.NEGATIVE_INFINITY, -burstBytes * DEEP_DEBT)
    return Math.min(recovered, Math.max(payable, this.#askBy - this.#clock.now()))
  }

  #due(): void {
    const question = this.#question
    if (question !== null && this.#limiter.msUntil(1, question.length) === 0) {
      this.#question = null
      this.#events.putOff(question)
    }
    if (this.#mustAsk && this.#msUntilAsk() <= 0) {
      this.#mustAsk = false
      this.#events.repairing()
      this.#repair.request()
    }
    if (this.#question !== null || this.#mustAsk) this.#arm()
  }
}
