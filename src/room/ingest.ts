/**
 * How updates get into a room's document.
 *   received ─▶ intake (order, steps, slices) ─▶ may it? ─▶ gap? parked with its member : asked of the document, applied
 *                  ▲                                             │
 *                  └── what it waited for has come ──────────────┘
 *   plainly next ─▶ mayRelay ─▶ (everybody has it) ─▶ applyRelayed
 * The document itself never holds anything pending: Yjs would look at it again with every later update.
 */
import * as Y from 'yjs'
import type { LoopTime } from '../budget/loop-time.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { applyOwned } from '../update/owned-update.ts'
import { partReady } from '../update/ready-structs.ts'
import { checkUpdate, type UpdateSummary } from '../update/update-check.ts'
import { findGap, type Gap, gapOf } from '../update/update-gaps.ts'
import { SLICE_BYTES } from '../update/update-slices.ts'
import { findContradiction } from './contradiction.ts'
import { DeleteCosts } from './delete-costs.ts'
import { DocumentCheck, type Whole } from './document-check.ts'
import { type ApplyUnit, Intake, type Received, relayedUnit, type Unit } from './intake.ts'
import type { Member } from './member.ts'
import type { Relay } from './relay.ts'
import type { ParkedPart } from './repair.ts'
import type { RoomSize } from './room-size.ts'
import { Suspects } from './suspects.ts'
import { Writers } from './writers.ts'

/** What one flush applied. */
export interface Batch {
  /** Who wrote all of it; null when it was several, or nobody (stored parts that had waited). */
  readonly soleAuthor: Member | null
  /** When the oldest of it was received, clock ms. */
  readonly oldest: number
  /** Updates that were begun in it. */
  readonly updates: number
}

export interface IngestDeps {
  readonly clock: Clock
  readonly loop: LoopTime
  readonly metrics: Metrics
  readonly log: Log
}

/** One update, or piece of one, that a document was given, and who sent it. */
export interface Applied {
  readonly member: Member
  readonly update: Uint8Array
  /** Whether it answered a SyncStep1. */
  readonly isAnswer: boolean
  /** It was given to its sender by us, before the document broke over it: see `Suspects`. */
  readonly isInnocent: boolean
}

/** After a document broke, updates are applied one to a transaction for this long, ms: the next to break one is then known. */
const CAREFUL_MS = 60_000

export class Ingest {
  #doc: Y.Doc
  #size: RoomSize
  readonly #deps: IngestDeps
  readonly #intake: Intake
  readonly #stateOf: (client: number) => number
  #check: DocumentCheck
  /** Units that a document was given which broke before anybody was told: the next document gets them first. */
  #again: ApplyUnit[] = []
  /** What the document was given in the transaction that runs. */
  #units: ApplyUnit[] = []
  /** Whether stored parts were among it, which nobody sent. */
  #hadOrphans = false
  /** One of the orphans may be what breaks documents: they stay where they are. */
  #leavesOrphans = false
  /** What it is being given at this moment. */
  #current: ApplyUnit | null = null
  #carefulUntil = 0
  /** Stored parts that build on a record that was lost: tried again whenever one of them may have become whole. */
  #orphans: ParkedPart[] = []
  /** Whether some member may have parts waiting. */
  #hasParked = false
  /** Whose updates were worked on since the last `settle`. */
  readonly #payers: Member[] = []
  /** Authors of boards that were deleted under this room's name. */
  readonly #buried = new Set<number>()
  readonly #writers = new Writers()
  /** Authors of what was relayed and broke a document. */
  readonly #suspects = new Suspects()

  constructor(doc: Y.Doc, size: RoomSize, deps: IngestDeps) {
    this.#doc = doc
    this.#size = size
    this.#deps = deps
    this.#stateOf = (client) => Y.getState(this.#doc.store, client)
    this.#check = new DocumentCheck(doc, this.#stateOf)
    this.#intake = new Intake(this.#stateOf, deps.loop, new DeleteCosts(() => this.#doc))
  }

