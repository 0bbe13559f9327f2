/**
 * What one connection's budget for presence lets through (SP1). Presence in excess is superseded: of each id the newest frame
 * waits until there is budget again, for free, and what it replaces is gone. Nothing of it touches the budget for document
 * frames: a pointer that reports at 144 Hz must not keep its own user's edits from being sent.
 */
import type { Clock } from '../observe/clock.ts'
import type { Counter } from '../observe/counters.ts'
import { soleId } from '../protocol/presence-frame.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Most frames that wait: one connection has a few ids (`MAX_PRESENCE_IDS_PER_CONNECTION`). Over it the oldest goes. */
const MAX_WAITING = 16
/** What a frame takes beside the state in it. */
const HEAD_BYTES = 32

export interface PresenceGateEvents {
  /** A frame's payload that waited is due. */
  presenceDue(payload: Uint8Array): void
  /** "Who is here?", asked over the budget, may be answered. */
  queryDue(): void
}

export class PresenceGate {
  readonly #limiter: RateLimiter
  readonly #clock: Clock
  readonly #superseded: Counter
  readonly #events: PresenceGateEvents
  readonly #mostBytes: number
  /** The newest payload of each id; frames with several entries share a place. */
  #waiting: Map<number, Uint8Array> | null = null
  /** Bytes that the answer to a query takes which waits; -1 for none. */
  #queryBytes = -1
  #cancel: (() => void) | null = null
  #echoedBytes = 0
  #heldBytes = 0

  /**
   * `superseded` counts the frames that a newer one took the place of. `maxStateBytes`: what waits is bounded by as many of the
   * largest states as frames may wait; nobody has looked yet at what is in them.
   */
  constructor(
    limiter: RateLimiter,
    clock: Clock,
    maxStateBytes: number,
    superseded: Counter,
    events: PresenceGateEvents,
  ) {
    this.#limiter = limiter
    this.#mostBytes = MAX_WAITING * (maxStateBytes + HEAD_BYTES)
    this.#clock = clock
    this.#superseded = superseded
    this.#events = events
  }

  /** Whether a frame is to be handled now. `payload` is only lent: what waits is a copy. */
  admit(payload: Uint8Array): boolean {
    // While anything waits all wait, in turn: a pointer that never rests would keep a sibling tab's state from its place.
    if (this.#waiting === null && this.#limiter.take(payload.length)) return true
    this.#waiting ??= new Map()
    const id = soleId(payload)
    this.#supersede(this.#waiting, id)
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size < MAX_WAITING && this.#heldBytes + payload.length <= this.#mostBytes) break
      this.#supersede(this.#waiting, oldest)
    }
    if (payload.length > this.#mostBytes) this.#superseded.add()
    else {
      this.#waiting.set(id, payload.slice())
      this.#heldBytes += payload.length
    }
    if (this.#waiting.size > 0) this.#wake(payload.length)
    else this.#waiting = null
    return false
  }

  /** Whether a query is to be answered now. `bytes` is what the answer takes: one byte can ask for a whole room. */
  admitQuery(bytes: number): boolean {
    if (this.#limiter.take(bytes)) return true
    if (this.#queryBytes >= 0) this.#superseded.add()
    this.#queryBytes = bytes
    this.#wake(bytes)
    return false
  }

  /** An echo of `length` bytes. They are free up to `sent`, what the client was sent; beyond that they pay like any other presence. */
  echoed(length: number, sent: number): void {
    this.#echoedBytes += length
    if (this.#echoedBytes <= sent) return
    this.#limiter.spend(1, this.#echoedBytes - sent)
    this.#echoedBytes = sent
  }

  /** Bytes that wait. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#waiting = null
    this.#heldBytes = 0
    this.#queryBytes = -1
  }

  #supersede(waiting: Map<number, Uint8Array>, id: number): void {
    const payload = waiting.get(id)
    if (payload === undefined) return
    this.#forget(waiting, id, payload)
    this.#superseded.add()
  }
  #forget(waiting: Map<number, Uint8Array>, id: number, payload: Uint8Array): void {
    waiting.delete(id)
    this.#heldBytes -= payload.length
  }

  #wake(length: number): void {
    if (this.#cancel !== null) return
    this.#cancel = this.#clock.after(Math.max(1, this.#limiter.msUntil(1, length)), () => {
      this.#cancel = null
      this.#due()
    })
  }
  #due(): void {
    const waiting = this.#waiting
    if (waiting !== null) {
      for (const [id, payload] of waiting) {
        if (!this.#limiter.take(payload.length)) {
          this.#wake(payload.length)
          return
        }
        this.#forget(waiting, id, payload)
        this.#events.presenceDue(payload)
        // Handling it may have ended the connection.
        if (this.#waiting !== waiting) return
      }
      this.#waiting = null
    }
    if (this.#queryBytes < 0) return
    if (!this.#limiter.take(this.#queryBytes)) {
      this.#wake(this.#queryBytes)
      return
    }
    this.#queryBytes = -1
    this.#events.queryDue()
  }
}
