/**
 * What one client says while it is in its room.
 *   frame ─▶ decode ─▶ echo? ─▶ budgets ─▶ rights ─▶ structural check ─▶ room
 */
import * as Y from 'yjs'
import type { Grant } from '../access/grant.ts'
import type { Shares } from '../budget/share.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { decodeFrame, updateFrameLength } from '../protocol/frames.ts'
import {
  decodePresence,
  isEcho,
  type PresenceError,
  type PresenceLimits,
  presenceLimit,
} from '../protocol/presence-frame.ts'
import { readVarUint } from '../protocol/varuint.ts'
import { CHECK_AT_ONCE_BYTES } from '../room/intake.ts'
import type { Member } from '../room/member.ts'
import type { Room } from '../room/room.ts'
import { CHECK_LIMITS, checkStateVector, checkUpdate, type UpdateSummary } from '../update/update-check.ts'
import type { Backlog } from './backlog.ts'
import { PresenceGate, type PresenceGateEvents } from './presence-gate.ts'
import { RateLimiter, type Rates } from './rate-limiter.ts'
import type { Reputation } from './reputation.ts'
import { type GateEvents, SyncGate } from './sync-gate.ts'

export interface ConversationDeps {
  readonly presenceLimits: PresenceLimits
  /** What every connection's budget for presence has in common. */
  readonly presenceRates: Rates
  readonly clock: Clock
  readonly metrics: Metrics
  /** Says whether an update may be checked at once. */
  readonly shares: Pick<Shares, 'mayCheck'>
  /** Whether little memory is left: less may wait then. */
  readonly isMemoryTight: () => boolean
}

/** Who is in the room, with what. */
export interface Participant {
  readonly room: Room
  readonly member: Member
  readonly grant: Grant
  readonly limiter: RateLimiter
  readonly reputation: Reputation
}

/** The session. */
export interface ConversationHost {
  readonly log: Log
  /** Shows the client the door. */
  end(reason: CloseReason): void
  /** A frame that cannot be used: counted, and with the last one the client is closed. */
  malformed(reason: string): void
  /** Something failed that is this client's alone. */
  failed(error: unknown): void
}

/**
 * Bytes of one client's updates that may wait to be applied. Eight seconds of what the byte budget lets through: who has more is
 * waited for in any case, and an update that is dropped here comes back with the answer to a SyncStep1.
 */
const MAX_WAITING_BYTES = 4 << 20
/** The same while little memory is left. */
const MAX_WAITING_TIGHT_BYTES = 65_536
/** Most authors of a SyncStep1 that is looked at: twice what an update may have. */
const MOST_NAMED = 2 * CHECK_LIMITS.authors
/** What an author and its clock take in a SyncStep1 at most. */
const NAMED_BYTES = 16
/** A client is not told again within this time that its presence is refused, ms. */
const TELL_REFUSAL_MS = 5_000

export class Conversation implements GateEvents, PresenceGateEvents {
  readonly #deps: ConversationDeps
  readonly #host: ConversationHost
  readonly #who: Participant
  readonly #gate: SyncGate
  readonly #presence: PresenceGate
  #toldRefusalAt = Number.NEGATIVE_INFINITY
  /** No SyncStep2 of this connection yet: a presence frame with one entry is its own (see presence). */
  #opening = true
  #isOver = false

  constructor(who: Participant, deps: ConversationDeps, host: ConversationHost) {
    const { clock, presenceRates, presenceLimits, metrics } = deps
    this.#deps = deps
    this.#host = host
    this.#who = who
    this.#gate = new SyncGate(who.limiter, who.member.repair, clock, this)
    const { maxStateBytes } = presenceLimits
    const limiter = new RateLimiter(presenceRates)
    this.#presence = new PresenceGate(limiter, clock, maxStateBytes, metrics.presenceSuperseded, this)
  }

  /** Whether its updates are being dropped. */
  get isLimited(): boolean {
    return this.#gate.isLimited
  }
  /** Bytes of frames that wait for a budget. */
  get heldBytes(): number {
    return this.#presence.heldBytes + this.#gate.heldBytes
  }