  get isEmpty(): boolean {
    return this.#intake.isEmpty && this.#again.length === 0
  }
  /** Who is served next at `now`, clock ms; null when nobody waits, or may go on. */
  nextAt(now: number): Member | null {
    return this.#again[0]?.received.member ?? this.#intake.next(now)
  }
  /** How long all that wait have to wait because they are over their shares, ms. */
  waitAt(now: number): number {
    return this.#again.length > 0 ? 0 : this.#intake.waitAt(now)
  }
  /** Whether stored parts wait for something that is not there. */
  get hasGaps(): boolean {
    const { pendingStructs, pendingDs } = this.#doc.store
    return this.#orphans.length > 0 || pendingStructs !== null || pendingDs !== null
  }

  /** Bytes of updates that are not in the document yet. */
  get heldBytes(): number {
    return this.#intake.heldBytes + this.#orphans.reduce((sum, { update }) => sum + update.length, 0)
  }
  /** Those of one member. */
  bytesOf(member: Member): number {
    return member.waitingBytes
  }

  /** Whose update is half in the document, when a client that has half of it may tidy formatted text. */
  halfTexts(hasMarks: () => boolean): readonly Member[] {
    return this.#intake.halfTexts(hasMarks)
  }

  bury(authors: Iterable<number>): void {
    for (const author of authors) this.#buried.add(author)
  }
  get hasBuried(): boolean {
    return this.#buried.size > 0
  }
  isBuried(authors: Iterable<number>): boolean {
    if (this.#buried.size === 0) return false
    for (const author of authors) if (this.#buried.has(author)) return true
    return false
  }

  /** Forgets what waits of a member that has it still. */
  giveUpWaiting(member: Member): void {
    this.#intake.forget(member)
  }
  /** A member is gone: what it sent is still taken in. */
  left(member: Member): void {
    this.#writers.left(member)
  }

  add(received: Received): void {
    this.#intake.add(received)
  }

  /** Goes on with another document, which has all that is stored. What waits, waits for this one. */
  use(doc: Y.Doc, size: RoomSize): void {
    this.#doc = doc
    this.#size = size
    this.#check = new DocumentCheck(doc, this.#stateOf)
    // They are stored, so that this document has met them too.
    this.#orphans = []
  }
  /** What was applied is with everybody. */
  told(): void {
    this.#units.length = 0
    this.#hadOrphans = false
  }
  /**
   * The document broke. What it was given and nobody was told of waits for the next one, but for what broke it: that is
   * returned when it is known, because the document was being given it or was given nothing else.
   */
  broke(): Applied | null {
    const units = this.#units
    let unit = this.#current
    if (unit === null && this.#hadOrphans) this.#leavesOrphans = true
    else if (unit === null && units.length === 1) unit = units[0]!
    if (unit !== null) this.#suspects.broke(unit.received.member, unit.update, unit.wasRelayed)
    const culprit = unit === null ? null : this.#appliedOf(unit)
    this.#again = [...units.filter(({ update }) => update !== culprit?.update), ...this.#again]
    if (culprit !== null) this.#intake.skipRest(culprit.member)
    this.#current = null
    this.#units = []
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
    let at = clock.now()
    let oldest = at
    let updates = 0
    for (let unit = this.#next(at, true); unit !== null; unit = this.#next(at, false)) {
      if (unit.kind === 'apply') {
        const { member, at } = unit.received
        if (soleAuthor !== null && soleAuthor !== member) areSeveral = true
        soleAuthor = member
        if (at < oldest) oldest = at
        if (unit.first) updates++
      }
      this.#take(unit)
      const now = clock.now()
      this.#measured(unit, now - at)
      at = now
      if (this.isEmpty || now >= until || (isCareful && unit.kind === 'apply')) break
    }
    if (this.#hasParked) this.#takeUpParked(members)
    if (hadOrphans) {
      // Nobody here sent them.
      areSeveral = true
      this.#retryOrphans()
    }
    return { soleAuthor: areSeveral ? null : soleAuthor, oldest, updates }
  }

  /**
   * Whether an update may be sent on before the document has it: it is plainly next, and nothing that would be asked of it later
   * could refuse it. `settle` brings what was relayed into the document; false: that broke it. Throws what Yjs throws.
   */
  mayRelay({ member, update }: Received, summary: UpdateSummary, relay: Relay, settle: () => boolean): boolean {
    const [section] = summary.sections
    if (section === undefined || summary.sections.length > 1 || summary.skips > 0) return false
    if (summary.collected > 0 || summary.subdocuments > 0 || summary.places === 'unclear') return false
    const { client, from } = section
    const known = (author: number): number => relay.clockOf(author) ?? this.#stateOf(author)
    if (from !== known(client) || !this.#writers.isWriter(member, client)) return false
    // Authors and roots are counted in the document: one that is new to it goes the other way.
    if (this.#stateOf(client) === 0 || summary.rootNames.some((name) => !this.#doc.share.has(name))) return false
    if (member.repair.parked.length > 0 || this.isBuried([client]) || this.#suspects.has(client)) return false
    if (!this.#intake.isSmall(update, summary) || !this.#intake.areDeletesKnown(summary, known)) return false
    if (summary.leansOnOthers && findGap(update, known) !== null) return false
    const isPlacedWell = this.#check.isPlacedWell(summary, (author, clock) => relay.isKeyed(author, clock))
    // How deep a type lies, and what lies beside an insertion, the document has to say.
    if (!relay.isEmpty && (!isPlacedWell || summary.types > 0) && !settle()) return false
    if (!isPlacedWell && !this.#check.isPlacedWell(summary)) return false
    if (this.#check.isTooDeep(update, summary)) return false
    // Last, because what it lets in is noted.
    return !this.#size.refuses(summary, known)
  }
  /** Whether the last struct of what is relayed is an entry of a map; null: not known. */
  endsKeyed({ structs, sections, lastClient, lastClock, lastIsKeyed }: UpdateSummary, relay: Relay): boolean | null {
    if (lastClient < 0) return lastIsKeyed
    // What it follows came with it.
    if (structs > 1 && lastClient === sections[0]!.client && lastClock >= sections[0]!.from) return null
    const onItsWay = relay.isKeyed(lastClient, lastClock)
    if (onItsWay !== undefined) return onItsWay
    const struct = this.#check.structAt(lastClient, lastClock)
    return struct === null ? null : struct.parentSub !== null
  }
  /** Gives the document what was relayed. To be called inside a transaction. Throws what Yjs throws. */
  applyRelayed(all: readonly Received[]): void {
    const { clock } = this.#deps
    const units = all.map(relayedUnit)
    this.#units.push(...units)
    let at = clock.now()
    for (const unit of units) {
      this.#current = unit
      applyOwned(this.#doc, unit.update)
      const now = clock.now()
      this.#measured(unit, now - at)
      at = now
    }
    this.#current = null
  }
  /** Time that sending on took; see `settle`. */
  spent(member: Member, ms: number): void {
    member.share.unpaid += ms
    if (this.#payers.at(-1) !== member) this.#payers.push(member)
  }
  /** What was relayed when the document broke goes first into the next one. */
  addAgain(all: readonly Received[]): void {
    this.#again.push(...all.map(relayedUnit))
  }

  /** What storage brought and the document could only park (a bad record came before it) waits outside from now on. */
  putAside(): void {
    const { store } = this.#doc
    const { pendingStructs, pendingDs } = store
    store.pendingStructs = null
    store.pendingDs = null
    // Yjs gives what it could not integrate in its second encoding, which nothing here reads.
    if (pendingStructs !== null) {
      const { update, missing } = pendingStructs
      this.#orphans.push({ update: Y.convertUpdateFormatV2ToV1(update), missing })
    }
    if (pendingDs !== null) this.#orphans.push({ update: Y.convertUpdateFormatV2ToV1(pendingDs), missing: new Map() })
  }

  /** The next unit; null when this room should not go on, as somebody elsewhere has had less than any who wait here. */
  #next(now: number, isFirst: boolean): Unit | null {
    const again = this.#again.shift()
    if (again !== undefined) return again
    const { loop } = this.#deps
    for (;;) {
      const member = this.#intake.next(now)
      if (member === null) return null
      const { account } = member.share
      if (!isFirst && loop.isAhead(account) && !loop.isNext(account)) return null
      const unit = this.#intake.take(member)
      if (unit !== null) return unit
    }
  }
  #measured(unit: Unit, ms: number): void {
    this.spent(unit.received.member, ms)
    if (unit.kind === 'apply') this.#intake.size.took(ms, unit.weight)
  }

  /**
   * What was measured is paid, with what came of it: of `total` ms that all took together, each pays its part. Who goes on over
   * its share is closed (LT3). `now`: clock ms.
   */
  settle(total: number, now: number): void {
    if (this.#payers.length === 0) return
    let measured = 0
    for (const { share } of this.#payers) measured += share.unpaid
    // One that stands there twice has paid the first time.
    const factor = measured > 0 && total > measured ? total / measured : 1
    for (const member of this.#payers) {
      const outcome = member.share.pay(factor, now)
      if (outcome === 'slowed') {
        this.#deps.metrics.loopShare.add('slowed')
        member.log.info(
          { event: 'work_slowed', waitMs: member.share.waitAt(now) },
          'updates take more than their share of the loop: they wait',
        )
      } else if (outcome === 'too_long' && member.outbox.state !== 'ending' && member.outbox.state !== 'closed') {
        this.#deps.metrics.loopShare.add('closed')
        member.log.warn({ event: 'work_exceeded' }, 'updates take more than their share of the loop, on and on')
        member.outbox.end(CLOSE.tooMuchWork)
      }
    }
    this.#payers.length = 0
  }

  #take(unit: Unit): void {
    if (unit.kind === 'step') return
    const { member } = unit.received
    // One that was too long to be checked when it came pays for its structs now.
    if (unit.kind === 'apply' && unit.first && unit.received.summary === null) member.owner.pay(unit.summary)
    if (unit.kind === 'refused') {
      if (unit.reason === 'authors') this.#tooLarge(member)
      else this.#strike(member, unit.reason)
      return
    }
    this.#current = unit
    if (unit.first && !this.#mayWrite(member, unit.summary)) this.#intake.skipRest(member)
    else if (!unit.first && this.#size.refusesSlice(unit.update, unit.summary, this.#stateOf)) {
      this.#tooLarge(member)
      this.#intake.skipRest(member)
    } else if (this.#isTooDeep(unit)) {
      this.#strike(member, 'nesting')
      this.#intake.skipRest(member)
    } else if (!this.#place(unit)) this.#intake.skipRest(member)
    this.#current = null
  }

  /** One that is cut, though it is not long, is refused before any of it is there: its slices would be taken up to the depth. */
  #isTooDeep({ first, isSlice, received, summary }: ApplyUnit): boolean {
    return first && isSlice && received.update.length <= SLICE_BYTES && this.#check.isTooDeep(received.update, summary)
  }

  /** Whether the room takes this from a member at all; one that may not is shown the door. */
  #mayWrite(member: Member, summary: UpdateSummary): boolean {
    if (this.#buried.size > 0 && this.isBuried(summary.sections.map(({ client }) => client))) {
      member.outbox.end(CLOSE.boardDeleted)
      return false
    }
    if (!this.#size.refuses(summary, this.#stateOf)) return true
    this.#tooLarge(member)
    return false
  }
  #tooLarge({ outbox }: Member): void {
    this.#deps.metrics.messageErrors.add('board_too_large')
    outbox.end(CLOSE.boardTooLarge)
  }

  /** Applies an update or a slice of one, or parks what leans on something that is not there. False: it was refused. */
  #place(unit: ApplyUnit): boolean {
    const { received, update, summary, stripped } = unit
    const { member, isAnswer } = received
    const whole = { update: received.update, summary }
    const news = this.#suspects.without(this.#check.newsOf(update, whole), this.#stateOf)
    if (news !== update && this.#isTwin(member, update)) return false
    // After a break everybody brings what others wrote.
    if (unit.first && this.#writers.doubts(member, summary.sections, this.#stateOf) && !this.isCareful) {
      this.#deps.metrics.resyncsIn.add('client_id')
      member.repair.request()
      return false
    }
    // The summary is of the whole update: a slice is looked at itself.
    const quick = news === received.update ? gapOf(summary, this.#stateOf) : undefined
    const gap = quick === undefined ? findGap(news, this.#stateOf) : quick
    const { repair } = member
    if (gap === null) {
      if (!this.#apply(unit, news, whole, news !== update)) return false
    } else if (received.hasWaited === true) {
      this.#park(member, news, gap)
      return true
    } else if (!isAnswer) {
      // The answer that is due has it: nothing has to be kept, and nobody has done anything wrong.
      if (repair.isAnswerDue) return false
      // What leans on what is withheld from the document is nobody's offence.
      if (repair.noteGap(gap, this.#stateOf) && !this.#suspects.areWithheld) this.#strike(member, 'gap_repeated')
      this.#deps.metrics.resyncsIn.add('gap')
      repair.request()
      // A long one is not worth keeping: its author still has it.
      if (unit.isSlice) return false
      this.#units.push(unit)
      this.#park(member, news, gap)
      return true
    } else {
      // Its author waits for the same: what can be taken in is.
      const { ready, waiting } = partReady(news, this.#stateOf)
      if (!this.#apply(unit, ready, whole, news !== update)) return false
      if (waiting !== null) this.#park(member, waiting, findGap(waiting, this.#stateOf) ?? gap)
    }
    // An answer holds all its author has: asking again would bring the same.
    if (stripped === 0 || isAnswer || repair.isAnswerDue) return true
    this.#deps.metrics.resyncsIn.add('gap')
    repair.request()
    return true
  }

  /**
   * Whether a member writes under a client id whose clocks hold something else already. It is the one that has to take a new id,
   * also when the other came later: the document has what the other wrote, and its own can get in nowhere.
   */
  #isTwin(member: Member, update: Uint8Array): boolean {
    const at = findContradiction(this.#doc, update)
    if (at === null) return false
    this.#deps.metrics.messageErrors.add('client_id_taken')
    member.log.warn(
      { event: 'client_id_taken', client: at.client, clock: at.clock },
      'client id taken: another client writes under it',
    )
    member.outbox.end(CLOSE.clientIdTaken)
    // What it wrote next would be taken for the other's.
    this.#intake.forget(member)
    this.#again = this.#again.filter(({ received }) => received.member !== member)
    return true
  }

  /** Gives the document a part of what was sent. False: it is nothing that Yjs can have made. */
  #apply(unit: ApplyUnit, part: Uint8Array, whole: Whole, isNews: boolean): boolean {
    const { member } = unit.received
    const fit = this.#check.judge(part, whole, isNews)
    if (typeof fit === 'string') {
      this.#strike(member, fit)
      return false
    }
    this.#units.push(unit)
    applyOwned(this.#doc, fit)
    const { store } = this.#doc
    if (store.pendingStructs === null && store.pendingDs === null) return true
    // Nothing was missing, so its structs wait for each other.
    store.pendingStructs = null
    store.pendingDs = null
    this.#strike(member, 'circle')
    return false
  }

  #appliedOf({ received: { member, isAnswer }, update }: ApplyUnit): Applied {
    return { member, update, isAnswer, isInnocent: isAnswer && this.#suspects.isPassedOn(member, update) }
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
  #park(member: Member, update: Uint8Array, { client, clock }: Gap): void {
    this.#hasParked = true
    // A copy of its own: a small one lies in a shared pool, which would be kept with it.
    const part = { update: new Uint8Array(update), missing: new Map([[client, clock]]) }
    // Let go, and no offence: the author was asked.
    if (!member.repair.park(part)) this.#deps.metrics.messageErrors.add('gap_overflow')
  }

  /**
   * What a part waited for has come: it takes its turn like anything else that its member sent, asked and cut anew. All of them
   * at once may be as dear as they like.
   */
  #takeUpParked(members: Iterable<Member>): void {
    this.#hasParked = false
    const at = this.#deps.clock.now()
    for (const member of members) {
      if (member.repair.parked.length === 0) continue
      this.#hasParked = true
      const ready = member.repair.takeReady(this.#stateOf)
      if (ready.length === 0) continue
      this.#intake.addFirst(
        member,
        ready.map(({ update }) => ({ member, update, summary: null, isAnswer: false, hasWaited: true, at })),
      )
    }
  }
  #retryOrphans(): void {
    const isReady = ({ missing }: ParkedPart): boolean =>
      [...missing].some(([client, clock]) => clock < this.#stateOf(client))
    if (this.#leavesOrphans || !this.#orphans.some(isReady)) return
    this.#hadOrphans = true
    for (const { update } of this.#orphans.splice(0)) this.#applyOrphan(update)
    this.putAside()
  }

  /** What the store had for long is nobody's offence: a part that cannot be taken in is left where it is. */
  #applyOrphan(update: Uint8Array): void {
    const check = checkUpdate(update)
    if (!check.ok) return
    const whole = { update, summary: check.summary }
    const news = this.#check.newsOf(update, whole)
    const fit = this.#check.judge(news, whole, news !== update)
    if (typeof fit === 'string')
      this.#deps.log.error({ event: 'stored_part_refused', reason: fit }, 'stored part could not be applied')
    else applyOwned(this.#doc, fit)
  }
}
