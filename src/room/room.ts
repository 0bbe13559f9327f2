/**
 * A room: one Y.Doc, its presence, the members watching.
 *   in   receive, announce, ask from a session · updates from storage and other nodes
 *   out  member.outbox, the keeper, the cluster
 * A flush applies what came in one transaction; every Yjs `update` event becomes one frame, encoded once, for everybody.
 */
import * as Y from 'yjs'
import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { collectedIn } from '../outbound/collected-deletes.ts'
import { encodeDeletes } from '../outbound/delete-ranges.ts'
import { DeleteRanges, DiffCursor, DiffSource, type StateVector } from '../outbound/diff-cursor.ts'
import type { SyncFrame } from '../outbound/outgoing.ts'
import { encodePresence, encodeStep1, encodeUpdate, KEEPALIVE } from '../protocol/frames.ts'
import { encodeEntries, type PresenceEntry, type PresenceError } from '../protocol/presence-frame.ts'
import { applyStored } from './apply-stored.ts'
import { BoardDoc } from './board-doc.ts'
import { Claims } from './claims.ts'
import { type Batch, Ingest } from './ingest.ts'
import type { Received } from './intake.ts'
import type { KeeperHost } from './keeper.ts'
import type { Member } from './member.ts'
import { applyOwned } from './owned-update.ts'
import { Pacer } from './pacer.ts'
import { Presence, type PresenceSettings, type PresenceTick } from './presence.ts'
import { RoomSize, type RoomSizeLimits } from './room-size.ts'
import type { Ticks } from './ticks.ts'

export interface RoomSettings extends PresenceSettings, RoomSizeLimits {
  /** `ROOM_FLUSH_INTERVAL_MS` */
  readonly flushIntervalMs: number
  /** `AWARENESS_FLUSH_INTERVAL_MS` */
  readonly presenceIntervalMs: number
}

export interface RoomDeps {
  readonly settings: RoomSettings
  readonly clock: Clock
  /** The grid all rooms share. */
  readonly ticks: Ticks
  readonly metrics: Metrics
  readonly log: Log
  readonly cluster: Cluster
  /** Where what the document emitted is kept. */
  readonly keep: (update: Uint8Array) => void
}

/** Longest stretch of applying updates before the loop is given back, ms. */
const FLUSH_BUDGET_MS = 10
/** A room is quiet, and answers at once, when it has not flushed for this many intervals. */
const QUIET_INTERVALS = 4
/** A member that was given nothing for this long gets a keep-alive: stock clients hang up after 30 s (FR5). */
const KEEPALIVE_AFTER_MS = 20_000

const REFUSALS = ['not_owner', 'too_many_ids', 'room_full'] as const

/** Transaction origins. What storage or another node brought is not stored or published again. */
const FROM_MEMBERS = Symbol('members')
const FROM_STORAGE = Symbol('storage')
const FROM_CLUSTER = Symbol('cluster')

/**
 * After a remote transaction Yjs tidies rich-text formats, and can delete one that a later slice needs (4 of 300
 * format-heavy worlds, cut at 300 bytes). A server only relays: with the transaction marked as its own, nothing is tidied.
 */
function asOwn(transaction: Y.Transaction): void {
  transaction.local = true
}

export class Room {
  readonly name: string
  readonly doc: Y.Doc
  readonly source: DiffSource
  readonly presence: Presence
  readonly members = new Set<Member>()
  readonly size: RoomSize
  readonly #deps: RoomDeps
  readonly #ingest: Ingest
  readonly #claims: Claims
  readonly #flushPacer: Pacer
  readonly #presencePacer: Pacer
  readonly #leaveCluster: () => void
  #presenceIsDue = false
  #remote: Uint8Array[] = []
  #questions: { readonly member: Member; readonly has: StateVector }[] = []
  #events: { readonly update: Uint8Array; readonly transaction: Y.Transaction }[] = []

