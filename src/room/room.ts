/**
 * A room: one Y.Doc, its presence, the members watching.
 *   in   receive, announce, ask from a session · updates from storage and other nodes
 *   out  member.outbox, the keeper, the cluster
 * A flush applies what came in one transaction; every Yjs `update` event becomes one frame, encoded once, for everybody.
 */
import type { Logger } from 'pino'
import * as Y from 'yjs'
import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../observe/clock.ts'
import type { Metrics } from '../observe/metrics.ts'
import { DeleteRanges, DiffCursor, DiffSource, type StateVector } from '../outbound/diff-cursor.ts'
import type { SyncFrame } from '../outbound/outbox.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { encodePresence, encodeStep1, encodeUpdate, KEEPALIVE } from '../protocol/frames.ts'
import { encodeEntries, type PresenceEntry, type PresenceError } from '../protocol/presence-frame.ts'
import { Claims } from './claims.ts'
import { Intake, type Received, type Unit } from './intake.ts'
import type { KeeperHost } from './keeper.ts'
import type { Member } from './member.ts'
import { Pacer } from './pacer.ts'
import { Presence, type PresenceSettings } from './presence.ts'
import type { ParkedPart } from './repair.ts'

export interface RoomSettings extends PresenceSettings {
  /** `ROOM_FLUSH_INTERVAL_MS` */
  readonly flushIntervalMs: number
  /** `AWARENESS_FLUSH_INTERVAL_MS` */
  readonly presenceIntervalMs: number
}

export interface RoomDeps {
  readonly settings: RoomSettings
  readonly clock: Clock
  readonly metrics: Metrics
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly cluster: Cluster
  /** Where what the document emitted is kept. */
  readonly keep: (update: Uint8Array) => void
}

/** Longest stretch of applying updates before the loop is given back, ms. */
const FLUSH_BUDGET_MS = 10
/** A member that was given nothing for this long gets a keep-alive: stock clients hang up after 30 s (FR5). */
const KEEPALIVE_AFTER_MS = 20_000

/** Transaction origins. What storage or another node brought is not stored or published again. */
const FROM_MEMBERS = Symbol('members')
const FROM_STORAGE = Symbol('storage')
const FROM_CLUSTER = Symbol('cluster')

export class Room {
  readonly name: string
  readonly doc: Y.Doc
  readonly source: DiffSource
  readonly presence: Presence
  readonly members = new Set<Member>()
  readonly #deps: RoomDeps
  readonly #intake: Intake
  readonly #claims: Claims
  readonly #flushPacer: Pacer
  readonly #presencePacer: Pacer
  readonly #leaveCluster: () => void
  /** Stored parts that build on a record that was lost: tried again whenever one of them may have become whole. */
  #orphans: ParkedPart[] = []
  #remote: Uint8Array[] = []
  #questions: { readonly member: Member; readonly has: StateVector }[] = []
  #events: { readonly update: Uint8Array; readonly transaction: Y.Transaction }[] = []

