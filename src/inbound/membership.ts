/**
 * A client in its room: what it has only there, made when it comes in and given back when it leaves.
 *   conversation ─▶ member ─▶ outbox, and for all of them a share of the loop's time
 */
import type { Grant } from '../access/grant.ts'
import type { Account } from '../budget/account.ts'
import type { Share, Shares } from '../budget/share.ts'
import type { Clock } from '../observe/clock.ts'
import type { FrameSink } from '../outbound/frame-sink.ts'
import { Outbox, type OutboxDeps, type OutboxOwner } from '../outbound/outbox.ts'
import type { CloseReason } from '../protocol/close-reasons.ts'
import { Member, type MemberOwner } from '../room/member.ts'
import type { Room } from '../room/room.ts'
import type { Strikes } from '../room/strikes.ts'
import type { UpdateSummary } from '../update/update-check.ts'
import type { Backlog } from './backlog.ts'
import { Conversation, type ConversationDeps, type ConversationHost, type Participant } from './conversation.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Reputation } from './reputation.ts'
import { structTokens } from './sync-gate.ts'

export interface MembershipDeps {
  readonly clock: Clock
  readonly outbox: OutboxDeps
  readonly conversation: ConversationDeps
  /** Who may take how much of the loop's time. */
  readonly shares: Shares
}

/** What a client has had since before it came in. */
export interface Newcomer {
  readonly grant: Grant
  readonly sink: FrameSink
  readonly strikes: Strikes
  readonly limiter: RateLimiter
  readonly reputation: Reputation
  /** Whether it asked for notices. */
  readonly wantsNotices: boolean
}

/** The session. */
export interface MembershipHost extends ConversationHost {
  /** The socket is ending: by eviction (true), or because the room or the session said so. Called once. */
  evicted(isEviction: boolean): void
}

export class Membership implements OutboxOwner, MemberOwner, Participant {
  readonly room: Room
  readonly member: Member
  readonly conversation: Conversation
  readonly grant: Grant
  readonly limiter: RateLimiter
  readonly reputation: Reputation
  readonly wantsNotices: boolean
  readonly #share: Share
  readonly #deps: MembershipDeps
  readonly #host: MembershipHost

  constructor(room: Room, who: Newcomer, deps: MembershipDeps, host: MembershipHost) {
    this.room = room
    this.grant = who.grant
    this.limiter = who.limiter
    this.reputation = who.reputation
    this.wantsNotices = who.wantsNotices
    this.#deps = deps
    this.#host = host
    // First: whatever is written to the outbox is charged to it.
    this.#share = deps.shares.open(this.identity)
    const outbox = new Outbox(who.sink, room.source, room.presence, deps.outbox, this)
    this.member = new Member(outbox, who.strikes, host.log, deps.clock, room.step1, this, this.#share)
    this.conversation = new Conversation(this, deps.conversation, host)
  }

  /** It is gone already, and only its edits are left: it is no member, is told nothing and shows no presence. */
  writeLate(backlog: Backlog): void {
    this.outbox.closed()
    this.member.repair.stop()
    try {
      this.conversation.takeLate(backlog)
    } finally {
      this.end()
    }
  }

  /** It leaves the room, or never came into it. Its outbox may have to wait for its socket still. */
  end(): void {
    this.conversation.stop()
    this.#deps.shares.close(this.identity, this.#share)
  }

  /** The client is there. */
  ponged(): void {
    this.room.pong(this.member)
  }
  /** Bytes of its updates that wait to be applied. */
  get intakeBytes(): number {
    return this.room.waitingBytes(this.member)
  }
  /** Throws those away. */
  giveUpWaiting(): void {
    this.room.giveUpWaiting(this.member)
  }

  get outbox(): Outbox {
    return this.member.outbox
  }

  get log(): ConversationHost['log'] {
    return this.#host.log
  }
  get account(): Account {
    return this.#share.account
  }
  get identity(): string {
    return this.reputation.identity
  }
  evicted(_reason: CloseReason, isEviction: boolean): void {
    this.#host.evicted(isEviction)
  }
  pay(summary: UpdateSummary): void {
    const tokens = structTokens(summary)
    if (tokens > 0) this.limiter.spend(tokens, 0)
  }
}