  constructor(name: string, deps: RoomDeps) {
    this.name = name
    this.#deps = deps
    this.doc = new BoardDoc()
    this.source = new DiffSource(this.doc)
    this.presence = new Presence(deps.settings)
    this.size = new RoomSize(this.doc, deps.settings, deps.clock, () => this.#parts())
    this.#ingest = new Ingest(this.doc, this.size, deps)
    this.#claims = new Claims(this.presence, deps.clock, () => this.#presencePacer.ask())
    const { clock, ticks, settings } = deps
    const { flushIntervalMs, presenceIntervalMs } = settings
    const quietMs = QUIET_INTERVALS * flushIntervalMs
    this.#flushPacer = new Pacer(clock, ticks, flushIntervalMs, quietMs, () => this.#flush())
    this.#presencePacer = new Pacer(clock, ticks, presenceIntervalMs, 2 * presenceIntervalMs, () =>
      this.#tickPresence(),
    )
    this.doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
      this.#events.push({ update, transaction })
    })
    this.#leaveCluster = deps.cluster.join(name, {
      update: (update) => {
        this.#remote.push(update)
        this.#flushPacer.ask()
      },
      presence: () => {},
    })
  }

  /** Nothing received is still to be applied. */
  get isSettled(): boolean {
    return this.#ingest.isEmpty && this.#remote.length === 0 && this.#questions.length === 0
  }

  /** Takes in a member: it is asked what it has and told who is here; its own SyncStep1 brings it the board. */
  join(member: Member): void {
    this.members.add(member)
    member.repair.request()
    member.outbox.owePresence(this.presence.ids())
  }

  leave(member: Member): void {
    if (!this.members.delete(member)) return
    member.repair.stop()
    const now = this.#deps.clock.now()
    this.#claims.ownerLeft(member)
    if (this.presence.leave(member, now)) this.#presencePacer.ask()
  }

  /** The frame that asks a member for what the document does not have. Bound, so that members share it. */
  readonly step1 = (): Uint8Array => encodeStep1(Y.encodeStateVector(this.doc))

  /** Bytes that an answer to this SyncStep1 will take, roughly: a question is cheap to ask and may not be to answer. */
  answerBytes(has: StateVector): number {
    let [all, missing] = [0, 0]
    for (const [client, structs] of this.doc.store.clients) {
      const last = structs.at(-1)!
      const clock = last.id.clock + last.length
      all += clock
      missing += Math.max(0, clock - (has.get(client) ?? 0))
    }
    return all === 0 ? 0 : Math.ceil((this.size.bytes * missing) / all)
  }

  /** Authors of boards that were deleted under this name: whoever brings them would bring the board back (AC6). */
  bury(authors: Iterable<number>): void {
    this.#ingest.bury(authors)
  }
  /** Whether a client with this vector has a deleted board. */
  isDeleted(has: StateVector): boolean {
    return this.#ingest.isBuried(has.keys())
  }

  /** A checked update. It is in the document, and on its way to everybody, after the next flush. */
  receive(received: Received): void {
    if (received.isAnswer) received.member.repair.answered()
    this.#ingest.add(received)
    this.#flushPacer.ask()
  }

  /** A member's SyncStep1: answered after a flush, so that nobody's earlier edits come after it. */
  answer(member: Member, has: StateVector): void {
    this.#questions.push({ member, has })
    this.#flushPacer.askSoon()
  }

  /** A checked presence frame. An error refuses it whole. */
  announce(member: Member, entries: readonly PresenceEntry[], opening: boolean): PresenceError | null {
    const error = this.presence.errorIn(entries)
    if (error !== null) return error
    const now = this.#deps.clock.now()
    const { changed, claims, reannounce, refused } = this.presence.announce(member, entries, opening, now)
    if (refused !== null) {
      for (const reason of REFUSALS) this.#deps.metrics.presenceRefused.add(reason, refused[reason])
    }
    if (reannounce.length > 0) this.#tell(member, reannounce)
    for (const claim of claims) this.#claims.add(claim, member, (late) => this.#tell(member, late))
    if (changed) this.#presencePacer.ask()
    return null
  }
  /** "Who is here?" */
  tellPresence(member: Member): void {
    member.outbox.owePresence(this.presence.ids())
  }
  /** A member answered a ping: it is alive, so nobody takes its ids. */
  pong(member: Member): void {
    this.#deps.metrics.presenceRefused.add('not_owner', this.#claims.ownerLives(member))
  }

  /** Called about once a second. */
  sweep(): void {
    const now = this.#deps.clock.now()
    let isShared = false
    for (const { outbox } of this.members) {
      isShared ||= outbox.state === 'behind'
      const quiet = now - outbox.lastFrameAt >= KEEPALIVE_AFTER_MS
      if (quiet && (outbox.state === 'live' || outbox.state === 'joining')) outbox.pushControl('keepalive', KEEPALIVE)
    }
    // What cursors share is worth its memory only while some are running.
    if (!isShared) this.source.forgetCache()
  }

  /** What storage loads into and reads from. */
  keeperHost(): KeeperHost {
    const room = this
    return {
      apply(update) {
        applyStored(room.doc, update, FROM_STORAGE)
        // Left in the document, it would be gone through again with every record that follows.
        room.#ingest.putAside()
        room.size.grew(update.length)
        room.#events = []
      },
      parts: () => room.#parts(),
      get hasGaps() {
        return room.#ingest.hasGaps
      },
    }
  }

  /** The stored board is in the document. */
  loaded(): void {
    this.#ingest.putAside()
  }

  /** The room leaves memory. */
  destroy(): void {
    this.#flushPacer.stop()
    this.#presencePacer.stop()
    this.#claims.stop()
    this.size.stop()
    this.#leaveCluster()
    this.source.close()
    this.doc.destroy()
  }

  /** The whole document, in parts. */
  *#parts(): Generator<Uint8Array> {
    const cursor = new DiffCursor(this.source, new Map(), DeleteRanges.full())
    for (let part = cursor.next(); ; part = cursor.next()) {
      yield part.update
      if (part.last) return
    }
  }

  #tell(member: Member, entries: readonly PresenceEntry[]): void {
    member.outbox.pushControl(`presence:${entries[0]!.id}`, encodePresence(encodeEntries(entries)))
  }

  #flush(): void {
    const started = this.#deps.clock.now()
    this.#applyRemote(started)
    this.#applyReceived(started)
    if (this.#questions.length > 0) this.#answerQuestions()
    if (!this.#ingest.isEmpty) this.#flushPacer.askSoon()
    this.#deps.metrics.roomFlush.observe((this.#deps.clock.now() - started) / 1000)
  }

  #answerQuestions(): void {
    for (const { member, has } of this.#questions.splice(0)) if (this.members.has(member)) member.outbox.answer(has)
  }

  #applyReceived(started: number): void {
    if (this.#ingest.isEmpty) return
    let batch: Batch = { soleAuthor: null, oldest: started }
    try {
      this.doc.transact((transaction) => {
        batch = this.#ingest.apply(this.members, started + FLUSH_BUDGET_MS)
        asOwn(transaction)
      }, FROM_MEMBERS)
    } catch (error) {
      this.#deps.log.error({ err: error }, 'flush failed')
    }
    this.#emit(batch.soleAuthor, batch.oldest, true)
  }

  #applyRemote(started: number): void {
    if (this.#remote.length === 0) return
    const updates = this.#remote.splice(0)
    this.doc.transact((transaction) => {
      for (const update of updates) applyOwned(this.doc, update)
      asOwn(transaction)
    }, FROM_CLUSTER)
    this.#emit(null, started, false)
  }

  /** Hands what the document emitted to everybody, to storage and, for local work, to the other nodes. */
  #emit(soleAuthor: Member | null, at: number, isLocal: boolean): void {
    const events = this.#events
    this.#events = []
    let isFirst = true
    for (const { update, transaction } of events) {
      this.size.grew(update.length)
      const collected = collectedIn(transaction)
      const { beforeState, afterState, deleteSet } = transaction
      const deletes = collected === null ? deleteSet : Y.mergeDeleteSets([deleteSet, collected])
      // The first event is what the batch brought, all of it its author's own; a second is Yjs's clean-up after it.
      const skip = isFirst ? soleAuthor : null
      isFirst = false
      this.#send({ bytes: encodeUpdate(update), before: beforeState, deletes, at }, skip)
      this.#deps.keep(update)
      if (isLocal) this.#deps.cluster.publishUpdate(this.name, update)
      if (collected === null) continue
      const unnamed = encodeDeletes(collected)
      this.#send({ bytes: encodeUpdate(unnamed), before: afterState, deletes: collected, at }, skip)
      if (isLocal) this.#deps.cluster.publishUpdate(this.name, unnamed)
    }
  }

  /** Presence that is half due rides along: two frames cost one system call a member instead of two. */
  #send(frame: SyncFrame, skip: Member | null): void {
    const isRiding = this.#presenceIsDue || this.#presencePacer.takeOver(this.#deps.settings.presenceIntervalMs / 2)
    this.#presenceIsDue = false
    const [rider, ...others] = isRiding ? this.presence.tick() : []
    for (const member of this.members) {
      if (rider === undefined || member === rider.author) {
        if (member !== skip) member.outbox.pushSync(frame)
      } else if (member === skip) member.outbox.pushPresence(rider.frame)
      else member.outbox.pushBoth(frame, rider.frame)
    }
    for (const tick of others) this.#sendPresence(tick)
  }
  #sendPresence({ frame, author }: PresenceTick): void {
    for (const member of this.members) if (member !== author) member.outbox.pushPresence(frame)
  }
  #tickPresence(): void {
    // An update that is due at this moment takes it along.
    this.#presenceIsDue = true
    this.#flushPacer.runNow()
    if (!this.#presenceIsDue) return
    this.#presenceIsDue = false
    for (const tick of this.presence.tick()) this.#sendPresence(tick)
  }
}