  constructor(name: string, deps: RoomDeps) {
    this.name = name
    this.#deps = deps
    this.doc = new Y.Doc()
    this.source = new DiffSource(this.doc)
    this.presence = new Presence(deps.settings)
    this.#intake = new Intake((client) => Y.getState(this.doc.store, client))
    this.#claims = new Claims(this.presence, deps.clock, () => this.#presencePacer.ask())
    this.#flushPacer = new Pacer(deps.clock, deps.settings.flushIntervalMs, () => this.#flush())
    this.#presencePacer = new Pacer(deps.clock, deps.settings.presenceIntervalMs, () => this.#tickPresence())
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
    return this.#intake.isEmpty && this.#remote.length === 0 && this.#questions.length === 0
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

  /** The frame that asks a member for what the document does not have. */
  step1(): Uint8Array {
    return encodeStep1(Y.encodeStateVector(this.doc))
  }

  /** A checked update. It is in the document, and on its way to everybody, after the next flush. */
  receive(received: Received): void {
    if (received.isAnswer) received.member.repair.answered()
    this.#intake.add(received)
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
    for (const [reason, count] of Object.entries(refused)) {
      this.#deps.metrics.presenceRefused.add(reason as keyof typeof refused, count)
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
    this.source.forgetCache()
    for (const { outbox } of this.members) {
      const quiet = now - outbox.lastFrameAt >= KEEPALIVE_AFTER_MS
      if (quiet && (outbox.state === 'live' || outbox.state === 'joining')) outbox.pushControl('keepalive', KEEPALIVE)
    }
  }

  /** What storage loads into and reads from. */
  keeperHost(): KeeperHost {
    const room = this
    return {
      apply(update) {
        Y.applyUpdate(room.doc, update, FROM_STORAGE)
        room.#events = []
      },
      *parts() {
        const cursor = new DiffCursor(room.source, new Map(), DeleteRanges.full())
        for (let part = cursor.next(); ; part = cursor.next()) {
          yield part.update
          if (part.last) return
        }
      },
      get hasGaps() {
        const { pendingStructs, pendingDs } = room.doc.store
        return room.#orphans.length > 0 || pendingStructs !== null || pendingDs !== null
      },
    }
  }

  /** The stored board is in the document. What it could only park (a bad record before it) waits outside from now on. */
  loaded(): void {
    const { store } = this.doc
    if (store.pendingStructs !== null) {
      this.#orphans.push({ updateV2: store.pendingStructs.update, missing: store.pendingStructs.missing })
    }
    if (store.pendingDs !== null) this.#orphans.push({ updateV2: store.pendingDs, missing: new Map() })
    store.pendingStructs = null
    store.pendingDs = null
  }

  /** The room leaves memory. */
  destroy(): void {
    this.#flushPacer.stop()
    this.#presencePacer.stop()
    this.#claims.stop()
    this.#leaveCluster()
    this.doc.destroy()
  }

  #tell(member: Member, entries: readonly PresenceEntry[]): void {
    member.outbox.pushControl(`presence:${entries[0]!.id}`, encodePresence(encodeEntries(entries)))
  }

  #flush(): void {
    const started = this.#deps.clock.now()
    this.#applyRemote(started)
    this.#applyReceived(started)
    for (const { member, has } of this.#questions.splice(0)) if (this.members.has(member)) member.outbox.answer(has)
    if (!this.#intake.isEmpty) this.#flushPacer.askSoon()
    this.#deps.metrics.roomFlush.observe((this.#deps.clock.now() - started) / 1000)
  }

  #applyReceived(started: number): void {
    if (this.#intake.isEmpty) return
    const authors = new Set<Member>()
    const hadOrphans = this.#orphans.length > 0
    let oldest = started
    try {
      this.doc.transact(() => {
        for (let unit = this.#intake.take(); unit !== null; unit = this.#intake.take()) {
          authors.add(unit.received.member)
          oldest = Math.min(oldest, unit.received.at)
          this.#apply(unit)
          if (this.#deps.clock.now() - started >= FLUSH_BUDGET_MS) break
        }
        this.#retryParked(authors)
      }, FROM_MEMBERS)
    } catch (error) {
      this.#deps.log.error({ err: error }, 'flush failed')
    }
    this.#emit(authors.size === 1 && !hadOrphans ? [...authors][0]! : null, oldest, true)
  }

  #apply({ received: { member, isAnswer }, update, stripped }: Unit): void {
    try {
      Y.applyUpdate(this.doc, update)
    } catch (error) {
      this.#deps.metrics.messageErrors.add('apply_failed')
      member.log.warn({ err: error }, 'update could not be applied')
      if (member.strikes.add()) member.outbox.end(CLOSE.malformedInput)
    }
    const gap = this.#parkPending(member)
    // An answer holds all its author has: asking again would bring the same.
    if ((gap || stripped > 0) && !isAnswer) {
      this.#deps.metrics.resyncsIn.add('gap')
      member.repair.request()
    }
  }

  /** Takes out of the document what Yjs could not integrate, and leaves it with the member it came from (IN4). */
  #parkPending(member: Member): boolean {
    const { store } = this.doc
    const { pendingStructs, pendingDs } = store
    if (pendingStructs === null && pendingDs === null) return false
    store.pendingStructs = null
    store.pendingDs = null
    if (pendingStructs !== null) {
      const { missing, update: updateV2 } = pendingStructs
      if (!member.repair.park({ missing, updateV2 }) && member.strikes.add()) member.outbox.end(CLOSE.malformedInput)
    }
    return true
  }

  #retryParked(authors: Set<Member>): void {
    const stateOf = (client: number): number => Y.getState(this.doc.store, client)
    for (const member of this.members) {
      if (member.repair.parked.length === 0) continue
      for (const { updateV2 } of member.repair.takeReady(stateOf)) {
        authors.add(member)
        Y.applyUpdateV2(this.doc, updateV2)
        this.#parkPending(member)
      }
    }
    if (this.#orphans.some(({ missing }) => [...missing].some(([client, clock]) => clock < stateOf(client)))) {
      const orphans = this.#orphans.splice(0)
      for (const { updateV2 } of orphans) Y.applyUpdateV2(this.doc, updateV2)
      this.loaded()
    }
  }

  #applyRemote(started: number): void {
    if (this.#remote.length === 0) return
    const updates = this.#remote.splice(0)
    this.doc.transact(() => {
      for (const update of updates) Y.applyUpdate(this.doc, update)
    }, FROM_CLUSTER)
    this.#emit(null, started, false)
  }

  /** Hands what the document emitted to everybody, to storage and, for local work, to the other nodes. */
  #emit(soleAuthor: Member | null, at: number, isLocal: boolean): void {
    for (const [i, { update, transaction }] of this.#events.splice(0).entries()) {
      const frame: SyncFrame = {
        bytes: encodeUpdate(update),
        before: transaction.beforeState,
        deletes: transaction.deleteSet,
        at,
      }
      // The first event is what the batch brought, all of it its author's own; a second is Yjs's clean-up after it.
      const skip = i === 0 ? soleAuthor : null
      for (const member of this.members) if (member !== skip) member.outbox.pushSync(frame)
      this.#deps.keep(update)
      if (isLocal) this.#deps.cluster.publishUpdate(this.name, update)
    }
  }

  #tickPresence(): void {
    for (const { frame, author } of this.presence.tick()) {
      for (const member of this.members) if (member !== author) member.outbox.pushPresence(frame)
    }
  }
}
