/**
 * One client's way out: a bounded queue, the only writer of its socket.
 *   in   pushSync, pushPresence, pushControl, answer from the room · drained from the socket
 *   out  sink.write, and the one callback `evicted`
 *
 *   joining ── its SyncStep1 ──▶ behind ◀──── queue full, refused, update too long for one frame ────┐
 *                                  │ drained: one diff in parts                                      │
 *                                  ▼                                                                 │
 *                                live ── buffered > soft ──▶ holding ── drained, all sent ──▶ live   │
 *                                  └──────────────────────────────┴──────────────────────────────────┘
 *   any ── hard bytes, or nothing drained for too long, or closed ──▶ ending ──▶ closed
 *
 * The rules behind it, each of which loses edits when broken, are in docs/protocol.md ("A client that falls behind").
 */
import type { Logger } from 'pino'
import type { Transaction } from 'yjs'
import type { Clock } from '../observe/clock.ts'
import type { MessageType, Metrics, ResyncCause } from '../observe/metrics.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { encodeNotice, encodeStep2, encodeUpdate, webSocketHeaderBytes } from '../protocol/frames.ts'
import { DeleteRanges, DiffCursor, type DiffSource, type StateVector } from './diff-cursor.ts'
import type { Drainable, DrainScheduler } from './drain-scheduler.ts'
import { Flight } from './flight.ts'
import { decide, type FlowLimits, partBytes } from './flow-policy.ts'
import type { FrameSink } from './frame-sink.ts'

/** One Yjs `update` event, encoded once for everybody. */
export interface SyncFrame {
  readonly bytes: Uint8Array
  /** `transaction.beforeState`: what a client must have for this frame to be all it misses. */
  readonly before: StateVector
  readonly deletes: Transaction['deleteSet']
  /** When the oldest input in it was received, clock ms. */
  readonly at: number
}

/** One presence tick, encoded once for everybody. */
export interface PresenceFrame {
  readonly bytes: Uint8Array
  readonly ids: readonly number[]
  readonly at: number
}

/** Where a congested client's presence slots are filled from when it drains. */
export interface PresenceStates {
  /** The newest state of as many of `ids` as fit a frame; `ids` loses those taken. Null when none is known any more. */
  takeFrame(ids: Set<number>): Uint8Array | null
}

export interface OutboxSettings extends FlowLimits {
  /** Most frames written in one turn (`WS_DRAIN_BATCH_SIZE`). */
  readonly drainBatch: number
  /** How long an ending socket may take to read what it holds before it is cut, ms (`WS_CLOSE_GRACE_MS`). */
  readonly closeGraceMs: number
  /** Least time between two presence frames to a congested client, ms. */
  readonly presenceIntervalMs: number
}

export interface OutboxDeps {
  readonly settings: OutboxSettings
  readonly clock: Clock
  readonly scheduler: DrainScheduler
  readonly metrics: Metrics
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Whether this client asked for notices. */
  readonly notices: boolean
  /** 0, or the least time between two diffs to a client that was evicted too often, ms (FC7). */
  readonly degradedIntervalMs: number
  /** The socket is ending: by eviction, or because the room or the session said so. Called once. */
  readonly evicted: (reason: CloseReason) => void
}

export type OutboxState = 'joining' | 'live' | 'holding' | 'behind' | 'ending' | 'closed'

/** Bytes that have to drain to restart the congestion clock. */
const PROGRESS_BYTES = 65_536

export class Outbox implements Drainable {
  readonly #sink: FrameSink
  readonly #source: DiffSource
  readonly #presence: PresenceStates
  readonly #deps: OutboxDeps
  readonly #flight = new Flight()

  #state: OutboxState = 'joining'
  #queue: SyncFrame[] = []
  #queuedBytes = 0
  /** What this client has and is owed, while behind. */
  #cursor: DiffCursor | null = null
  #cause: ResyncCause | 'join' | 'degraded' = 'join'
  /** Its SyncStep1 waits for a SyncStep2: the last part will be one. */
  #owesStep2 = false
  /** A part the socket refused; the cursor is past it. */
  #refusedPart: Uint8Array | null = null
  readonly #slots = new Set<number>()
  readonly #controls = new Map<string, Uint8Array>()

