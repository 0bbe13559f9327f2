/**
 * One client, from its upgrade to its close.
 *   socket bytes ─▶ decode ─▶ echo? ─▶ budgets ─▶ rights ─▶ structural check ─▶ room
 * Frames that come while access is checked or the board is loaded are kept, in order, and handled after (FR6).
 */
import type { Logger } from 'pino'
import * as Y from 'yjs'
import { type MemoryFigures, noFigures } from '../budget/memory-figures.ts'
import type { Holder } from '../budget/memory-guard.ts'
import type { Clock } from '../observe/clock.ts'
import type { EveryTenth } from '../observe/every-tenth.ts'
import { LazyLog } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { FrameSink } from '../outbound/frame-sink.ts'
import { Outbox, type OutboxDeps, type OutboxOwner } from '../outbound/outbox.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { decodeFrame } from '../protocol/frames.ts'
import {
  decodePresence,
  isEcho,
  type PresenceError,
  type PresenceLimits,
  presenceLimit,
} from '../protocol/presence-frame.ts'
import { CHECK_LIMITS, checkStateVector, checkUpdate, type UpdateSummary } from '../protocol/update-check.ts'
import { CHECK_AT_ONCE_BYTES } from '../room/intake.ts'
import { Member, type MemberOwner } from '../room/member.ts'
import type { Room } from '../room/room.ts'
import { type RoomRegistry, RoomsFullError } from '../room/room-registry.ts'
import { Strikes } from '../room/strikes.ts'
import { Backlog } from './backlog.ts'
import { expiryAlarm } from './expiry-alarm.ts'
import type { FrameCount, FrameFlood } from './frame-flood.ts'
import type { Grant, Refusal } from './grant.ts'
import type { LateWrites } from './late-writes.ts'
import { PresenceGate, type PresenceGateEvents } from './presence-gate.ts'
import { RateLimiter, type Rates } from './rate-limiter.ts'
import { identityOf, Reputation, type ReputationDeps, type ReputationEvents } from './reputation.ts'
import { type GateEvents, SyncGate, structTokens } from './sync-gate.ts'
import type { Peer } from './upgrade.ts'

export interface SessionSettings {
  readonly presence: PresenceLimits
  /** `WS_MAX_MESSAGE_BYTES` */
  readonly maxMessageBytes: number
}

export interface SessionDeps {
  readonly settings: SessionSettings
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Logger
  readonly registry: RoomRegistry
  readonly outbox: OutboxDeps
  /** What every connection's budget for document frames has in common. */
  readonly rates: Rates
  /** What every connection's budget for presence has in common. */
  readonly presenceRates: Rates
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

/** A client is not told again within this time that its presence is refused, ms. */
const TELL_REFUSAL_MS = 5_000

type State =
  | { readonly name: 'admitting' }
  /** The socket is gone; what it had sent is written if access is granted (SP4). */
  | { readonly name: 'late'; readonly held: number }
  | { readonly name: 'joined'; readonly room: Room; readonly member: Member; readonly grant: Grant }
  | { readonly name: 'gone' }

export class Session implements Peer, OutboxOwner, GateEvents, PresenceGateEvents, MemberOwner, ReputationEvents {
  readonly #sink: FrameSink
  readonly #request: SessionRequest
  readonly #deps: SessionDeps
  readonly log: LazyLog
  readonly #limiter: RateLimiter
  readonly #frames: FrameCount
  readonly #strikes: Strikes
  /** What came before this client was in its room; null once that is handled. */
  #backlog: Backlog | null = new Backlog()
  #gate: SyncGate | null = null
  #presence: PresenceGate | null = null
  #toldRefusalAt = Number.NEGATIVE_INFINITY
  #state: State = { name: 'admitting' }
  /** No SyncStep2 of this connection yet: a presence frame with one entry is its own (see presence). */
  #opening = true
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
    this.#enter().catch((error: unknown) => this.failed(error))
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
      if (!full) this.log.warn({ err: error }, 'room could not be joined')
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
      this.log.warn({ bytes: bytes.length }, 'message too large')
      this.end(CLOSE.messageTooLarge)
    } else if (!isBinary) {
      this.#deps.metrics.messagesReceived.values.text++
      this.#malformed('text_frame')
    } else if (this.#backlog !== null) this.#backlog.keep(bytes)
    else this.#handle(bytes)
  }

