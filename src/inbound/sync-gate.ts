/**
 * What one connection's budgets let through, and how what they dropped comes back (IN1, IN2).
 *
 * After the first dropped update all updates are dropped, because each would wait for its predecessor, until the SyncStep2
 * that answers our SyncStep1 has come; it holds everything its author has. The question is asked when the budget has
 * recovered. A SyncStep1 and the newest presence frame are not dropped but handled when there are tokens.
 */
import type { Clock } from '../observe/clock.ts'
import type { UpdateSummary } from '../protocol/update-check.ts'
import type { Repair } from '../room/repair.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Share of the token capacity that must be there before a limited client is asked to send again. */
const RECOVERED = 0.1
/** An answer of this many bytes costs as much as a frame: writing it takes about as long as applying one does. */
const ANSWER_BYTES_PER_TOKEN = 16_384

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
  #question: Uint8Array | null = null
  #presence: Uint8Array | null = null
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

  admitUpdate(length: number): boolean {
    if (!this.#dropping && this.#limiter.take(length)) return true
    this.#events.limited()
    this.lost()
    return false
  }

  /** The answer to our question is taken whatever it costs; what it costs is debt. Any other pays like an update. */
  admitAnswer(length: number): boolean {
    if (!this.#repair.awaiting) return this.admitUpdate(length)
    this.#limiter.spend(1, length)
    this.#mustAsk = false
    if (this.#dropping) this.#events.dropping(false)
    this.#dropping = false
    return true
  }

  admitQuestion(bytes: Uint8Array): boolean {
    if (this.#limiter.take(bytes.length)) return true
    this.#events.limited()
    this.#question = bytes.slice()
    this.#wake()
    return false
  }

  admitPresence(bytes: Uint8Array): boolean {
    if (this.#limiter.take(bytes.length)) return true
    this.#events.limited()
    this.#presence = bytes.slice()
    this.#wake()
    return false
  }

  /** Updates of this connection were lost before they reached the room. */
  lost(): void {
    if (!this.#dropping) this.#events.dropping(true)
    this.#dropping = true
    // A question that is out will bring them: frames arrive in order, so its answer was made after the loss.
    if (this.#repair.awaiting || this.#mustAsk) return
    this.#mustAsk = true
    this.#wake()
  }

  /** What an update costs beside its bytes: structs and shared types take many times their bytes in memory (IN5). */
  spendFor({ structs, types, subdocuments, containers }: UpdateSummary): void {
    const cost = Math.floor(structs / 512 + types / 128 + subdocuments + containers / 1024)
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
    this.#question = this.#presence = null
  }

  #wake(): void {
    if (this.#cancel !== null) return
    const { maxTokens } = this.#limiter
    const length = this.#question?.length ?? this.#presence?.length ?? 0
    const tokens = this.#mustAsk && this.#question === null ? Math.max(1, maxTokens * RECOVERED) : 1
    this.#cancel = this.#clock.after(Math.max(1, this.#limiter.msUntil(tokens, length)), () => {
      this.#cancel = null
      this.#due()
    })
  }

  #due(): void {
    const limiter = this.#limiter
    const question = this.#question
    const presence = this.#presence
    if (question !== null) {
      this.#question = null
      this.#events.putOff(question)
    } else if (presence !== null) {
      this.#presence = null
      this.#events.putOff(presence)
    }
    if (this.#mustAsk && limiter.tokens >= Math.max(1, limiter.maxTokens * RECOVERED) && limiter.bytes >= 0) {
      this.#mustAsk = false
      this.#events.repairing()
      this.#repair.request()
    }
    if (this.#question !== null || this.#presence !== null || this.#mustAsk) this.#wake()
  }
}