  #congestedSince: number | null = null
  #progressMark = 0
  #uncuttableEnd = 0
  #presenceAt = Number.NEGATIVE_INFINITY
  #pumpNotBefore = Number.NEGATIVE_INFINITY
  #ending: { readonly reason: CloseReason; readonly since: number } | null = null
  /** When this client was last given an application frame, clock ms (FR5). */
  lastFrameAt: number
  /** Bytes of presence this client was given: what it may send back for free (IN3). */
  presenceBytes = 0
  /** Sync frames this client was not given as such. */
  drops = 0
  resyncs = 0

  constructor(sink: FrameSink, source: DiffSource, presence: PresenceStates, deps: OutboxDeps) {
    this.#sink = sink
    this.#source = source
    this.#presence = presence
    this.#deps = deps
    this.lastFrameAt = deps.clock.now()
  }

  get state(): OutboxState {
    return this.#state
  }
  get queuedFrames(): number {
    return this.#queue.length
  }
  /** Bytes the server holds for this client: the socket's buffer and the queue. */
  get heldBytes(): number {
    return this.#state === 'closed' ? 0 : this.#sink.bufferedBytes + this.#queuedBytes
  }
  /** When the oldest frame that the client has not taken was accepted, clock ms; null when it has everything. */
  get oldestUnsentAt(): number | null {
    return this.#flight.oldestAt ?? this.#queue[0]?.at ?? null
  }

