/**
 * How updates get into a room's document.
 *   received ─▶ intake (order, steps, slices) ─▶ size and depth ─▶ gap? parked with its member : applied
 * The document itself never holds anything pending: Yjs would look at it again with every later update.
 */
import * as Y from 'yjs'
import type { Clock } from '../observe/clock.ts'
import type { Metrics } from '../observe/metrics.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { MAX_TYPE_DEPTH, typeDepth } from '../protocol/type-nesting.ts'
import { findGap, gapOf } from '../protocol/update-gaps.ts'
import { Intake, type Received, type Unit } from './intake.ts'
import type { Member } from './member.ts'
import { applyOwned, applyOwnedV2 } from './owned-update.ts'
import type { ParkedPart } from './repair.ts'
import type { RoomSize } from './room-size.ts'
import { typeLevels } from './type-levels.ts'

/** What one flush applied. */
export interface Batch {
  /** Who wrote all of it; null when it was several, or nobody (stored parts that had waited). */
  readonly soleAuthor: Member | null
  /** When the oldest of it was received, clock ms. */
  readonly oldest: number
}

export interface IngestDeps {
  readonly clock: Clock
  readonly metrics: Metrics
}

type Apply = Extract<Unit, { kind: 'apply' }>

/** One update, or piece of one, that a document was given, and who sent it. */
export interface Applied {
  readonly member: Member
  readonly update: Uint8Array
  /** Whether it answered a SyncStep1. */
  readonly isAnswer: boolean
}

/** After a document broke, updates are applied one to a transaction for this long, ms: the next to break one is then known. */
const CAREFUL_MS = 60_000

export class Ingest {
  #doc: Y.Doc
  #size: RoomSize
  readonly #deps: IngestDeps
  readonly #intake: Intake
  readonly #stateOf: (client: number) => number
  #levelOf: (client: number, clock: number) => number
  /** Units that a document was given which broke before anybody was told: the next document gets them first. */
  #again: Apply[] = []
  /** What the document was given in the transaction that runs, units and parts that had waited. */
  #units: Apply[] = []
  #parts: Applied[] = []
  /** Whether stored parts were among it, which nobody sent. */
  #hadOrphans = false
  /** One of the orphans may be what breaks documents: they stay where they are. */
  #leavesOrphans = false
  /** What it is being given at this moment. */
  #current: Apply | Applied | null = null
  #carefulUntil = 0
  /** Stored parts that build on a record that was lost: tried again whenever one of them may have become whole. */
  #orphans: ParkedPart[] = []
  /** Whether some member may have parts waiting. */
  #hasParked = false
  /** Authors of boards that were deleted under this room's name. */
  readonly #buried = new Set<number>()

  constructor(doc: Y.Doc, size: RoomSize, deps: IngestDeps) {
    this.#doc = doc
    this.#size = size
    this.#deps = deps
    this.#stateOf = (client) => Y.getState(this.#doc.store, client)
    this.#levelOf = typeLevels(doc)
    this.#intake = new Intake(this.#stateOf)
  }

  get isEmpty(): boolean {
    return this.#intake.isEmpty && this.#again.length === 0
  }
  /** Whether stored parts wait for something that is not there. */
  get hasGaps(): boolean {
    const { pendingStructs, pendingDs } = this.#doc.store
    return this.#orphans.length > 0 || pendingStructs !== null || pendingDs !== null
  }

