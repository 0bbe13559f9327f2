/**
 * One client's way out: a bounded queue, the only writer of its socket.
 *   in   pushSync, pushPresence, pushControl, answer from the room · drained from the socket
 *   out  wire.write, and the one callback `evicted`
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

import type { Account } from '../budget/account.ts'
import { CLOCK_BYTES } from '../budget/memory-figures.ts'
import {
  type DeleteSet,
  DiffCursor,
  type DiffPart,
  type DiffSource,
  OwedDeletes,
  type StateVector,
} from '../diff/diff-cursor.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { EvictionReason, Metrics, ResyncCause } from '../observe/metrics.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { encodeStep2, encodeUpdate } from '../protocol/frames.ts'
import { encodeNotice, type Notice } from '../protocol/notices.ts'
import type { Drainable, DrainScheduler } from './drain-scheduler.ts'
import { decide, type FlowLimits, type FlowStep, MAX_LIVE_FRAME_BYTES, partBytes } from './flow-policy.ts'
import type { FrameSink } from './frame-sink.ts'
import { HeldFrames } from './held-frames.ts'
import type { PresenceFrame, PresenceStates, SyncFrame } from './outgoing.ts'
import { SideLane } from './side-lane.ts'
import { Wire } from './wire.ts'

export interface OutboxSettings extends FlowLimits {
  /** Most frames written in one turn (`WS_DRAIN_BATCH_SIZE`). */
  readonly drainBatch: number
  /** How long an ending socket may take to read what it holds before it is cut, ms (`WS_CLOSE_GRACE_MS`). */
  readonly closeGraceMs: number
  /** Least time between two presence frames to a congested client, ms. */
  readonly presenceIntervalMs: number
  /** Longest part that is not cut because formatted text in it goes together, bytes (`WS_MAX_WHOLE_TEXT_BYTES`). */
  readonly wholeTextBytes: number
}

/** Shared by all outboxes of a server. */
export interface OutboxDeps {
  readonly settings: OutboxSettings
  readonly clock: Clock
  readonly scheduler: DrainScheduler
  readonly metrics: Metrics
}

/** Whose outbox it is. */
export interface OutboxOwner {
  readonly log: Log
  /** Who is charged for the time that writing to it takes. */
  readonly account: Account
  /** Whether this client asked for notices. */
  readonly wantsNotices: boolean
  /** The socket is ending: by eviction (true), or because the room or the session said so. Called once. */
  evicted(reason: CloseReason, isEviction: boolean): void
}

export type OutboxState = 'joining' | 'live' | 'holding' | 'behind' | 'ending' | 'closed'

/** Why this client is behind. The first two are its own doing, and counted as drops. */
type BehindCause = ResyncCause | 'join'

/** Room a presence frame may need between two parts, bytes (PR4). */
const MAX_PRESENCE_FRAME = 65_536

/** A client that is behind and drained less than 64 KiB in this time does not keep up, ms. */
const STALLED_MS = 1000

/** uWS's cork holds 16 KiB; longer frames gain nothing from it. */
const CORK_BYTES = 16_000

export class Outbox implements Drainable {
  readonly #sink: FrameSink
  #source: DiffSource
  readonly #deps: OutboxDeps
  readonly #owner: OutboxOwner
  readonly #wire: Wire
  readonly #side: SideLane
  readonly #held = new HeldFrames()
  /** Longest frame that an empty socket takes whatever else. */
  readonly #plainBytes: number
  /** The same for two frames in one cork. */
  readonly #corkedBytes: number

  #state: OutboxState = 'joining'
  /** What this client has and is owed, while behind. */
  #cursor: DiffCursor | null = null
  #cause: BehindCause = 'join'
  /** When the oldest of what the cursor brings came in, clock ms; infinite while there is none. */
  #owedAt = Number.POSITIVE_INFINITY
  /** Behind over something that was not its doing, this client then took nothing for too long. */
  #stalled = false
  /** What this client has, at least, while the room is without a document: its diff goes on from there. */
  #resting: StateVector | null = null
  /** Nothing of the document is sent: see `withhold`. */
  #isWithheld = false
  /** Its SyncStep1 waits for a SyncStep2: the last part will be one. */
  #owesStep2 = false
  /** A part the socket refused; the cursor is past it. */
  #refusedPart: Uint8Array | null = null
  /** 0, or the least time between two diffs to a client that was evicted too often, ms (FC7). */
  #paceMs = 0
  /** Before this nothing is sent to a degraded client, clock ms. */
  #pumpNotBefore = Number.NEGATIVE_INFINITY
  #ending: { readonly reason: CloseReason; readonly since: number } | null = null
  /** Whether the client was told that it is behind. */
  #warned = false
  /** Sync frames this client was not given as such, because it could not take them. */
  drops = 0
  resyncs = 0