  /** A document update. The caller skips the members that wrote all of it. */
  pushSync(frame: SyncFrame): void {
    switch (this.#state) {
      case 'joining': // covered by its SyncStep2
      case 'ending':
      case 'closed':
        return
      case 'behind':
        this.#cursor?.addDeletes(frame.deletes)
        if (this.#cause === 'queue_full' || this.#cause === 'refused') this.#countDrop(1)
        return
      case 'live':
      case 'holding':
        if (this.#deps.degradedIntervalMs > 0) this.#fallBehind(frame, 'degraded')
        else this.#pushDecided(frame)
    }
  }
  #pushDecided(frame: SyncFrame): void {
    switch (this.#decide(frame.bytes.length)) {
      case 'send':
        if (!this.#write(frame.bytes, 'sync', frame.at)) this.#fallBehind(frame, 'refused')
        break
      case 'hold':
        this.#hold(frame)
        break
      case 'fold':
        this.#fallBehind(frame, this.#queue.length > 0 || this.#isCongested() ? 'queue_full' : 'large_update')
        break
      case 'evict_bytes':
        this.#evict(CLOSE.bufferLimit, 'buffer_limit')
        break
      case 'evict_age':
        this.#evict(CLOSE.congestedTooLong, 'congested')
    }
  }

  /** What changed in presence. Congested clients keep the ids and get the newest states when they drain (FC3). */
  pushPresence(frame: PresenceFrame): void {
    if (this.#state === 'ending' || this.#state === 'closed') return
    const passes = (this.#state === 'live' || this.#state === 'joining') && this.#slots.size === 0
    if (passes && this.#deps.degradedIntervalMs === 0 && !this.#isCongested()) {
      if (this.#write(frame.bytes, 'presence', frame.at)) return
    }
    this.owePresence(frame.ids)
  }

  /** Owes the newest state of these ids, sent in a later turn: everybody's to a joiner, or what a full socket cannot take. */
  owePresence(ids: Iterable<number>): void {
    if (this.#state === 'ending' || this.#state === 'closed') return
    for (const id of ids) {
      if (this.#slots.has(id)) this.#deps.metrics.messagesDropped.add('presence')
      this.#slots.add(id)
    }
    if (this.#slots.size === 0) return
    this.#leaveLive()
    this.#deps.scheduler.ready(this)
  }

  /** A small frame of the server's own, at once or as soon as the socket drains; of one `key` only the newest. */
  pushControl(key: string, bytes: Uint8Array): void {
    if (this.#state === 'ending' || this.#state === 'closed') return
    if (!this.#isCongested() && this.#write(bytes, 'control', this.#deps.clock.now())) return
    this.#controls.set(key, bytes)
    this.#leaveLive()
  }

  /**
   * Answers a SyncStep1: everything beyond `has`, the last part a SyncStep2. A joining client is simply behind with its own
   * vector; so is one that asks again. While an answer is running it answers the new question too.
   */
  answer(has: StateVector): void {
    if (this.#state === 'ending' || this.#state === 'closed' || this.#owesStep2) return
    this.#dropQueue()
    this.#owesStep2 = true
    this.#refusedPart = null
    this.#cause = this.#state === 'joining' ? 'join' : this.#cause
    this.#startCursor(has, DeleteRanges.full())
    this.#pumpNotBefore = Number.NEGATIVE_INFINITY
    this.#deps.scheduler.ready(this)
  }

  /** The socket has drained a little. Only asks for a turn: nothing is sent in here. */
  drained(): void {
    if (this.#state !== 'closed') this.#deps.scheduler.ready(this)
  }

  /** Asks the peer for a pong. */
  ping(): void {
    if (this.#state !== 'closed') this.#sink.ping()
  }

  /** Ends the socket: nothing more is queued or written, and the close frame follows what it still holds. */
  end(reason: CloseReason): void {
    if (this.#state === 'ending' || this.#state === 'closed') return
    this.#state = 'ending'
    this.#ending = { reason, since: this.#deps.clock.now() }
    this.#free()
    this.#deps.scheduler.watch(this)
    // A turn of its own: `end` may be called from inside a socket's callback.
    this.#deps.scheduler.ready(this)
    this.#deps.evicted(reason)
  }

  /** The socket is gone. */
  closed(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#free()
    this.#flight.abandon((type) => this.#deps.metrics.messagesDropped.add(type))
    this.#deps.scheduler.forget(this)
  }

  pump(): 'more' | 'idle' {
    for (let sent = 0; sent < this.#deps.settings.drainBatch; sent++) {
      if (this.#state === 'ending') this.#endIfDrained()
      if (this.#state === 'ending' || this.#state === 'closed') return 'idle'
      switch (this.#decide(0)) {
        case 'evict_bytes':
          this.#evict(CLOSE.bufferLimit, 'buffer_limit')
          return 'idle'
        case 'evict_age':
          this.#evict(CLOSE.congestedTooLong, 'congested')
          return 'idle'
        default:
      }
      if (!this.#owesAnything) {
        if (!this.#isCongested()) this.#enterLive()
        return 'idle'
      }
      if (this.#deps.clock.now() < this.#pumpNotBefore || !this.#sendNext()) {
        this.#deps.scheduler.watch(this)
        return 'idle'
      }
    }
    return 'more'
  }

  check(): boolean {
    if (this.#state === 'closed') return false
    const resting = (this.#state === 'live' || this.#state === 'joining') && !this.#owesAnything
    if (resting && !this.#isCongested()) return !this.#flight.isEmpty
    if (this.#state === 'live') this.#leaveLive()
    this.#deps.scheduler.ready(this)
    return true
  }

  get #owesAnything(): boolean {
    return this.#cursor !== null || this.#queue.length > 0 || this.#slots.size > 0 || this.#controls.size > 0
  }

  /** Writes the one thing that is due. False: the socket has no room for it now. */
  #sendNext(): boolean {
    const now = this.#deps.clock.now()
    const [control] = this.#controls
    if (control !== undefined) {
      if (this.#isCongested() || !this.#write(control[1], 'control', now)) return false
      this.#controls.delete(control[0])
      return true
    }
    const presenceDue = this.#slots.size > 0 && now - this.#presenceAt >= this.#deps.settings.presenceIntervalMs
    if (this.#cursor !== null) {
      // Presence may pass between two parts, never instead of one.
      if (presenceDue && this.#hasRoom(PROGRESS_BYTES)) this.#sendPresence(now)
      return this.#sendPart(this.#cursor)
    }
    if (this.#queue.length > 0) return this.#sendQueued()
    return !this.#isCongested() && this.#sendPresence(now)
  }

  #sendPart(cursor: DiffCursor): boolean {
    const size = partBytes(this.#deps.settings)
    if (!this.#hasRoom(size)) return false
    const now = this.#deps.clock.now()
    if (this.#refusedPart !== null) {
      if (!this.#write(this.#refusedPart, 'sync', now)) return false
      this.#refusedPart = null
      return true
    }
    const part = cursor.next(size)
    const frame = part.last && this.#owesStep2 ? encodeStep2(part.update) : encodeUpdate(part.update)
    if (!part.isEmpty || (part.last && this.#owesStep2)) {
      const start = this.#flight.accepted
      if (!this.#write(frame, 'sync', now)) {
        // The cursor is past it and may not be the last any more: it goes first next time, as what it is.
        this.#refusedPart = encodeUpdate(part.update)
        return false
      }
      if (part.uncuttable) this.#uncuttableEnd = Math.max(this.#uncuttableEnd, start + frame.length)
    }
    if (part.last) {
      // Live again in the same turn in which the last part was handed over: no update lies between (FR4).
      this.#cursor = null
      this.#owesStep2 = false
      this.#state = 'holding'
      this.#pumpNotBefore = now + this.#deps.degradedIntervalMs
    }
    return true
  }

  #sendQueued(): boolean {
    if (this.#isCongested()) return false
    const first = this.#queue[0]!
    if (this.#queue.length > 1) {
      // One diff is smaller than many frames of the same shapes; when it is not, the frames go out as they are.
      const deletes = new DeleteRanges()
      for (const frame of this.#queue) deletes.add(frame.deletes)
      const diff = new DiffCursor(this.#source, first.before, deletes).next(partBytes(this.#deps.settings))
      if (diff.last && diff.update.length < this.#queuedBytes) {
        if (!this.#write(encodeUpdate(diff.update), 'sync', first.at)) return false
        this.#deps.metrics.messagesDropped.add('sync', this.#queue.length - 1)
        this.#dropQueueSilently()
        return true
      }
    }
    if (!this.#write(first.bytes, 'sync', first.at)) return false
    this.#queue.shift()
    this.#queuedBytes -= first.bytes.length
    return true
  }

  #sendPresence(now: number): boolean {
    const bytes = this.#presence.takeFrame(this.#slots)
    if (bytes === null) {
      this.#slots.clear()
      return true
    }
    this.#presenceAt = now
    // A refused one is superseded like any other state that was not sent.
    if (!this.#write(bytes, 'presence', now)) this.#deps.metrics.messagesDropped.add('presence')
    return true
  }

  #write(bytes: Uint8Array, type: MessageType, at: number): boolean {
    const outcome = this.#sink.write(bytes)
    if (outcome === 'refused') return false
    const { metrics, clock } = this.#deps
    const now = clock.now()
    const size = bytes.length + webSocketHeaderBytes(bytes.length)
    if (outcome === 'sent' && this.#flight.isEmpty) {
      this.#flight.passedAtOnce(size)
      metrics.messagesSent.add(type)
    } else {
      this.#flight.accept(size, type, now)
      this.#deps.scheduler.watch(this)
    }
    metrics.bytesSent.add(size)
    if (type === 'presence') this.presenceBytes += bytes.length
    if (type !== 'control') metrics.deliveryDelay.observe((now - at) / 1000)
    this.lastFrameAt = now
    return true
  }

  /** Bytes below us, after telling what has left since the last look. */
  #settle(): number {
    // Nothing in flight means that the last write went straight through.
    if (this.#flight.isEmpty) {
      if (this.#congestedSince !== null) this.#congestedSince = this.#deps.clock.now()
      return 0
    }
    const buffered = this.#sink.bufferedBytes
    const passed = this.#flight.settle(buffered, (type) => this.#deps.metrics.messagesSent.add(type))
    if (this.#congestedSince !== null && (buffered === 0 || passed - this.#progressMark >= PROGRESS_BYTES)) {
      this.#congestedSince = this.#deps.clock.now()
      this.#progressMark = passed
    }
    return buffered
  }
  #isCongested(): boolean {
    return this.#settle() > this.#deps.settings.softBytes
  }
  /** Whether `bytes` more stay under the soft mark. An empty socket takes anything: some structs cannot be cut. */
  #hasRoom(bytes: number): boolean {
    const buffered = this.#settle()
    return buffered === 0 || buffered + bytes <= this.#deps.settings.softBytes
  }
  #decide(frameBytes: number) {
    const socketBytes = this.#settle()
    return decide(
      {
        socketBytes,
        queuedBytes: this.#queuedBytes,
        queuedFrames: this.#queue.length,
        frameBytes,
        congestedMs: this.#congestedSince === null ? 0 : this.#deps.clock.now() - this.#congestedSince,
        uncuttableDraining: this.#flight.accepted - socketBytes < this.#uncuttableEnd,
      },
      this.#deps.settings,
    )
  }

  #hold(frame: SyncFrame): void {
    this.#leaveLive()
    this.#queue.push(frame)
    this.#queuedBytes += frame.bytes.length
    this.#deps.metrics.queueDepthMax.note(this.#queue.length, this.#deps.clock.now())
  }

  /** Drops what is queued and owes one diff instead, from the first frame that was not handed to the socket. */
  #fallBehind(frame: SyncFrame, cause: ResyncCause | 'degraded'): void {
    const base = this.#queue[0]?.before ?? frame.before
    const deletes = new DeleteRanges()
    for (const queued of this.#queue) deletes.add(queued.deletes)
    deletes.add(frame.deletes)
    this.#cause = cause
    if (cause !== 'degraded') {
      this.resyncs++
      this.#deps.metrics.resyncsOut.add(cause)
    }
    const folded = this.#queue.length
    this.#dropQueue()
    if (cause === 'queue_full' || cause === 'refused') {
      this.#countDrop(1)
      this.#deps.log.info(
        { folded, heldBytes: this.heldBytes },
        'client fell behind: its queue is folded into one diff',
      )
    }
    this.#startCursor(base, deletes)
    this.#deps.scheduler.ready(this)
  }
  #startCursor(base: StateVector, deletes: DeleteRanges): void {
    this.#leaveLive()
    this.#cursor = new DiffCursor(this.#source, base, deletes)
    this.#state = 'behind'
  }

  #leaveLive(): void {
    this.#deps.scheduler.watch(this)
    if (this.#congestedSince === null) {
      this.#congestedSince = this.#deps.clock.now()
      this.#progressMark = this.#flight.accepted - (this.#flight.isEmpty ? 0 : this.#sink.bufferedBytes)
    }
    if (this.#state !== 'live') return
    this.#state = 'holding'
    // Now, not later: a warning sent later would wait behind the backlog it warns of (FC10).
    if (this.#isCongested()) this.#notice('behind')
  }
  #enterLive(): void {
    this.#congestedSince = null
    if (this.#state === 'joining') return
    this.#state = 'live'
    if (this.#cause === 'queue_full' || this.#cause === 'refused') {
      this.#deps.log.info({ drops: this.drops, resyncs: this.resyncs }, 'client resumed')
    }
    if (this.#noticed) this.#notice('caught_up')
    this.#noticed = false
    this.#cause = 'join'
  }
  #noticed = false
  #notice(kind: 'behind' | 'caught_up'): void {
    if (!this.#deps.notices) return
    this.#noticed = true
    this.#write(encodeNotice({ kind }), 'control', this.#deps.clock.now())
  }

  #countDrop(frames: number): void {
    this.#deps.metrics.backpressureDrops.add(frames)
    this.#deps.metrics.messagesDropped.add('sync', frames)
    const before = this.drops
    this.drops += frames
    // A client that is badly behind drops continuously: every tenth is enough.
    if (before % 10 === 0)
      this.#deps.log.warn({ drops: this.drops, heldBytes: this.heldBytes }, 'sync frame not queued')
  }

  #evict(reason: CloseReason, label: 'buffer_limit' | 'congested'): void {
    this.#deps.metrics.clientsDropped.add(label)
    this.#deps.metrics.messagesDropped.add('presence', this.#slots.size)
    this.#deps.log.warn({ reason: reason.text, heldBytes: this.heldBytes, drops: this.drops }, 'client evicted')
    this.end(reason)
  }
  #endIfDrained(): void {
    const { reason, since } = this.#ending!
    if (this.#settle() === 0) {
      this.#state = 'closed'
      this.#sink.close(reason)
    } else if (this.#deps.clock.now() - since >= this.#deps.settings.closeGraceMs) {
      this.#flight.abandon((type) => this.#deps.metrics.messagesDropped.add(type))
      this.#state = 'closed'
      this.#sink.cut()
    }
    if (this.#state === 'closed') this.#deps.scheduler.forget(this)
  }

  #dropQueue(): void {
    this.#deps.metrics.messagesDropped.add('sync', this.#queue.length)
    this.#dropQueueSilently()
  }
  #dropQueueSilently(): void {
    this.#queue = []
    this.#queuedBytes = 0
  }
  #free(): void {
    this.#dropQueue()
    this.#cursor = null
    this.#refusedPart = null
    this.#slots.clear()
    this.#controls.clear()
  }
}