  bury(authors: Iterable<number>): void {
    for (const author of authors) this.#buried.add(author)
  }
  isBuried(authors: Iterable<number>): boolean {
    if (this.#buried.size === 0) return false
    for (const author of authors) if (this.#buried.has(author)) return true
    return false
  }

  add(received: Received): void {
    this.#intake.add(received)
  }

  /** Goes on with another document, which has all that is stored. What waits, waits for this one. */
  use(doc: Y.Doc, size: RoomSize): void {
    this.#doc = doc
    this.#size = size
    this.#levelOf = typeLevels(doc)
    // They are stored, so that this document has met them too.
    this.#orphans = []
  }
  /** What was applied is with everybody. */
  told(): void {
    this.#units.length = 0
    this.#parts.length = 0
    this.#hadOrphans = false
  }
  /**
   * The document broke. What it was given and nobody was told of waits for the next one, but for what broke it: that is
   * returned when it is known, because the document was being given it or was given nothing else.
   */
  broke(): Applied | null {
    const [units, parts] = [this.#units, this.#parts]
    const current = this.#current
    let culprit = current === null || 'member' in current ? current : appliedOf(current)
    if (culprit === null && this.#hadOrphans) this.#leavesOrphans = true
    else if (culprit === null && units.length + parts.length === 1) {
      culprit = parts[0] ?? appliedOf(units[0]!)
    }
    this.#again = [...units.filter(({ update }) => update !== culprit?.update), ...this.#again]
    if (culprit !== null) this.#intake.skipRest(culprit.member)
    this.#current = null
    this.#units = []
    this.#parts = []
    this.#hadOrphans = false
    this.#hasParked = true
    this.#carefulUntil = this.#deps.clock.now() + CAREFUL_MS
    return culprit
  }
  /** Whether one transaction takes one update only. */
  get isCareful(): boolean {
    return this.#carefulUntil !== 0 && this.#carefulUntil > this.#deps.clock.now()
  }

  /** Applies what waits, until the clock says `until`; the rest stays. To be called inside a transaction. */
  apply(members: Iterable<Member>, until: number): Batch {
    const { clock } = this.#deps
    const isCareful = this.isCareful
    const hadOrphans = this.#orphans.length > 0
    let soleAuthor: Member | null = null
    let areSeveral = false
    let oldest = clock.now()
    for (let unit = this.#next(); unit !== null; unit = this.#next()) {
      if (unit.kind === 'apply') {
        const { member, at } = unit.received
        if (soleAuthor !== null && soleAuthor !== member) areSeveral = true
        soleAuthor = member
        if (at < oldest) oldest = at
      }
      this.#take(unit)
      if (this.isEmpty || clock.now() >= until || (isCareful && unit.kind === 'apply')) break
    }
    if (this.#hasParked || hadOrphans) {
      // Parts that had waited may be anybody's.
      areSeveral = true
      this.#retryParked(members)
    }
    return { soleAuthor: areSeveral ? null : soleAuthor, oldest }
  }

  /** What storage brought and the document could only park (a bad record came before it) waits outside from now on. */
  putAside(): void {
    const { store } = this.#doc
    if (store.pendingStructs !== null) {
      this.#orphans.push({ update: store.pendingStructs.update, isV2: true, missing: store.pendingStructs.missing })
    }
    if (store.pendingDs !== null) this.#orphans.push({ update: store.pendingDs, isV2: true, missing: new Map() })
    store.pendingStructs = null
    store.pendingDs = null
  }

  #next(): Unit | null {
    return this.#again.shift() ?? this.#intake.take()
  }

  #take(unit: Unit): void {
    if (unit.kind === 'step') return
    const { member } = unit.received
    if (unit.kind === 'refused') this.#strike(member, unit.reason)
    else if (unit.first && this.#buried.size > 0 && this.isBuried(unit.summary.sections.map(({ client }) => client))) {
      this.#intake.skipRest(member)
      member.outbox.end(CLOSE.boardDeleted)
    } else if (unit.first && this.#size.refuses(unit.summary, this.#stateOf)) {
      this.#deps.metrics.messageErrors.add('board_too_large')
      this.#intake.skipRest(member)
      member.outbox.end(CLOSE.boardTooLarge)
    } else if (unit.summary.types > 0 && typeDepth(unit.update, this.#levelOf) > MAX_TYPE_DEPTH) {
      this.#intake.skipRest(member)
      this.#strike(member, 'nesting')
    } else {
      this.#units.push(unit)
      this.#apply(unit)
    }
  }

  #apply(unit: Apply): void {
    const { received, update, summary, stripped } = unit
    const { member, isAnswer } = received
    // The summary is of the whole update: a slice is looked at itself.
    const known = update === received.update ? gapOf(summary, this.#stateOf) : undefined
    const gap = known === undefined ? findGap(update, this.#stateOf) : known
    if (gap !== null && !isAnswer) {
      // A copy of its own: a small one lies in a shared pool, which would be kept with it.
      this.#park(member, { update: new Uint8Array(update), isV2: false, missing: new Map([[gap.client, gap.clock]]) })
    } else {
      this.#current = unit
      applyOwned(this.#doc, update)
      this.#current = null
      this.#parkPending(member)
    }
    // An answer holds all its author has: asking again would bring the same.
    if ((gap === null && stripped === 0) || isAnswer) return
    this.#deps.metrics.resyncsIn.add('gap')
    member.repair.request()
  }

  /** Notes an offence of this member; with the last one it is closed. */
  strike(member: Member, reason: string): void {
    this.#strike(member, reason)
  }
  #strike(member: Member, reason: string): void {
    this.#deps.metrics.messageErrors.add(reason)
    if (member.strikes.add()) member.outbox.end(CLOSE.malformedInput)
  }

  /** Keeps what waits for a predecessor with the member it came from (IN4). */
  #park(member: Member, part: ParkedPart): void {
    this.#hasParked = true
    if (!member.repair.park(part)) this.#strike(member, 'gap_overflow')
  }
  /** Takes out of the document what Yjs could not integrate: there it would cost every later update. */
  #parkPending(member: Member): void {
    const { store } = this.#doc
    const { pendingStructs } = store
    store.pendingStructs = null
    store.pendingDs = null
    if (pendingStructs !== null) {
      this.#park(member, { update: pendingStructs.update, isV2: true, missing: pendingStructs.missing })
    }
  }

  #retryParked(members: Iterable<Member>): void {
    let stillParked = false
    for (const member of members) {
      if (member.repair.parked.length === 0) continue
      stillParked = true
      for (const part of member.repair.takeReady(this.#stateOf)) {
        const gap = part.isV2 ? null : findGap(part.update, this.#stateOf)
        if (gap !== null) this.#park(member, { ...part, missing: new Map([[gap.client, gap.clock]]) })
        else {
          this.#current = { member, update: part.update, isAnswer: false }
          this.#parts.push(this.#current)
          this.#applyParked(part)
          this.#current = null
          this.#parkPending(member)
        }
      }
    }
    this.#hasParked = stillParked
    const isReady = ({ missing }: ParkedPart): boolean =>
      [...missing].some(([client, clock]) => clock < this.#stateOf(client))
    if (this.#leavesOrphans || !this.#orphans.some(isReady)) return
    this.#hadOrphans = true
    for (const part of this.#orphans.splice(0)) this.#applyParked(part)
    this.putAside()
  }
  #applyParked({ update, isV2 }: ParkedPart): void {
    if (isV2) applyOwnedV2(this.#doc, update)
    else applyOwned(this.#doc, update)
  }
}

function appliedOf({ received: { member, isAnswer }, update }: Apply): Applied {
  return { member, update, isAnswer }
}