  constructor(sink: FrameSink, source: DiffSource, presence: PresenceStates, deps: OutboxDeps, owner: OutboxOwner) {
    const { metrics, settings } = deps
    this.#sink = sink
    this.#source = source
    this.#deps = deps
    this.#owner = owner
    this.#wire = new Wire(sink, deps, this)
    this.#plainBytes = Math.min(MAX_LIVE_FRAME_BYTES, settings.hardBytes - 1)
    this.#corkedBytes = Math.min(CORK_BYTES, this.#plainBytes)
    this.#side = new SideLane(this.#wire, presence, metrics.messagesDropped)
  }

  get account(): Account {
    return this.#owner.account
  }
  get state(): OutboxState {
    return this.#state
  }
  get queuedFrames(): number {
    return this.#held.count
  }
  /** Bytes the server holds for this client: the socket's buffer and the queue. */
  get heldBytes(): number {
    return this.#state === 'closed' ? 0 : this.#wire.bufferedBytes + this.#held.bytes
  }
  /** Bytes of what is queued above the socket: frames, and what describes a client that is behind. */
  get queuedBytes(): number {
    return this.#held.bytes + (this.#refusedPart?.length ?? 0) + (this.#cursor?.clocks ?? 0) * CLOCK_BYTES
  }
  /** When the oldest frame that the client has not taken was accepted, clock ms; null when it has everything. */
  get oldestUnsentAt(): number | null {
    const owedAt = this.#cause === 'join' ? Number.POSITIVE_INFINITY : this.#owedAt
    const at = Math.min(this.#wire.oldestUnsentAt ?? owedAt, this.#held.first?.at ?? owedAt, owedAt)
    return Number.isFinite(at) ? at : null
  }
  /** When this client was last given an application frame, clock ms (FR5). */
  get lastFrameAt(): number {
    return this.#wire.lastFrameAt
  }
  /** Bytes of presence this client was given: what it may send back for free (IN3). */
  get presenceBytes(): number {
    return this.#wire.presenceBytes
  }
  get isDegraded(): boolean {
    return this.#paceMs > 0
  }
  /** Coalesces what this client gets, one diff every `intervalMs`; 0 sends everything as it comes again. */
  pace(intervalMs: number): void {
    if (intervalMs === this.#paceMs) return
    this.#paceMs = intervalMs
    this.#pumpNotBefore = Number.NEGATIVE_INFINITY
    this.notify(intervalMs > 0 ? { kind: 'degraded', intervalMs } : { kind: 'degraded-lifted' })
  }
  get #isOver(): boolean {
    return this.#state === 'ending' || this.#state === 'closed'
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
        this.#cursor?.addClocks(frame.before)
        this.#owedAt = Math.min(this.#owedAt, frame.at)
        this.#deps.metrics.messagesDropped.add('sync')
        if (this.#isSlow) this.#countDrop()
        return
      case 'live':
      case 'holding':
        if (this.isDegraded) this.#fallBehind(frame, 'degraded')
        else if (this.#isWithheld) this.#fallBehind(frame, 'large_update')
        else this.#pushDecided(frame)
    }
  }
  #pushDecided(frame: SyncFrame): void {
    // Nearly every frame meets a live client whose socket is empty: what `decide` says then is known.
    const isPlain = this.#state === 'live' && this.#wire.isEmpty && frame.bytes.length <= this.#plainBytes
    const step = isPlain ? 'send' : this.#decide(frame.bytes.length)
    switch (step) {
      case 'send':
        if (!this.#wire.write(frame.bytes, 'sync', frame.at)) this.#fallBehind(frame, 'refused')
        break
      case 'hold':
        this.#hold(frame)
        break
      case 'fold':
        this.#fallBehind(frame, this.#held.count > 0 || this.#wire.isCongested() ? 'queue_full' : 'large_update')
        break
      case 'evict_bytes':
      case 'evict_age':
        this.#evict(step)
    }
  }

  /**
   * From now on nothing of the document goes out: an update with formatted text is half in it, and this client would tidy what
   * it has half of. With the first frame it falls behind. `false`: the text is whole, or has taken too long.
   */
  withhold(isWithheld: boolean): void {
    if (this.#isWithheld === isWithheld) return
    this.#isWithheld = isWithheld
    if (!isWithheld && !this.#isOver) this.#deps.scheduler.ready(this)
  }

  /** Deletions that frames it was given, or is owed, brought about without naming them. */
  oweDeletes(deletes: DeleteSet): void {
    this.#cursor?.addDeletes(deletes)
  }

  /** An update that this client wrote all of. What it is owed begins where it began: others may share the diff. */
  passOver(frame: SyncFrame): void {
    this.#cursor?.addClocks(frame.before)
  }

  /** What changed in presence. Congested clients keep the ids and get the newest states when they drain (FC3). */
  pushPresence(frame: PresenceFrame): void {
    if (this.#isOver) return
    if (this.#state === 'live' && this.#wire.isEmpty && this.#paceMs === 0 && !this.#side.owesPresence) {
      if (this.#wire.write(frame.bytes, 'presence', frame.at)) return
    }
    const isWaiting = this.#state === 'holding' || this.#state === 'behind' || this.#side.owesPresence
    if (!isWaiting && !this.isDegraded && !this.#wire.isCongested()) {
      if (this.#wire.write(frame.bytes, 'presence', frame.at)) return
    }
    this.owePresence(frame.ids, frame.at)
  }

  /** An update and a presence frame of one moment: in one system call where both go out as they are. */
  pushBoth(sync: SyncFrame, presence: PresenceFrame): void {
    const isPlain = this.#state === 'live' && this.#wire.isEmpty && !this.#side.owesPresence
    if (
      !isPlain ||
      this.isDegraded ||
      this.#isWithheld ||
      sync.bytes.length + presence.bytes.length > this.#corkedBytes
    ) {
      this.pushSync(sync)
      this.pushPresence(presence)
      return
    }
    const taken = this.#wire.writeBoth(sync, presence)
    if (taken === 0) this.#fallBehind(sync, 'refused')
    if (taken < 2) this.owePresence(presence.ids, presence.at)
  }

  /**
   * Owes the newest state of these ids, sent in a later turn: everybody's to a joiner, or what a full socket cannot take.
   * `at`: when the oldest of it came in, clock ms.
   */
  owePresence(ids: Iterable<number>, at = this.#deps.clock.now()): void {
    if (this.#isOver) return
    this.#side.owe(ids, at)
    if (!this.#side.owesPresence) return
    this.#leaveLive()
    this.#deps.scheduler.ready(this)
  }

  /** A small frame of the server's own, at once or as soon as the socket drains; of one `key` only the newest. */
  pushControl(key: string, bytes: Uint8Array): void {
    if (this.#isOver) return
    if (!this.#wire.isCongested() && this.#wire.write(bytes, 'control', this.#deps.clock.now())) return
    this.#side.put(key, bytes)
    this.#leaveLive()
  }

  /** Tells a client that asked for notices (FC10). Now or never: a warning that waits behind the backlog warns of nothing. */
  notify(notice: Notice): void {
    if (this.#owner.wantsNotices && !this.#isOver)
      this.#wire.write(encodeNotice(notice), 'control', this.#deps.clock.now())
  }

  /** Its SyncStep1 is here and will be answered: as late as that is, its answer is. */
  asked(): void {
    this.#owedAt = Math.min(this.#owedAt, this.#deps.clock.now())
  }
  /**
   * Answers a SyncStep1: everything beyond `has`, the last part a SyncStep2. A joining client is simply behind with its own
   * vector; so is one that asks again. While an answer is running it answers the new question too.
   */
  answer(has: StateVector): void {
    if (this.#isOver || this.#owesStep2) return
    this.#resting = null
    this.asked()
    this.#owedAt = Math.min(this.#owedAt, this.#held.first?.at ?? this.#owedAt)
    this.#fold()
    this.#owesStep2 = true
    this.#refusedPart = null
    this.#pumpNotBefore = Number.NEGATIVE_INFINITY
    this.#startCursor(has, OwedDeletes.full())
    this.#deps.scheduler.ready(this)
  }

  /**
   * The document broke: nothing more is read of it. What this client is known to have is kept, everything else let go, until
   * the room has another. `level`: what a client has that was given everything.
   */
  rest(level: StateVector): void {
    if (this.#isOver || this.#state === 'joining' || this.#resting !== null) return
    // A cursor knows what was sent by it. Of deletions nothing is known: they are owed whole.
    const base = this.#cursor?.sentOver(level) ?? this.#heldOver(level)
    this.#owedAt = Math.min(this.#owedAt, this.#held.first?.at ?? this.#owedAt)
    this.#fold()
    this.#restFrom(base)
  }
  #heldOver(level: StateVector): StateVector {
    return this.#held.count === 0 ? level : new Map([...level, ...this.#held.owed().clocks])
  }
  #restFrom(base: StateVector): void {
    this.#cursor = null
    this.#leaveLive()
    this.#resting = base
    this.#state = 'behind'
  }
  /** The room has a document again: this client is behind it, with what it has. */
  resume(source: DiffSource): void {
    this.#source = source
    const base = this.#resting
    this.#resting = null
    if (this.#isOver || base === null) return
    this.#cause = 'rebuilt'
    this.#deps.metrics.resyncsOut.add('rebuilt')
    this.#startCursor(base, OwedDeletes.full())
    this.#deps.scheduler.ready(this)
  }

  /** The socket has drained a little. Only asks for a turn: nothing is sent in here. */
  drained(): void {
    if (this.#state !== 'closed') this.#deps.scheduler.ready(this)
  }

  /** More waits in the socket than may, although little of it was written here: pongs that the client does not read. */
  evictForBytes(): void {
    if (!this.#isOver) this.#evict('evict_bytes')
  }

  /** Asks the peer for a pong. */
  ping(): void {
    if (this.#state !== 'closed') this.#sink.ping()
  }

  /** Ends the socket: nothing more is queued or written, and the close frame follows what it still holds. */
  end(reason: CloseReason): void {
    this.#end(reason, false)
  }
  #end(reason: CloseReason, isEviction: boolean): void {
    if (this.#isOver) return
    this.#state = 'ending'
    this.#ending = { reason, since: this.#deps.clock.now() }
    this.#free()
    this.#deps.scheduler.watch(this)
    // A turn of its own: `end` may be called from inside a socket's callback.
    this.#deps.scheduler.ready(this)
    this.#owner.evicted(reason, isEviction)
  }

  /** Something failed that is this client's alone: it is closed, and comes back to a fresh start. Never throws. */
  failed(error: unknown): void {
    const { metrics } = this.#deps
    metrics.errorsCaught.add('client')
    this.#owner.log.error({ event: 'client_failed', err: error, state: this.#state }, 'client failed')
    try {
      if (!this.#isOver) this.end(CLOSE.internalError)
      else {
        this.closed()
        this.#sink.cut()
      }
    } catch (again) {
      metrics.errorsCaught.add('client')
      this.#owner.log.error({ event: 'client_close_failed', err: again }, 'client could not be closed')
    }
  }

  /** The socket is gone. */
  closed(): void {
    if (this.#state === 'closed') return
    this.#free()
    this.#shut()
  }

  pump(until: number): 'more' | 'idle' {
    for (let sent = 0; sent < this.#deps.settings.drainBatch; sent++) {
      if (this.#state === 'ending') this.#endIfDrained()
      if (this.#isOver) return 'idle'
      const step = this.#decide(0)
      if (step === 'evict_bytes' || step === 'evict_age') {
        this.#evict(step)
        return 'idle'
      }
      if (!this.#owesAnything) {
        if (!this.#wire.isCongested()) this.#enterLive()
        return 'idle'
      }
      if (this.#deps.clock.now() < this.#pumpNotBefore || !this.#sendNext()) {
        this.#deps.scheduler.watch(this)
        return 'idle'
      }
      // A part of an answer takes some milliseconds where its structs have to be looked for.
      if (this.#cursor !== null && this.#deps.clock.now() >= until) break
    }
    return 'more'
  }

  check(): boolean {
    if (this.#state === 'closed') return false
    const resting = (this.#state === 'live' || this.#state === 'joining') && !this.#owesAnything
    if (resting && !this.#wire.isCongested()) return !this.#wire.isEmpty
    if (this.#state === 'live') this.#leaveLive()
    this.#deps.scheduler.ready(this)
    return true
  }

  get #owesAnything(): boolean {
    return this.#cursor !== null || this.#resting !== null || this.#held.count > 0 || !this.#side.isEmpty
  }

  /** Writes the one thing that is due. False: the socket has no room for it now. */
  #sendNext(): boolean {
    const now = this.#deps.clock.now()
    if (this.#side.owesControl) return this.#side.sendControl(now)
    const isStopped = this.#resting !== null || this.#isWithheld
    if (isStopped && !this.#side.owesPresence) return false
    if (this.#cursor !== null && !isStopped) {
      // Presence may pass between two parts, never instead of one.
      const due = this.#side.owesPresence && this.#side.presenceAge(now) >= this.#deps.settings.presenceIntervalMs
      if (due && this.#wire.hasRoom(MAX_PRESENCE_FRAME)) this.#side.sendPresence(now)
      return this.#sendPart(this.#cursor, now)
    }
    if (this.#wire.isCongested()) return false
    if (this.#held.count > 0 && !isStopped) return this.#sendHeld()
    this.#side.sendPresence(now)
    return true
  }

  #sendPart(cursor: DiffCursor, now: number): boolean {
    const size = partBytes(this.#deps.settings)
    if (!this.#wire.hasRoom(size)) return false
    // However late the newest of a diff is, it holds back the oldest.
    const at = Math.min(this.#owedAt, now)
    if (this.#refusedPart !== null) {
      if (!this.#wire.write(this.#refusedPart, 'sync', at, this.#refusedPart.length > size)) return false
      this.#refusedPart = null
      return true
    }
    const part = this.#read(cursor, this.#deps.settings.wholeTextBytes)
    if (part === null) return false
    if (part.endsInsideText) this.#deps.metrics.splitTexts.add()
    const isAnswer = part.last && this.#owesStep2
    if (!part.isEmpty || isAnswer) {
      const frame = isAnswer ? encodeStep2(part.update) : encodeUpdate(part.update)
      if (!this.#wire.write(frame, 'sync', at, part.uncuttable)) {
        // The cursor is past it and may not be the last any more: it goes first next time, as what it is.
        this.#refusedPart = encodeUpdate(part.update)
        return false
      }
    }
    if (part.last) {
      // Level in the same turn in which the last part was handed over: no update lies between (FR4).
      this.#cursor = null
      this.#owesStep2 = false
      this.#owedAt = Number.POSITIVE_INFINITY
      this.#state = 'holding'
      this.#pumpNotBefore = now + this.#paceMs
    }
    return true
  }

  #sendHeld(): boolean {
    if (this.#held.count > 1) {
      // What was relayed is among what is held, and has to be in the diff of it. If that breaks the document, this client rests; if
      // more comes of it than was relayed, it may have fallen behind.
      if (!this.#source.settle()) return false
      if (this.#held.count === 0) return true
    }
    const first = this.#held.first!
    if (this.#held.count > 1) {
      // One diff is smaller than many frames about the same shapes; when it is not, the frames go out as they are.
      const { clocks, deletes } = this.#held.owed()
      const diff = this.#read(new DiffCursor(this.#source, clocks, deletes, this.#source.version), 0)
      if (diff === null) return false
      if (diff.last && diff.update.length < this.#held.bytes) {
        if (!this.#wire.write(encodeUpdate(diff.update), 'sync', first.at)) return false
        this.#deps.metrics.messagesDropped.add('sync', this.#held.clear() - 1)
        return true
      }
    }
    if (!this.#wire.write(first.bytes, 'sync', first.at)) return false
    this.#held.shift()
    return true
  }

  /** The next part, text that goes together up to `wholeBytes` in one. Null: the document broke, its room was told, and this client rests. */
  #read(cursor: DiffCursor, wholeBytes: number): DiffPart | null {
    try {
      return cursor.next(partBytes(this.#deps.settings), wholeBytes)
    } catch (error) {
      // It may have gone on without handing out what it read, so that only its beginning is sure.
      cursor.forgetSent()
      this.#source.broke(error)
      // The room lets all its members rest. Should it have none of it: nothing is sure then.
      if (cursor === this.#cursor) this.#restFrom(new Map())
      return null
    }
  }

  #decide(frameBytes: number): FlowStep {
    const socketBytes = this.#wire.settle()
    return decide(
      {
        socketBytes,
        queuedBytes: this.#held.bytes,
        queuedFrames: this.#held.count,
        frameBytes,
        congestedMs: this.#wire.congestedMs,
        uncuttableDraining: this.#wire.isUncuttableDraining(socketBytes),
      },
      this.#deps.settings,
    )
  }

  #hold(frame: SyncFrame): void {
    this.#leaveLive()
    this.#held.push(frame)
    this.#deps.metrics.queueDepthMax.note(this.#held.count, this.#deps.clock.now())
  }

  /** Drops what is held and owes one diff instead, from the first frame that was not handed to the socket. */
  #fallBehind(frame: SyncFrame, cause: BehindCause): void {
    const { clocks, deletes } = this.#held.owed(frame)
    this.#cause = cause
    if (cause !== 'join') {
      this.resyncs++
      this.#deps.metrics.resyncsOut.add(cause)
    }
    this.#owedAt = Math.min(this.#owedAt, this.#held.first?.at ?? frame.at, frame.at)
    const folded = this.#fold()
    this.#deps.metrics.messagesDropped.add('sync')
    if (this.#isSlow) {
      this.#countDrop()
      this.#owner.log.info(
        { event: 'client_behind', folded, heldBytes: this.heldBytes },
        'client fell behind: what it is owed is one diff now',
      )
    }
    this.#startCursor(clocks, deletes, frame.version)
    this.#deps.scheduler.ready(this)
  }
  #startCursor(base: StateVector, deletes: OwedDeletes, version?: number): void {
    this.#leaveLive()
    this.#cursor = new DiffCursor(this.#source, base, deletes, version)
    this.#state = 'behind'
  }
  /** Whether this client is behind because it did not keep up. */
  get #isSlow(): boolean {
    if (this.#cause === 'queue_full' || this.#cause === 'refused') return true
    // One long update or a slower pace is no fault of its own; taking nothing of it is.
    if (this.#cause === 'large_update' || this.#cause === 'degraded') {
      this.#stalled ||= this.#wire.congestedMs >= STALLED_MS
    }
    return this.#stalled
  }

  #leaveLive(): void {
    this.#deps.scheduler.watch(this)
    this.#wire.startClock()
    if (this.#state !== 'live') return
    this.#state = 'holding'
    if (this.#wire.isCongested()) {
      this.#warned = true
      this.notify({ kind: 'behind' })
    }
  }
  #enterLive(): void {
    this.#wire.stopClock()
    if (this.#state === 'joining') return
    this.#state = 'live'
    if (this.#isSlow)
      this.#owner.log.info({ event: 'client_resumed', drops: this.drops, resyncs: this.resyncs }, 'client resumed')
    this.#cause = 'join'
    this.#stalled = false
    if (this.#warned) this.notify({ kind: 'caught-up' })
    this.#warned = false
  }

  #countDrop(): void {
    this.#deps.metrics.backpressureDrops.add()
    // A client that is badly behind drops continuously: every tenth is enough.
    if (this.drops % 10 === 0) {
      this.#owner.log.warn(
        { event: 'frame_dropped', drops: this.drops + 1, heldBytes: this.heldBytes },
        'sync frame not queued',
      )
    }
    this.drops++
  }

  #evict(step: 'evict_bytes' | 'evict_age'): void {
    const [reason, label]: [CloseReason, EvictionReason] =
      step === 'evict_bytes' ? [CLOSE.bufferLimit, 'buffer_limit'] : [CLOSE.congestedTooLong, 'congested']
    this.#deps.metrics.clientsDropped.add(label)
    this.#owner.log.warn(
      { event: 'client_evicted', reason: reason.text, heldBytes: this.heldBytes, drops: this.drops },
      'client evicted',
    )
    this.#end(reason, true)
  }
  #endIfDrained(): void {
    const { reason, since } = this.#ending!
    if (this.#wire.settle() === 0) {
      this.#shut()
      this.#sink.close(reason)
    } else if (this.#deps.clock.now() - since >= this.#deps.settings.closeGraceMs) {
      this.#shut()
      this.#sink.cut()
    }
  }
  #shut(): void {
    this.#state = 'closed'
    this.#wire.abandon()
    this.#deps.scheduler.forget(this)
  }

  #fold(): number {
    const folded = this.#held.clear()
    this.#deps.metrics.messagesDropped.add('sync', folded)
    return folded
  }
  #free(): void {
    this.#fold()
    this.#cursor = null
    this.#owedAt = Number.POSITIVE_INFINITY
    this.#resting = null
    this.#refusedPart = null
    this.#deps.metrics.messagesDropped.add('presence', this.#side.clear())
  }
}
