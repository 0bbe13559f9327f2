/**
 * One client, from its upgrade to its close.
 *   socket bytes ─▶ too many? too long? ─▶ backlog, until it is in its room ─▶ conversation
 * Frames that come while access is checked or the board is loaded are kept, in order, and handled after (FR6).
 */
import type { Logger } from 'pino'
import { expiryAlarm } from '../access/expiry-alarm.ts'
import type { Grant, Refusal } from '../access/grant.ts'
import { type MemoryFigures, noFigures } from '../budget/memory-figures.ts'
import type { Holder } from '../budget/memory-guard.ts'
import type { Clock } from '../observe/clock.ts'
import type { EveryTenth } from '../observe/every-tenth.ts'
import { LazyLog } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { FrameSink } from '../outbound/frame-sink.ts'
import type { Outbox } from '../outbound/outbox.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import type { Member } from '../room/member.ts'
import type { Room } from '../room/room.ts'
import { type RoomRegistry, RoomsFullError } from '../room/room-registry.ts'
import { Strikes } from '../room/strikes.ts'
import { Backlog } from './backlog.ts'
import type { FrameCount, FrameFlood } from './frame-flood.ts'
import type { LateWrites } from './late-writes.ts'
import { Membership, type MembershipDeps, type MembershipHost, type Newcomer } from './membership.ts'
import { RateLimiter, type Rates } from './rate-limiter.ts'
import { Reputation, type ReputationDeps, type ReputationEvents } from './reputation.ts'
import type { Peer } from './upgrade.ts'

export interface SessionSettings {
  /** `WS_MAX_MESSAGE_BYTES` */
  readonly maxMessageBytes: number
}

export interface SessionDeps extends MembershipDeps {
  readonly settings: SessionSettings
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Logger
  readonly registry: RoomRegistry
  /** What every connection's budget for document frames has in common. */
  readonly rates: Rates
  readonly reputation: ReputationDeps
  readonly late: LateWrites
  readonly flood: FrameFlood
  readonly floods: EveryTenth
  readonly refusals: EveryTenth
  readonly malformed: EveryTenth
  /** Epoch ms. */
  readonly wallClock: () => number
  /** Whether a grant still holds: time passed since it was given. */
  readonly holds: (grant: Grant) => boolean
}

/** A grant, or why not. */
export type Admission = Grant | Pick<Refusal, 'kind' | 'reason'>

/** What the upgrade said. */
export interface SessionRequest {
  /** The decoded room name, or null for one that is refused. */
  readonly room: string | null
  /** Canonical client address. */
  readonly address: string
  /** What shares a budget: the address, or an IPv6 address's /64. */
  readonly group: string
  /** Whether the client asked for notices (`?notices=1`). */
  readonly notices: boolean
  /** Whether it may come in, already under way. */
  readonly admission: Admission | Promise<Admission>
}

/** Header of a control frame that a server sends (RFC 6455, 5.2). */
const CONTROL_HEADER_BYTES = 2

type State =
  | { readonly name: 'admitting' }
  /** The socket is gone; what it had sent is written if access is granted (SP4). */
  | { readonly name: 'late'; readonly backlog: Backlog; readonly held: number }
  | { readonly name: 'joined'; readonly membership: Membership }
  | { readonly name: 'gone' }

export class Session implements Peer, MembershipHost, ReputationEvents {
  readonly #sink: FrameSink
  readonly #request: SessionRequest
  readonly #deps: SessionDeps
  readonly log: LazyLog
  readonly #limiter: RateLimiter
  readonly #frames: FrameCount
  #isFlooding = false
  readonly #strikes: Strikes
  /** What came before this client was in its room; null once that is handled. */
  #backlog: Backlog | null = new Backlog()
  #state: State = { name: 'admitting' }
  /** The outbox of a socket that is being ended: it still waits for the drain. */
  #ending: Outbox | null = null
  #isEntering = true
  #entered: (() => void) | null = null
  /** Bytes of pongs since the socket was last seen empty: they lie in its buffer, outside the outbox's accounts. */
  #pongBytes = 0
  readonly #openedAt: number
  #stopAlarm: (() => void) | null = null
  /** Once it was granted access. */
  #reputation: Reputation | null = null