  /** Counts one more frame. True: it is one too many, and the socket is gone. */
  #isFlood(length: number): boolean {
    const scope = this.#frames.add(length)
    if (scope === null) return false
    const { metrics, floods } = this.#deps
    metrics.floods.add(scope)
    if (floods.due()) this.log.warn({ scope, floods: floods.count }, 'too many frames')
    // At once: what else has come in this turn is then not read. A socket that is being ended has had its close frame.
    if (this.#state.name === 'gone') this.#sink.cut()
    else this.#sink.close(CLOSE.tooManyFrames)
    return true
  }

  /** The socket has drained a little. */
  drained(): void {
    if (this.#state.name === 'joined') this.#state.member.outbox.drained()
    else this.#ending?.drained()
  }
  pinged(length: number): void {
    this.#deps.metrics.messagesReceived.values.ping++
    if (this.#isFlood(length)) return
    const { hardBytes } = this.#deps.outbox.settings
    this.#pongBytes = this.#sink.bufferedBytes === 0 ? 0 : this.#pongBytes + length + CONTROL_HEADER_BYTES
    if (this.#pongBytes < hardBytes) return
    if (this.#state.name === 'joined') this.#state.member.outbox.evictForBytes()
    else this.#sink.cut()
  }
  ponged(): void {
    this.#deps.metrics.messagesReceived.values.pong++
    if (this.#isFlood(0)) return
    if (this.#state.name === 'joined') this.#state.room.pong(this.#state.member)
  }

  /** Something failed that is this client's alone: it is closed with 1011. Never throws. */
  failed(error: unknown): void {
    if (this.#state.name === 'joined') {
      this.#state.member.outbox.failed(error)
      return
    }
    this.#deps.metrics.errorsCaught.add('client')
    this.log.error({ err: error }, 'client failed')
    this.#refuse(CLOSE.internalError)
  }

  /** Shows the client the door: what it still holds is sent, then the close frame. */
  end(reason: CloseReason): void {
    if (this.#state.name === 'joined') this.#state.member.outbox.end(reason)
    else this.#refuse(reason)
  }

  closed(code: number, cutForSize: boolean): void {
    this.#deps.metrics.countClose(code)
    this.#deps.flood.close(this.#request.group, this.#frames)
    if (cutForSize) {
      this.#deps.metrics.messageErrors.add('message_too_large')
      this.log.warn('message too large, cut')
      this.#reputation?.cut()
    }
    if (this.#waitsToWrite()) return
    const outbox = this.#state.name === 'joined' ? this.#state.member.outbox : this.#ending
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
      const { room, member, grant } = this.#state
      this.#backlog = null
      this.#write(backlog, room, member, grant)
    } else if (this.#state.name === 'admitting') {
      if (this.#deps.late.hold(backlog.bytes)) {
        this.#state = { name: 'late', held: backlog.bytes }
        return true
      }
      this.#deps.metrics.lateWrites.add('no_room')
    }
    return false
  }
  /** What is left of a client that is gone: its edits. It is no member, is told nothing and shows no presence. */
  #writeLate(room: Room, grant: Grant): void {
    const backlog = this.#backlog
    const reputation = this.#remember(grant)
    const outbox = new Outbox(this.#sink, room.source, room.presence, this.#deps.outbox, this)
    outbox.closed()
    const member = new Member(outbox, this.#strikes, this.log, this.#deps.clock, room.step1, this)
    member.repair.stop()
    if (backlog !== null) this.#write(backlog, room, member, grant)
    reputation.closed()
    this.#settleLate()
  }
  #write(backlog: Backlog, room: Room, member: Member, grant: Grant): void {
    this.#deps.metrics.lateWrites.add(grant.access === 'write' ? 'written' : 'refused')
    if (grant.access !== 'write') return
    for (let bytes = backlog.take(); bytes !== null; bytes = backlog.take()) {
      const frame = decodeFrame(bytes)
      if (frame.kind !== 'update' && frame.kind !== 'step2') continue
      this.#deps.metrics.messagesReceived.values.sync++
      // Nobody is left to be asked again: it is taken whatever it costs, and what it costs is debt.
      this.#limiter.spend(1, bytes.length)
      this.#update(room, member, frame.payload, frame.kind === 'step2')
    }
  }
  /** There is nothing more to be written. */
  #settleLate(): void {
    if (this.#state.name !== 'late') return
    this.#deps.late.release(this.#state.held)
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
    const parked = this.#state.name === 'joined' ? this.#state.member.repair.parkedBytes : 0
    into.sockets += sockets
    into.queues += queues
    into.backlogs += backlogs
    into.parked += parked
    return sockets + queues + backlogs + parked
  }
  /**
   * This client as a holder of memory, if it is one that does not do well: it does not take what it is sent, or has sent what
   * is not applied yet. Null for all others.
   */
  slowHolder(): Holder | null {
    const { outbox } = this
    const intake = this.#state.name === 'joined' ? this.#state.room.waitingBytes(this.#state.member) : 0
    const isSlow = outbox === null || outbox.state !== 'live' || intake > 0 || this.#pongBytes > 0
    if (!isSlow) return null
    return {
      bytes: this.tally(noFigures()) + intake,
      describe: () => ({ room: this.#request.room, address: this.#request.address, state: outbox?.state }),
      shed: () => {
        // One that is ending already has had its time.
        if (outbox?.state === 'ending') this.#sink.cut()
        else this.end(CLOSE.memoryShort)
      },
    }
  }

  /** Bytes of frames that wait to be handled. */
  get waitingBytes(): number {
    return (this.#backlog?.bytes ?? 0) + (this.#presence?.heldBytes ?? 0)
  }
  /** For the sweep, the admin page and the drain on shutdown. */
  get outbox(): Outbox | null {
    return this.#state.name === 'joined' ? this.#state.member.outbox : this.#ending
  }
  /** What shares its budgets: its address, or an IPv6 address's /64. */
  get group(): string {
    return this.#request.group
  }
  get roomName(): string | null {
    return this.#request.room
  }
  get grant(): Grant | null {
    return this.#state.name === 'joined' ? this.#state.grant : null
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
      limited: this.#gate?.isLimited ?? false,
      degraded: outbox?.isDegraded ?? false,
    }
  }
  /** The outbox of a socket that is being ended: it still waits for the drain. */
  #ending: Outbox | null = null

  #join(room: Room, grant: Grant): Member | null {
    if (this.#state.name === 'gone') return null
    if (!this.#deps.holds(grant)) {
      this.#refuse(CLOSE.noAccess)
      return null
    }
    if (this.#state.name === 'late') {
      this.#writeLate(room, grant)
      return null
    }
    const { clock } = this.#deps
    const reputation = this.#remember(grant)
    const outbox = new Outbox(this.#sink, room.source, room.presence, this.#deps.outbox, this)
    const member = new Member(outbox, this.#strikes, this.log, clock, room.step1, this)
    this.#state = { name: 'joined', room, member, grant }
    if (grant.expiresAt !== null) {
      this.#stopAlarm = expiryAlarm(clock, this.#deps.wallClock, grant, () => this.end(CLOSE.noAccess))
    }
    this.#gate = new SyncGate(this.#limiter, member.repair, clock, this)
    const { presenceRates, metrics } = this.#deps
    this.#presence = new PresenceGate(new RateLimiter(presenceRates), clock, metrics.presenceSuperseded, this)
    if (grant.access === 'read') outbox.notify({ kind: 'read-only' })
    reputation.joined()
    return this.#state.name === 'joined' ? member : null
  }
  #remember(grant: Grant): Reputation {
    const { room, address, group } = this.#request
    const where = { room: room ?? '', address, group }
    this.#reputation = new Reputation(this.#deps.reputation, where, grant.subject, this.#limiter, this)
    return this.#reputation
  }
  tooLarge(): void {
    this.end(CLOSE.messageTooLarge)
  }
  paced(intervalMs: number): void {
    if (this.#state.name === 'joined') this.#state.member.outbox.pace(intervalMs)
  }

  get wantsNotices(): boolean {
    return this.#request.notices
  }
  evicted(_reason: CloseReason, isEviction: boolean): void {
    if (isEviction) this.#reputation?.evicted()
    this.#leave()
  }

  limited(): void {
    this.#deps.metrics.rateLimited.add()
  }
  dropping(isDropping: boolean): void {
    this.outbox?.notify({ kind: isDropping ? 'limited' : 'limit-lifted' })
  }
  repairing(): void {
    this.#deps.metrics.resyncsIn.add('rate_limited')
    this.log.info('rate limited: asking for what was dropped')
  }
  putOff(bytes: Uint8Array): void {
    this.#handle(bytes)
  }
  presenceDue(payload: Uint8Array): void {
    if (this.#state.name !== 'joined') return
    const { room, member, grant } = this.#state
    try {
      this.#announce(room, member, payload, grant.cursor)
    } catch (error) {
      this.failed(error)
    }
  }
  queryDue(): void {
    if (this.#state.name !== 'joined') return
    try {
      this.#state.room.tellPresence(this.#state.member)
    } catch (error) {
      this.failed(error)
    }
  }

  get identity(): string {
    return this.#reputation?.identity ?? identityOf(null, this.#request.group)
  }
  pay(summary: UpdateSummary): void {
    const tokens = structTokens(summary)
    if (tokens > 0) this.#limiter.spend(tokens, 0)
  }

  #leave(): void {
    this.#stopAlarm?.()
    this.#reputation?.left()
    this.#gate?.stop()
    this.#gate = null
    this.#presence?.stop()
    this.#presence = null
    this.#backlog = null
    if (this.#state.name === 'joined') {
      const { room, member } = this.#state
      this.#ending = member.outbox
      this.#state = { name: 'gone' }
      this.#deps.registry.leave(room, member)
    }
    this.#state = { name: 'gone' }
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
    if (refusals.due()) this.log.info({ code: reason.code, reason: reason.text, refusals: refusals.count }, 'refused')
    this.#deps.clock.soon(() => this.#sink.close(reason))
  }

  #takeBacklog(): void {
    const backlog = this.#backlog
    if (this.#state.name !== 'joined' || backlog === null) return
    this.#backlog = null
    if (backlog.overflowed) {
      this.#deps.metrics.resyncsIn.add('load_overflow')
      this.#gate?.lost()
    }
    for (let bytes = backlog.take(); bytes !== null; bytes = backlog.take()) this.#handle(bytes)
  }

  #handle(bytes: Uint8Array): void {
    try {
      this.#take(bytes)
    } catch (error) {
      this.failed(error)
    }
  }
  #take(bytes: Uint8Array): void {
    if (this.#state.name !== 'joined' || this.#gate === null || this.#presence === null) return
    const { room, member, grant } = this.#state
    const canWrite = grant.access === 'write'
    // In place: `add` serves all labels of all counters, and this is done for every frame.
    const received = this.#deps.metrics.messagesReceived.values
    const frame = decodeFrame(bytes)
    switch (frame.kind) {
      case 'malformed':
        received.malformed++
        this.#malformed(frame.reason)
        break
      case 'presence':
        received.presence++
        if (isEcho(frame.payload, room.presence.knownClock) && !this.#introduces(frame.payload))
          this.#echoed(member, bytes.length)
        else if (this.#presence.admit(frame.payload)) this.#announce(room, member, frame.payload, grant.cursor)
        break
      case 'query_presence':
        received.presence++
        if (this.#presence.admitQuery(room.presence.bytes)) room.tellPresence(member)
        break
      case 'step1':
        received.sync++
        if (this.#gate.admitQuestion(bytes)) this.#question(room, member, frame.payload)
        break
      case 'step2':
        received.sync++
        this.#opening = false
        if (!canWrite) member.repair.answered()
        else if (this.#gate.admitAnswer(bytes.length)) this.#update(room, member, frame.payload, true)
        break
      case 'update':
        received.sync++
        if (canWrite && this.#gate.admitUpdate(bytes.length)) this.#update(room, member, frame.payload, false)
    }
  }

  #question(room: Room, member: Member, payload: Uint8Array): void {
    const check = checkStateVector(payload)
    if (!check.ok) {
      this.#malformed(check.reason)
      return
    }
    this.#gate?.spendForVector(check.clients)
    const isTooMany = check.clients > room.mostNamed
    // Yjs makes a map of them, some 60 bytes for 2 bytes here; it is only made where it may say that the board was deleted.
    if (check.clients > 2 * CHECK_LIMITS.authors || (isTooMany && !room.hasBuried)) {
      this.#tooLarge()
      return
    }
    const has = Y.decodeStateVector(payload.slice())
    if (room.isDeleted(has)) {
      this.end(CLOSE.boardDeleted)
      return
    }
    if (isTooMany) {
      this.#tooLarge()
      return
    }
    this.#gate?.spendForAnswer(room.answerBytes(has))
    room.answer(member, has)
    this.#reputation?.asked(() => room.lacks(has))
  }

  #update(room: Room, member: Member, payload: Uint8Array, isAnswer: boolean): void {
    this.#reputation?.writes()
    let summary: UpdateSummary | null = null
    if (payload.length <= CHECK_AT_ONCE_BYTES) {
      const check = checkUpdate(payload)
      if (!check.ok) {
        // An answer that cannot be used was still the answer: asking again would bring the same.
        if (isAnswer) member.repair.answered()
        if (check.reason === 'authors') this.#tooLarge()
        else this.#malformed(check.reason)
        return
      }
      summary = check.summary
      this.pay(summary)
      if (summary.isEmpty && !isAnswer) return
    }
    // Copied into Node's pool where it is small; it is applied within a tick or two.
    room.receive({ member, update: Buffer.from(payload), summary, isAnswer, at: this.#deps.clock.now() })
  }

  #announce(room: Room, member: Member, payload: Uint8Array, mayShow: boolean): void {
    if (!mayShow) return
    const decoded = decodePresence(payload, this.#deps.settings.presence)
    const error = 'error' in decoded ? decoded.error : room.announce(member, decoded.entries, this.#opening)
    if (error !== null) this.#refusePresence(error)
    else if (member.ownId !== null) this.#reputation?.announced(member.ownId)
  }
  /** A frame over a limit is not taken, and that is all; one that no stock client can have written is an offence. */
  #refusePresence(error: PresenceError): void {
    const limit = presenceLimit(error)
    if (limit === undefined) {
      this.#malformed(error)
      return
    }
    const { metrics, clock } = this.#deps
    metrics.messageErrors.add(error)
    metrics.presenceRefused.add(limit)
    const now = clock.now()
    if (now - this.#toldRefusalAt < TELL_REFUSAL_MS) return
    this.#toldRefusalAt = now
    this.outbox?.notify({ kind: 'presence-refused', reason: limit })
  }
  /** A first frame with one entry may bear a clock that is known: the client announces itself, it does not echo. */
  #introduces(payload: Uint8Array): boolean {
    return this.#opening && payload[0] === 1
  }
  #echoed({ outbox }: Member, length: number): void {
    this.#deps.metrics.presenceEchoes.add()
    this.#presence?.echoed(length, outbox.presenceBytes)
  }

  /** More authors than any board may have: said once and for all, since whoever has them would bring them again. */
  #tooLarge(): void {
    this.#deps.metrics.messageErrors.add('board_too_large')
    this.end(CLOSE.boardTooLarge)
  }
  #malformed(reason: string): void {
    this.#deps.metrics.messageErrors.add(reason)
    if (this.#deps.malformed.due()) this.log.info({ reason, malformed: this.#deps.malformed.count }, 'malformed frame')
    if (this.#strikes.add()) this.end(CLOSE.malformedInput)
  }
}