  /** One frame. `bytes` are only lent. */
  take(bytes: Uint8Array): void {
    if (this.#isOver) return
    const { room, member, grant } = this.#who
    const canWrite = grant.access === 'write'
    // In place: `add` serves all labels of all counters, and this is done for every frame.
    const received = this.#deps.metrics.messagesReceived.values
    const frame = decodeFrame(bytes)
    switch (frame.kind) {
      case 'malformed':
        received.malformed++
        this.#host.malformed(frame.reason)
        break
      case 'presence':
        received.presence++
        if (isEcho(frame.payload, room.presence.knownClock) && !this.#introduces(frame.payload))
          this.#echoed(bytes.length)
        else if (this.#presence.admit(frame.payload)) this.#announce(frame.payload)
        break
      case 'query_presence':
        received.presence++
        if (this.#presence.admitQuery(room.presence.bytes)) room.tellPresence(member)
        break
      case 'step1':
        received.sync++
        if (this.#gate.admitQuestion(bytes)) this.#question(frame.payload)
        // One that says more than any board here may have does not wait until it is read.
        else if (bytes.length > room.mostNamed * NAMED_BYTES) this.#tooLarge()
        break
      case 'step2':
        received.sync++
        this.#opening = false
        if (!canWrite) member.repair.answered()
        else if (this.#gate.admitAnswer(bytes.length)) this.#update(frame.payload, true)
        break
      case 'update':
        received.sync++
        if (canWrite && this.#gate.admitUpdate(bytes.length)) this.#update(frame.payload, false, bytes)
    }
  }

  /**
   * What a client had said when it went: of that only its edits. Nobody is left to be asked again, so that they are taken
   * whatever they cost, and what they cost is debt.
   */
  takeLate(backlog: Backlog): void {
    const { grant, limiter } = this.#who
    this.#deps.metrics.lateWrites.add(grant.access === 'write' ? 'written' : 'refused')
    if (grant.access !== 'write') return
    for (let bytes = backlog.take(); bytes !== null; bytes = backlog.take()) {
      const frame = decodeFrame(bytes)
      if (frame.kind !== 'update' && frame.kind !== 'step2') continue
      this.#deps.metrics.messagesReceived.values.sync++
      limiter.spend(1, bytes.length)
      this.#update(frame.payload, frame.kind === 'step2')
    }
  }
  /** Updates of this client were lost before they came here. */
  lost(): void {
    this.#gate.lost()
  }
  /** It has left. */
  stop(): void {
    this.#isOver = true
    this.#gate.stop()
    this.#presence.stop()
  }

  limited(): void {
    this.#deps.metrics.rateLimited.add()
  }
  dropping(isDropping: boolean): void {
    this.#who.member.outbox.notify({ kind: isDropping ? 'limited' : 'limit-lifted' })
  }
  repairing(): void {
    this.#deps.metrics.resyncsIn.add('rate_limited')
    this.#host.log.warn({ event: 'rate_limited' }, 'rate limited: asking for what was dropped')
  }
  putOff(bytes: Uint8Array): void {
    this.#later(() => this.take(bytes))
  }
  presenceDue(payload: Uint8Array): void {
    this.#later(() => this.#announce(payload))
  }
  queryDue(): void {
    const { room, member } = this.#who
    this.#later(() => room.tellPresence(member))
  }
  /** Behind a timer nobody else looks at what this client alone has caused. */
  #later(work: () => void): void {
    if (this.#isOver) return
    try {
      work()
    } catch (error) {
      this.#host.failed(error)
    }
  }

  #question(payload: Uint8Array): void {
    const { room, member, reputation } = this.#who
    // What it says that it names is believed when it is this much: 16 MiB of it would take a tenth of a second to read.
    if (readVarUint(payload, 0) > MOST_NAMED) {
      this.#tooLarge()
      return
    }
    const check = checkStateVector(payload)
    if (!check.ok) {
      this.#host.malformed(check.reason)
      return
    }
    this.#gate.spendForVector(check.clients)
    const isTooMany = check.clients > room.mostNamed
    // Yjs makes a map of them, some 60 bytes for 2 bytes here; it is only made where it may say that the board was deleted.
    if (isTooMany && !room.hasBuried) {
      this.#tooLarge()
      return
    }
    const has = Y.decodeStateVector(payload.slice())
    if (room.isDeleted(has)) {
      this.#host.end(CLOSE.boardDeleted)
      return
    }
    if (isTooMany) {
      this.#tooLarge()
      return
    }
    this.#gate.spendForAnswer(room.answerBytes(has))
    room.answer(member, has)
    reputation.asked(() => room.lacks(has))
  }

  /** `whole`: the frame that the payload ends. */
  #update(payload: Uint8Array, isAnswer: boolean, whole?: Uint8Array): void {
    const { room, member, reputation } = this.#who
    reputation.writes()
    if (!this.#hasPlace(payload.length, isAnswer)) return
    let summary: UpdateSummary | null = null
    if (payload.length <= CHECK_AT_ONCE_BYTES && this.#deps.shares.mayCheck(payload.length)) {
      const check = checkUpdate(payload)
      if (!check.ok) {
        // An answer that cannot be used was still the answer: asking again would bring the same.
        if (isAnswer) member.repair.answered()
        if (check.reason === 'authors') this.#tooLarge()
        else this.#host.malformed(check.reason)
        return
      }
      summary = check.summary
      member.owner.pay(summary)
      if (summary.isEmpty && !isAnswer) return
    }
    const at = this.#deps.clock.now()
    // Copied into Node's pool where it is small; it is applied within a tick or two. A frame as we would write it goes out again.
    if (whole !== undefined && summary !== null && whole.length === updateFrameLength(payload.length)) {
      const frame = Buffer.from(whole)
      const update = frame.subarray(frame.length - payload.length)
      room.receive({ member, update, frame, summary, isAnswer, at })
    } else room.receive({ member, update: Buffer.from(payload), summary, isAnswer, at })
  }

  /** What waits to be applied is bounded (LT3). The answer that was asked for is taken: it comes once, and ends the asking. */
  #hasPlace(length: number, isAnswer: boolean): boolean {
    const { waitingBytes, repair } = this.#who.member
    const most = this.#deps.isMemoryTight() ? MAX_WAITING_TIGHT_BYTES : MAX_WAITING_BYTES
    if (waitingBytes === 0 || waitingBytes + length <= most) return true
    if (isAnswer && repair.isAnswerDue) return true
    this.#deps.metrics.resyncsIn.add('intake_full')
    this.#gate.lost()
    return false
  }

  #announce(payload: Uint8Array): void {
    const { room, member, grant, reputation } = this.#who
    if (!grant.cursor) return
    const decoded = decodePresence(payload, this.#deps.presenceLimits)
    const error = 'error' in decoded ? decoded.error : room.announce(member, decoded.entries, this.#opening)
    if (error !== null) this.#refusePresence(error)
    else if (member.ownId !== null) reputation.announced(member.ownId)
  }
  /** A frame over a limit is not taken, and that is all; one that no stock client can have written is an offence. */
  #refusePresence(error: PresenceError): void {
    const limit = presenceLimit(error)
    if (limit === undefined) {
      this.#host.malformed(error)
      return
    }
    const { metrics, clock } = this.#deps
    metrics.messageErrors.add(error)
    metrics.presenceRefused.add(limit)
    const now = clock.now()
    if (now - this.#toldRefusalAt < TELL_REFUSAL_MS) return
    this.#toldRefusalAt = now
    this.#who.member.outbox.notify({ kind: 'presence-refused', reason: limit })
  }
  /** A first frame with one entry may bear a clock that is known: the client announces itself, it does not echo. */
  #introduces(payload: Uint8Array): boolean {
    return this.#opening && payload[0] === 1
  }
  #echoed(length: number): void {
    this.#deps.metrics.presenceEchoes.add()
    this.#presence.echoed(length, this.#who.member.outbox.presenceBytes)
  }

  /** More authors than any board may have: said once and for all, since whoever has them would bring them again. */
  #tooLarge(): void {
    this.#deps.metrics.messageErrors.add('board_too_large')
    this.#host.end(CLOSE.boardTooLarge)
  }
}