  constructor(sink: FrameSink, request: SessionRequest, deps: SessionDeps) {
    this.#sink = sink
    this.#request = request
    this.#deps = deps
    this.log = new LazyLog(deps.log, { room: request.room, address: request.address })
    this.#limiter = new RateLimiter(deps.rates)
    this.#frames = deps.flood.open(request.group)
    this.#strikes = new Strikes(deps.clock)
    this.#openedAt = deps.clock.now()
  }

  /** The socket is open. */
  open(): void {
    this.#enter()
      .catch((error: unknown) => this.failed(error))
      .finally(() => {
        this.#isEntering = false
        this.#entered?.()
        this.#entered = null
      })
  }
  /** Whether it is neither let in nor refused yet. It may be gone all the same. */
  get isEntering(): boolean {
    return this.#isEntering
  }
  /** Calls `done` once that is over. */
  whenEntered(done: () => void): void {
    this.#entered = done
  }

  async #enter(): Promise<void> {
    const { room: name, admission } = this.#request
    try {
      if (name === null) {
        this.#refuse(CLOSE.badRoomName)
        return
      }
      const answer = await admission
      if (answer.kind === 'refusal') {
        this.#refuse(answer.reason)
        return
      }
      await this.#deps.registry.join(name, (room) => this.#join(room, answer), this.#owner(answer))
    } catch (error) {
      const full = error instanceof RoomsFullError
      if (!full) this.log.warn({ event: 'join_failed', err: error }, 'room could not be joined')
      this.#refuse(full ? error.reason : CLOSE.loadFailed)
    }
    // In a turn of its own: nothing is written from inside the socket's callback.
    this.#deps.clock.soon(() => this.#takeBacklog())
  }

  /** Whose a room is that this client brings into memory. */
  #owner({ subject }: Grant): string {
    return subject === null ? this.#request.group : `subject ${subject}`
  }

  /** One frame. `bytes` are only lent. */
  receive(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#isFlood(bytes.length) || this.#state.name === 'gone') return
    this.#deps.metrics.bytesReceived.add(bytes.length)
    if (bytes.length > this.#deps.settings.maxMessageBytes) {
      this.#deps.metrics.messageErrors.add('message_too_large')
      this.log.warn({ event: 'message_too_large', bytes: bytes.length }, 'message too large')
      this.end(CLOSE.messageTooLarge)
    } else if (!isBinary) {
      this.#deps.metrics.messagesReceived.values.text++
      this.malformed('text_frame')
    } else if (this.#backlog !== null) this.#backlog.keep(bytes)
    else this.#handle(bytes)
  }

  /** Counts one more frame. True: it is one too many, and the socket is gone. */
  #isFlood(length: number): boolean {
    const scope = this.#frames.add(length)
    if (scope === null) return false
    // It goes on, although it was closed: its close frame is kept back, or waits for what it does not read.
    if (this.#isFlooding || this.#state.name === 'gone') {
      this.#sink.cut()
      return true
    }
    this.#isFlooding = true
    const { metrics, floods } = this.#deps
    metrics.floods.add(scope)
    if (floods.due()) this.log.warn({ event: 'flood', scope, floods: floods.count }, 'too many frames')
    // At once: what else has come in this turn is then not read.
    this.#sink.close(CLOSE.tooManyFrames)
    return true
  }

  /** The socket has drained a little. */
  drained(): void {
    this.outbox?.drained()
  }
  pinged(length: number): void {
    this.#deps.metrics.messagesReceived.values.ping++
    if (this.#isFlood(length)) return
    const { hardBytes } = this.#deps.outbox.settings
    this.#pongBytes = this.#sink.bufferedBytes === 0 ? 0 : this.#pongBytes + length + CONTROL_HEADER_BYTES
    if (this.#pongBytes < hardBytes) return
    if (this.#membership !== null) this.#membership.outbox.evictForBytes()
    else this.#sink.cut()
  }
  ponged(): void {
    this.#deps.metrics.messagesReceived.values.pong++
    if (this.#isFlood(0)) return
    this.#membership?.ponged()
  }

  /** Something failed that is this client's alone: it is closed with 1011. Never throws. */
  failed(error: unknown): void {
    if (this.#membership !== null) {
      this.#membership.outbox.failed(error)
      return
    }
    this.#deps.metrics.errorsCaught.add('client')
    this.log.error({ event: 'client_failed', err: error }, 'client failed')
    this.#refuse(CLOSE.internalError)
  }

  /** Shows the client the door: what it still holds is sent, then the close frame. */
  end(reason: CloseReason): void {
    if (this.#membership !== null) this.#membership.outbox.end(reason)
    else this.#refuse(reason)
  }

  closed(code: number, cutForSize: boolean): void {
    this.#deps.metrics.countClose(code)
    this.#deps.flood.close(this.#request.group, this.#frames)
    if (cutForSize) {
      this.#deps.metrics.messageErrors.add('message_too_large')
      this.log.warn({ event: 'message_cut' }, 'message too large, cut')
      this.#reputation?.cut()
    }
    if (this.#waitsToWrite()) return
    const { outbox } = this
    this.#leave()
    outbox?.closed()
    this.#ending = null
    this.#reputation?.closed()
  }

  /**
   * The socket is gone, and frames that it sent have not been handled. What they write is written, now or when this client
   * would have been in its room. True: it is not there yet.
   */
  #waitsToWrite(): boolean {
    const backlog = this.#backlog
    if (backlog?.hasWrites !== true) return false
    if (this.#state.name === 'joined') {
      this.#backlog = null
      try {
        this.#state.membership.conversation.takeLate(backlog)
      } catch (error) {
        this.failed(error)
      }
    } else if (this.#state.name === 'admitting') {
      if (this.#deps.late.hold(this.#request.group, backlog.bytes)) {
        this.#state = { name: 'late', backlog, held: backlog.bytes }
        return true
      }
      this.#deps.metrics.lateWrites.add('no_room')
    }
    return false
  }
  /** What is left of a client that is gone: its edits. */
  #writeLate(backlog: Backlog, room: Room, grant: Grant): void {
    const newcomer = this.#newcomer(grant)
    new Membership(room, newcomer, this.#deps, this).writeLate(backlog)
    newcomer.reputation.closed()
    this.#settleLate()
  }
  /** There is nothing more to be written. */
  #settleLate(): void {
    if (this.#state.name !== 'late') return
    this.#deps.late.release(this.#request.group, this.#state.held)
    this.#state = { name: 'gone' }
    this.#backlog = null
  }

  /** Bytes in the socket's own buffer. */
  get bufferedBytes(): number {
    return this.#sink.bufferedBytes
  }
  /** Adds what is held for this client to `into`, and returns its sum. */
  tally(into: MemoryFigures): number {
    const sockets = this.#sink.bufferedBytes
    const queues = this.outbox?.queuedBytes ?? 0
    const backlogs = this.waitingBytes
    const parked = this.#membership?.member.repair.parkedBytes ?? 0
    into.sockets += sockets
    into.queues += queues
    into.backlogs += backlogs
    into.parked += parked
    return sockets + queues + backlogs + parked
  }
  /**
   * This client as a holder of memory, if it is one that does not do well: it does not take what it is sent, however little
   * that is yet, or has sent what is not applied yet. Null for all others.
   */
  slowHolder(): Holder | null {
    const { outbox } = this
    const bytes = this.tally(noFigures()) + (this.#membership?.intakeBytes ?? 0)
    const isSlow = outbox === null || outbox.state !== 'live' || bytes > 0 || this.#pongBytes > 0
    if (!isSlow) return null
    return {
      bytes,
      owner: this.#request.group,
      describe: () => ({ room: this.#request.room, address: this.#request.address, state: outbox?.state }),
      shed: () => {
        // One that is ending already has had its time.
        if (outbox?.state === 'ending') this.#sink.cut()
        else {
          // A few bytes in there may be a hundred times as many in the document.
          this.#membership?.giveUpWaiting()
          this.end(CLOSE.memoryShort)
        }
      },
    }
  }

  /** Bytes of frames that wait to be handled. */
  get waitingBytes(): number {
    return (this.#backlog?.bytes ?? 0) + (this.#membership?.conversation.heldBytes ?? 0)
  }
  /** For the sweep, the admin page and the drain on shutdown. */
  get outbox(): Outbox | null {
    return this.#membership?.outbox ?? this.#ending
  }
  /** What shares its budgets: its address, or an IPv6 address's /64. */
  get group(): string {
    return this.#request.group
  }
  get roomName(): string | null {
    return this.#request.room
  }
  get grant(): Grant | null {
    return this.#membership?.grant ?? null
  }
  get #membership(): Membership | null {
    return this.#state.name === 'joined' ? this.#state.membership : null
  }
  /** One row for the admin page. `now` is the clock's. */
  describe(now: number): object {
    const { room, address } = this.#request
    const { outbox } = this
    return {
      room,
      address,
      subject: this.grant?.subject ?? null,
      access: this.grant?.access ?? null,
      connectedSeconds: Math.round((now - this.#openedAt) / 1000),
      state: outbox?.state ?? 'admitting',
      queuedFrames: outbox?.queuedFrames ?? 0,
      heldBytes: outbox?.heldBytes ?? 0,
      drops: outbox?.drops ?? 0,
      resyncs: outbox?.resyncs ?? 0,
      limited: this.#membership?.conversation.isLimited ?? false,
      degraded: outbox?.isDegraded ?? false,
    }
  }

  /** Its room is there. Null: it is gone, or may not come in any more. */
  #join(room: Room, grant: Grant): Member | null {
    if (this.#state.name === 'gone') return null
    if (!this.#deps.holds(grant)) {
      this.#refuse(CLOSE.noAccess)
      return null
    }
    if (this.#state.name === 'late') {
      this.#writeLate(this.#state.backlog, room, grant)
      return null
    }
    const { clock, wallClock } = this.#deps
    const newcomer = this.#newcomer(grant)
    const membership = new Membership(room, newcomer, this.#deps, this)
    this.#state = { name: 'joined', membership }
    if (grant.expiresAt !== null) {
      this.#stopAlarm = expiryAlarm(clock, wallClock, grant, () => this.end(CLOSE.noAccess))
    }
    if (grant.access === 'read') membership.outbox.notify({ kind: 'read-only' })
    newcomer.reputation.joined()
    // What is known of it may have ended it at once.
    return this.#membership?.member ?? null
  }
  #newcomer(grant: Grant): Newcomer {
    const limiter = this.#limiter
    const reputation = new Reputation(this.#deps.reputation, this.#request, grant.subject, limiter, this)
    this.#reputation = reputation
    const wantsNotices = this.#request.notices
    return { grant, sink: this.#sink, strikes: this.#strikes, limiter, reputation, wantsNotices }
  }
  wasTooLarge(): void {
    this.end(CLOSE.messageTooLarge)
  }
  paced(intervalMs: number): void {
    this.#membership?.outbox.pace(intervalMs)
  }

  evicted(isEviction: boolean): void {
    if (isEviction) this.#reputation?.evicted()
    this.#leave()
  }

  #leave(): void {
    this.#stopAlarm?.()
    this.#reputation?.left()
    this.#backlog = null
    const membership = this.#membership
    this.#state = { name: 'gone' }
    if (membership === null) return
    membership.end()
    this.#ending = membership.outbox
    this.#deps.registry.leave(membership.room, membership.member)
  }

  /** Ends a socket that is in no room. */
  #refuse(reason: CloseReason): void {
    if (this.#state.name === 'gone') return
    if (this.#state.name === 'late') {
      this.#deps.metrics.lateWrites.add('refused')
      this.#settleLate()
      return
    }
    this.#state = { name: 'gone' }
    this.#backlog = null
    const { refusals } = this.#deps
    if (refusals.due())
      this.log.info({ event: 'refused', code: reason.code, reason: reason.text, refusals: refusals.count }, 'refused')
    this.#deps.clock.soon(() => this.#sink.close(reason))
  }

  #takeBacklog(): void {
    const backlog = this.#backlog
    if (this.#state.name !== 'joined' || backlog === null) return
    this.#backlog = null
    if (backlog.overflowed) {
      this.#deps.metrics.resyncsIn.add('load_overflow')
      this.#membership?.conversation.lost()
    }
    for (let bytes = backlog.take(); bytes !== null; bytes = backlog.take()) this.#handle(bytes)
  }

  #handle(bytes: Uint8Array): void {
    try {
      this.#membership?.conversation.take(bytes)
    } catch (error) {
      this.failed(error)
    }
  }
  malformed(reason: string): void {
    this.#deps.metrics.messageErrors.add(reason)
    if (this.#deps.malformed.due())
      this.log.info({ event: 'malformed_frame', reason, malformed: this.#deps.malformed.count }, 'malformed frame')
    if (this.#strikes.add()) this.end(CLOSE.malformedInput)
  }
}
