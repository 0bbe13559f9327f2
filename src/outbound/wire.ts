/**
 * One socket with exact accounts: what was handed to it, what has left, and since when it has been congested.
 *   outbox ──write──▶ wire ──▶ sink
 */
import type { Clock } from '../observe/clock.ts'
import type { MessageType, Metrics } from '../observe/metrics.ts'
import { webSocketHeaderBytes } from '../protocol/frames.ts'
import type { Drainable, DrainScheduler } from './drain-scheduler.ts'
import { Flight } from './flight.ts'
import type { FlowLimits } from './flow-policy.ts'
import type { FrameSink } from './frame-sink.ts'
import type { PresenceFrame, SyncFrame } from './outgoing.ts'

/** Bytes that have to drain to restart the congestion clock (FC6). */
const PROGRESS_BYTES = 65_536

/** Shared by all wires of a server. */
export interface WireDeps {
  readonly settings: Pick<FlowLimits, 'softBytes'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly scheduler: DrainScheduler
}

export class Wire {
  readonly #sink: FrameSink
  readonly #deps: WireDeps
  readonly #owner: Drainable
  readonly #flight = new Flight()
  #congestedSince: number | null = null
  #progressMark = 0
  #uncuttableEnd = 0
  /** When this client was last given an application frame, clock ms (FR5). */
  lastFrameAt: number
  /** Bytes of presence this client was given: what it may send back for free (IN3). */
  presenceBytes = 0

  /** `owner` is looked at again while bytes are waiting. */
  constructor(sink: FrameSink, deps: WireDeps, owner: Drainable) {
    this.#sink = sink
    this.#owner = owner
    this.#deps = deps
    this.lastFrameAt = deps.clock.now()
  }

  /** Whether everything written has left. */
  get isEmpty(): boolean {
    return this.#flight.isEmpty
  }
  get oldestUnsentAt(): number | null {
    return this.#flight.oldestAt
  }
  /** Bytes below us, asked of the socket itself. */
  get bufferedBytes(): number {
    return this.#sink.bufferedBytes
  }

  /** Hands one frame over. False: refused, nothing was taken. `at`: when its oldest input came, for the delay figure. */
  write(bytes: Uint8Array, type: MessageType, at: number, uncuttable = false): boolean {
    const outcome = this.#sink.write(bytes)
    if (outcome === 'refused') return false
    const now = this.#deps.clock.now()
    this.#account(bytes.length, type, at, now, outcome === 'sent' && this.#flight.isEmpty)
    if (uncuttable) this.#uncuttableEnd = this.#flight.accepted
    return true
  }

  /** An update and a presence frame in one system call, for an empty wire. How many were taken, the update first. */
  writeBoth(sync: SyncFrame, presence: PresenceFrame): 0 | 1 | 2 {
    const taken = this.#sink.writeBoth(sync.bytes, presence.bytes)
    if (taken === 0) return 0
    const now = this.#deps.clock.now()
    const isThrough = this.#flight.isEmpty && this.#sink.bufferedBytes === 0
    this.#account(sync.bytes.length, 'sync', sync.at, now, isThrough)
    if (taken === 2) this.#account(presence.bytes.length, 'presence', presence.at, now, isThrough)
    return taken
  }

  /** `isThrough`: nothing waits, of this frame or before it. */
  #account(length: number, type: MessageType, at: number, now: number, isThrough: boolean): void {
    const { metrics, scheduler } = this.#deps
    const size = length + webSocketHeaderBytes(length)
    if (isThrough) {
      this.#flight.passedAtOnce(size)
      // In place: `add` serves all labels of all counters, and this is done for every frame of every member.
      metrics.messagesSent.values[type]++
    } else {
      this.#flight.accept(size, type, now)
      scheduler.watch(this.#owner)
    }
    metrics.bytesSent.add(size)
    if (type === 'presence') this.presenceBytes += length
    if (type !== 'control') metrics.deliveryDelay.observe((now - at) / 1000)
    this.lastFrameAt = now
  }

  /** Bytes below us, after telling what has left since the last look. */
  settle(): number {
    const { clock, metrics } = this.#deps
    // Nothing in flight means that the last write went straight through.
    if (this.#flight.isEmpty) {
      if (this.#congestedSince !== null) this.#congestedSince = clock.now()
      return 0
    }
    const buffered = this.#sink.bufferedBytes
    const passed = this.#flight.settle(buffered, (type) => metrics.messagesSent.add(type))
    if (this.#congestedSince !== null && (buffered === 0 || passed - this.#progressMark >= PROGRESS_BYTES)) {
      this.#congestedSince = clock.now()
      this.#progressMark = passed
    }
    return buffered
  }
  isCongested(): boolean {
    return this.settle() > this.#deps.settings.softBytes
  }
  /** Whether `bytes` more stay under the soft mark. An empty socket takes anything: some structs cannot be cut. */
  hasRoom(bytes: number): boolean {
    const buffered = this.settle()
    return buffered === 0 || buffered + bytes <= this.#deps.settings.softBytes
  }
  /** Whether a frame that could not be cut is still on its way. `buffered` as just settled. */
  isUncuttableDraining(buffered: number): boolean {
    return this.#flight.accepted - buffered < this.#uncuttableEnd
  }

  /** The congestion clock: started on leaving live, stopped on coming back; progress restarts it (`settle`). */
  startClock(): void {
    if (this.#congestedSince !== null) return
    this.#congestedSince = this.#deps.clock.now()
    this.#progressMark = this.#flight.accepted - (this.#flight.isEmpty ? 0 : this.#sink.bufferedBytes)
  }
  stopClock(): void {
    this.#congestedSince = null
  }
  get congestedMs(): number {
    return this.#congestedSince === null ? 0 : this.#deps.clock.now() - this.#congestedSince
  }

  /** The socket is gone or will be cut: what has not left never will. */
  abandon(): void {
    this.#flight.abandon((type) => this.#deps.metrics.messagesDropped.add(type))
  }
}
