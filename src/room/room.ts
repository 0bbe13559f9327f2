/**
 * A room: one Y.Doc, its presence, the members watching.
 *   in   receive, announce, ask from a session · updates from storage and other nodes
 *   out  member.outbox, the keeper, the cluster
 * What is plainly next leaves in the turn it came in and is integrated soon after (see relay). Of everything else a flush applies
 * what came in one transaction; every Yjs `update` event becomes one frame, encoded once, for everybody.
 */
import * as Y from 'yjs'
import type { Account, Job } from '../budget/account.ts'
import type { LoopTime } from '../budget/loop-time.ts'
import { CLOCK_BYTES, type MemoryFigures, STRUCT_BYTES } from '../budget/memory-figures.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { clocksBefore } from '../diff/clocks-before.ts'
import { collectedIn } from '../diff/collected-deletes.ts'
import type { DeleteSet, DiffSource, StateVector } from '../diff/diff-cursor.ts'
import { encodeDeletes } from '../diff/owed-deletes.ts'
import type { KeeperHost, Salvage } from '../keeping/keeper.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { BreakSite, Metrics } from '../observe/metrics.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { encodePresence, encodeStep1, encodeUpdate, KEEPALIVE } from '../protocol/frames.ts'
import { encodeEntries, type PresenceEntry, type PresenceError } from '../protocol/presence-frame.ts'
import { deleteSetOf } from '../update/delete-set.ts'
import { applyOwned } from '../update/owned-update.ts'
import { CHECK_LIMITS, type UpdateSummary } from '../update/update-check.ts'
import { Breaks, culpritFacts } from './breaks.ts'
import { Claims } from './claims.ts'
import { DeleteCosts } from './delete-costs.ts'
import { FanOut } from './fan-out.ts'
import { FlushJob } from './flush-job.ts'
import type { Gatherer } from './gathering.ts'
import { type Applied, type Batch, Ingest } from './ingest.ts'
import type { Received } from './intake.ts'
import { type BoardEvent, FROM_CLUSTER, FROM_MEMBERS, LiveBoard } from './live-board.ts'
import type { Member } from './member.ts'
import { Pacer } from './pacer.ts'
import { Presence, type PresenceSettings } from './presence.ts'
import { Relay } from './relay.ts'
import type { RoomSize, RoomSizeLimits } from './room-size.ts'
import { salvage } from './salvage.ts'
import { Tempo, type TempoSettings } from './tempo.ts'
import { TextHold } from './text-hold.ts'
import type { Ticks } from './ticks.ts'

export interface RoomSettings extends PresenceSettings, RoomSizeLimits, TempoSettings {}

export interface RoomDeps {
  readonly settings: RoomSettings
  readonly clock: Clock
  /** Of which a flush gets its part. */
  readonly loop: LoopTime
  /** The grid all rooms share. */
  readonly ticks: Ticks
  /** How long this room gathers. */
  readonly gatherer: Gatherer
  readonly metrics: Metrics
  readonly log: Log
  readonly cluster: Cluster
  /** Where what the document emitted is kept. */
  readonly keep: (update: Uint8Array) => void
  /**
   * Brings all that was stored or kept into a fresh document, through the keeper's host. `salvage`: what the document that
   * broke can still tell, for when the store has not got it all.
   */
  readonly reload: (salvage: Salvage) => Promise<void>
  /** The room breaks again and again, or cannot be rebuilt: it has to leave memory. Its members are closed. */
  readonly givenUp: () => void
}

/** A room is quiet, and answers at once, when it has not flushed for this many intervals. */
const QUIET_INTERVALS = 4
/** What was relayed is in the document, stored and published within this time, ms. */
const INTEGRATE_MS = 50
/** Presence rides along with an update when so much of its time has passed: two frames cost one system call a member. */
const RIDING = 0.75
/** A member that was given nothing for this long gets a keep-alive: stock clients hang up after 30 s (FR5). */
const KEEPALIVE_AFTER_MS = 20_000

const REFUSALS = ['not_owner', 'too_many_ids', 'room_full'] as const

export class Room {
  readonly name: string
  readonly presence: Presence
  readonly members = new Set<Member>()
  readonly #deps: RoomDeps
  #board: LiveBoard
  /** Whether all that is stored is in the document, and nothing has broken it. */
  #isWhole = false
  #isGone = false
  readonly #relay = new Relay()
  #isIntegrating = false
  /** A tick is asked for that will integrate what was relayed. */
  #isIntegrationAsked = false
  /** Time that relaying took and nobody has paid for, ms. */
  #relayedMs = 0
  #rebuilding: Promise<void> | null = null
  readonly #breaks: Breaks
  readonly #ingest: Ingest
  readonly #claims: Claims
  readonly #tempo: Tempo
  readonly #fanOut: FanOut
  readonly #hold: TextHold
  readonly #flushJob: Job
  readonly #flushPacer: Pacer
  readonly #presencePacer: Pacer
  readonly #leaveCluster: () => void
  /** All that wait are over their shares of the loop's time: when the first may go on. */
  #cancelWait: (() => void) | null = null
  #presenceIsDue = false
  #remote: Uint8Array[] = []
  #questions: { readonly member: Member; readonly has: StateVector }[] = []

  constructor(name: string, deps: RoomDeps) {
    this.name = name
    this.#deps = deps
    this.#board = this.#newBoard()
    this.#breaks = new Breaks(deps.clock)
    this.presence = new Presence(deps.settings)
    this.#tempo = new Tempo(deps.gatherer, deps.settings)
    this.#fanOut = new FanOut(this.members, this.presence, () => this.#takesPresence())
    this.#ingest = new Ingest(this.doc, this.size, deps)
    this.#claims = new Claims(this.presence, deps.clock, () => this.#presencePacer.ask())
    this.#hold = new TextHold(deps.clock, () => {
      deps.metrics.splitTexts.add()
      this.#fanOut.withhold([])
    })
    const { clock, ticks, settings } = deps
    const { flushIntervalMs, presenceIntervalMs } = settings
    this.#flushJob = new FlushJob(
      () => this.#payer,
      (started, until) => this.#flushSafely(started, until),
    )
    const quietMs = QUIET_INTERVALS * flushIntervalMs
    this.#flushPacer = new Pacer(clock, ticks, {
      spacingMs: () => this.#tempo.updatesMs,
      quietMs,
      run: () => deps.loop.run(this.#flushJob),
    })
    this.#presencePacer = new Pacer(clock, ticks, {
      spacingMs: () => this.#tempo.presenceMs,
      quietMs: 2 * presenceIntervalMs,
      run: () => this.#tickPresence(),
    })
    this.#leaveCluster = deps.cluster.join(name, {
      update: (update) => {
        this.#remote.push(update)
        this.#flushPacer.ask()
      },
      presence: () => {},
    })
  }

  get doc(): Y.Doc {
    return this.#board.doc
  }
  get source(): DiffSource {
    return this.#board.source
  }
  get size(): RoomSize {
    return this.#board.size
  }
  /** Set while the room is without a document; it never rejects. */
  get rebuilding(): Promise<void> | null {
    return this.#rebuilding
  }

  /** Adds what is held for this room to `into`, and returns its sum. Also while there is no document. */
  tally(into: MemoryFigures): number {
    let structs = 0
    for (const of of this.doc.store.clients.values()) structs += of.length
    const documents = this.size.bytes + structs * STRUCT_BYTES
    const caches = this.source.cache.bytes
    const presence = this.presence.heldBytes
    let intake = this.#ingest.heldBytes
    for (const { has } of this.#questions) intake += has.size * CLOCK_BYTES
    for (const update of this.#remote) intake += update.length
    intake += this.#relay.bytes
    into.documents += documents
    into.caches += caches
    into.presence += presence
    into.intake += intake
    return documents + caches + presence + intake
  }
  /** Bytes that a member sent and that are not in the document yet. */
  waitingBytes(member: Member): number {
    return this.#ingest.bytesOf(member)
  }

  /** Nothing received is still to be applied. */
  get isSettled(): boolean {
    return (
      this.#rebuilding === null &&
      this.#relay.isEmpty &&
      this.#ingest.isEmpty &&
      this.#remote.length === 0 &&
      this.#questions.length === 0
    )
  }

  /** Takes in a member: it is asked what it has and told who is here; its own SyncStep1 brings it the board. */
  join(member: Member): void {
    this.members.add(member)
    member.outbox.withhold(this.#hold.isOn)
    member.repair.request()
    member.outbox.owePresence(this.presence.ids())
  }

  /** Memory is short, and a member is about to be closed for it: what waits of it is not applied, it brings it again. */
  giveUpWaiting(member: Member): void {
    this.#ingest.giveUpWaiting(member)
  }
  leave(member: Member): void {
    if (!this.members.delete(member)) return
    member.repair.stop()
    this.#ingest.left(member)
    const now = this.#deps.clock.now()
    this.#claims.ownerLeft(member)
    if (this.presence.leave(member, now)) this.#presencePacer.ask()
  }

  /** The frame that asks a member for what the document does not have; null while there is none. Bound, so that members share it. */
  readonly step1 = (instead: ReadonlyMap<number, number>): Uint8Array | null =>
    this.read('vector', () => {
      const vector = this.source.stateVector()
      if (instead.size === 0) return encodeStep1(vector)
      return encodeStep1(Y.encodeStateVector(new Map([...Y.decodeStateVector(vector), ...instead])))
    })

  /** Looks at the document, from outside a flush. Null: it is being rebuilt, perhaps because of this. */
  read<T>(site: BreakSite, look: (doc: Y.Doc) => T): T | null {
    if (!this.#isWhole || !this.#integrate()) return null
    return this.#attempt(site, () => look(this.doc))
  }

  /** Authors that a SyncStep1 may name: more would be a board that has no place here. */
  get mostNamed(): number {
    // Without a document it is not known how many its own are.
    return this.#isWhole ? this.size.mostNamed : 2 * CHECK_LIMITS.authors
  }

  /** Bytes that an answer to this SyncStep1 will take, roughly: a question is cheap to ask and may not be to answer. */
  answerBytes(has: StateVector): number {
    return Math.ceil(this.size.bytes * (this.read('vector', () => this.source.shareMissing(has)) ?? 0))
  }

  /** Whether a client with this vector has something that the document does not. */
  lacks(has: StateVector): boolean {
    const look = (doc: Y.Doc): boolean => {
      for (const [client, clock] of has) if (clock > Y.getState(doc.store, client)) return true
      return false
    }
    return this.read('vector', look) ?? false
  }

  /** Authors of boards that were deleted under this name: whoever brings them would bring the board back (AC6). */
  bury(authors: Iterable<number>): void {
    this.#ingest.bury(authors)
  }
  get hasBuried(): boolean {
    return this.#ingest.hasBuried
  }
  /** Whether a client with this vector has a deleted board. */
  isDeleted(has: StateVector): boolean {
    return this.#ingest.isBuried(has.keys())
  }

  /** A checked update. It is on its way to everybody at once, or after the next flush, which brings it into the document. */
  receive(received: Received): void {
    if (received.isAnswer) received.member.repair.answerCame()
    else if (received.summary !== null && this.#isPrompt && this.#relayed(received, received.summary)) return
    this.#ingest.add(received)
    this.#flushPacer.ask()
  }

  /** Whether what is plainly next may leave now: there is time, and nothing waits that it would overtake. */
  get #isPrompt(): boolean {
    return (
      this.#isWhole &&
      this.#tempo.updatesMs === 0 &&
      this.#deps.loop.hasTimeNow &&
      this.#ingest.isEmpty &&
      this.#remote.length === 0 &&
      !this.#hold.isOn &&
      !this.#relay.isFull &&
      !this.#ingest.isCareful
    )
  }
  /** Gives an update to everybody, if it is plainly next; the document has it later. False: it has to go the other way. */
  #relayed(received: Received, summary: UpdateSummary): boolean {
    const { member, update } = received
    const { clock, loop, gatherer, metrics } = this.#deps
    const started = clock.now()
    if (member.share.waitAt(started) > 0) return false
    // Whatever may throw comes before anybody is given anything.
    const frame = this.#attempt('apply', () => {
      const may = this.#ingest.mayRelay(received, summary, this.#relay, () => this.#integrate())
      if (!may || !this.#isWhole) return null
      const { client, from, to } = summary.sections[0]!
      const deletes = deleteSetOf(update, summary.deleteSetAt)
      const isKeyed = this.#ingest.endsKeyed(summary, this.#relay)
      const bytes = received.frame ?? encodeUpdate(update)
      this.#relay.add(received, client, to, isKeyed)
      const version = this.#relay.versionAfter(this.source.version)
      return { bytes, before: new Map([[client, from]]), version, deletes, at: received.at }
    })
    if (frame === null) return false
    this.#fanOut.send(frame, member)
    gatherer.delivered(this.members.size)
    metrics.roomUpdates.values.relayed++
    const ended = clock.now()
    loop.worked('flush', started, ended)
    this.#ingest.spent(member, ended - started)
    this.#relayedMs += ended - started
    if (this.#relay.isDue) loop.run(this.#flushJob)
    else if (!this.#isIntegrationAsked) {
      this.#isIntegrationAsked = true
      this.#deps.ticks.at(ended + INTEGRATE_MS, this.#onIntegrationTick)
    }
    return true
  }
  readonly #onIntegrationTick = (): void => {
    this.#isIntegrationAsked = false
    if (!this.#relay.isEmpty) this.#deps.loop.run(this.#flushJob)
  }

  /**
   * Brings what was relayed into the document: before anybody reads that. Stored and published, and sent to nobody. False: the
   * document broke.
   */
  #integrate(): boolean {
    if (this.#relay.isEmpty || this.#isIntegrating) return true
    if (!this.#isWhole) return false
    const { clock } = this.#deps
    const started = clock.now()
    const relayed = this.#relay.take()
    this.#isIntegrating = true
    const events = this.#attempt('apply', () =>
      this.#board.transact(FROM_MEMBERS, () => this.#ingest.applyRelayed(relayed)),
    )
    if (events !== null) this.#emit(events, { skip: null, at: started, isLocal: true, isRelayed: true })
    this.#isIntegrating = false
    if (!this.#isWhole) return false
    this.#ingest.told()
    const now = clock.now()
    this.#ingest.settle(now - started + this.#relayedMs, now)
    this.#relayedMs = 0
    return true
  }

  /** A member's SyncStep1: answered after a flush, so that nobody's earlier edits come after it. */
  answer(member: Member, has: StateVector): void {
    this.#questions.push({ member, has })
    member.outbox.asked()
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
      try {
        isShared ||= outbox.state === 'behind'
        const quiet = now - outbox.lastFrameAt >= KEEPALIVE_AFTER_MS
        const isIdle = outbox.state === 'live' || outbox.state === 'joining' || this.#rebuilding !== null
        if (quiet && isIdle) outbox.pushControl('keepalive', KEEPALIVE)
      } catch (error) {
        outbox.failed(error)
      }
    }
    // What cursors share is worth its memory only while some are running.
    if (!isShared) this.source.forgetCache()
  }

  /** What storage loads into and reads from. */
  keeperHost(): KeeperHost {
    const room = this
    return {
      apply(update) {
        room.#board.load(update)
        // Left in the document, it would be gone through again with every record that follows.
        room.#ingest.putAside()
      },
      renew() {
        room.#deps.metrics.roomsRebuilt.add('load')
        room.#renew()
      },
      deleteCosts: new DeleteCosts(() => room.doc),
      loosen: () => room.#board.loosen(),
      parts: () => room.#board.parts(),
      get hasGaps() {
        return room.#ingest.hasGaps
      },
    }
  }

  /** The stored board is in the document. */
  loaded(): void {
    this.#isWhole = true
    if (!this.isSettled) this.#flushPacer.askSoon()
  }

  /** The room leaves memory. */
  destroy(): void {
    this.#isGone = true
    this.#isWhole = false
    this.#flushPacer.stop()
    this.#deps.loop.forget(this.#flushJob)
    this.#cancelWait?.()
    this.#hold.stop()
    this.#presencePacer.stop()
    this.#claims.stop()
    this.#leaveCluster()
    this.#board.destroy()
  }

  #newBoard(): LiveBoard {
    const board = new LiveBoard({
      settings: this.#deps.settings,
      loop: this.#deps.loop,
      broke: (site, error) => {
        if (board === this.#board) this.#broke(site, error)
      },
    })
    board.source.settle = () => board !== this.#board || this.#integrate()
    return board
  }
  #renew(): void {
    this.#board.destroy()
    this.#board = this.#newBoard()
    this.#ingest.use(this.doc, this.size)
  }

  /** The one place for calls into Yjs that are made for this room. Null: it threw, and the document is not used any more. */
  #attempt<T>(site: BreakSite, work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      this.#broke(site, error)
      return null
    }
  }

  /** A call into Yjs threw. Nothing is read or applied from here on until there is another document. */
  #broke(site: BreakSite, error: unknown): void {
    // One that is still being filled is looked after by whoever fills it.
    if (!this.#isWhole) return
    this.#isWhole = false
    const broken = this.#board
    broken.condemn()
    const culprit = this.#ingest.broke()
    this.#ingest.addAgain(this.#relay.take())
    this.#deps.metrics.roomsRebuilt.add(site)
    const log = culprit?.member.log ?? this.#deps.log
    log.error(
      { event: 'document_broke', err: error, reason: site, ...culpritFacts(culprit) },
      'the document broke and is rebuilt',
    )
    const { level } = broken
    if (this.#hold.isOn) this.#fanOut.withhold([])
    this.#hold.stop()
    this.#fanOut.rest(level)
    if (culprit !== null) this.#blame(culprit)
    if (this.#breaks.note(culprit !== null)) this.#rebuilding = this.#rebuild(broken)
    else this.#giveUp()
  }

  /** What broke the document is set aside. Its sender is asked again like everybody: twice is no accident. */
  #blame(culprit: Applied): void {
    const { member } = culprit
    if (culprit.isInnocent) return
    this.#ingest.strike(member, 'apply_failed')
    if (this.#breaks.isRepeated(culprit)) member.outbox.end(CLOSE.malformedInput)
  }

  /** Never rejects. */
  async #rebuild(broken: LiveBoard): Promise<void> {
    const started = this.#deps.clock.now()
    try {
      this.#board = this.#newBoard()
      this.#ingest.use(this.doc, this.size)
      await this.#deps.reload((pause) => salvage(broken.doc, broken.level, pause))
    } catch (error) {
      if (this.#isGone) return
      this.#deps.log.error({ event: 'document_lost', err: error }, 'the document could not be rebuilt')
      this.#giveUp()
      return
    } finally {
      this.#rebuilding = null
      broken.destroy()
    }
    if (this.#isGone) return
    const ms = Math.round(this.#deps.clock.now() - started)
    this.#deps.log.info({ event: 'document_rebuilt', ms, bytes: this.size.bytes }, 'the document is rebuilt')
    this.loaded()
    this.#fanOut.resume(this.source)
    // Then only, because asking reads the document, and all of this may begin again.
    for (const { outbox, repair } of this.members) {
      try {
        this.#deps.metrics.resyncsIn.add('rebuilt')
        repair.restart()
      } catch (error) {
        outbox.failed(error)
      }
    }
  }

  #giveUp(): void {
    this.#deps.metrics.roomsGivenUp.add()
    for (const { outbox } of [...this.members]) outbox.end(CLOSE.roomBroke)
    this.#deps.givenUp()
  }

  #tell(member: Member, entries: readonly PresenceEntry[]): void {
    member.outbox.pushControl(`presence:${entries[0]!.id}`, encodePresence(encodeEntries(entries)))
  }

  /** What is no call into Yjs should not throw either; if it does, nobody knows how far it came. */
  #flushSafely(started: number, until: number): void {
    try {
      this.#flush(started, until)
    } catch (error) {
      this.#deps.metrics.errorsCaught.add('room')
      this.#broke('flush', error)
    }
  }
  #flush(started: number, until: number): void {
    // What waits is served when there is a document to put it in: see `loaded`.
    if (!this.#isWhole || !this.#integrate()) return
    const { clock, metrics, loop } = this.#deps
    this.#applyRemote(started)
    this.#applyReceived(started, until)
    this.#holdTexts()
    let now = clock.now()
    this.#ingest.settle(now - started, now)
    if (this.#isWhole && this.#questions.length > 0) now = this.#answerQuestions(now, until)
    metrics.roomFlush.observe((now - started) / 1000)
    if (!this.#isWhole || (this.#ingest.isEmpty && this.#questions.length === 0)) return
    if (this.#questions.length > 0 || this.#ingest.nextAt(now) !== null) loop.defer(this.#flushJob)
    else this.#wait(now)
  }
  /** Whoever waits is over its share of the loop's time. */
  #wait(now: number): void {
    this.#cancelWait?.()
    this.#cancelWait = this.#deps.clock.after(Math.max(1, this.#ingest.waitAt(now)), () => {
      this.#cancelWait = null
      this.#deps.loop.run(this.#flushJob)
    })
  }
  /** On whose behalf the next flush runs. */
  get #payer(): Account {
    const { loop, clock } = this.#deps
    const asker = this.#questions[0]?.member.share.account
    const writer = this.#ingest.nextAt(clock.now())?.share.account
    if (asker === undefined || writer === undefined) return asker ?? writer ?? loop.common
    return loop.virtualOf(asker) < loop.virtualOf(writer) ? asker : writer
  }

  /** As many as there is time for, in order; when it was through, clock ms. */
  #answerQuestions(started: number, until: number): number {
    const { clock, loop } = this.#deps
    let at = started
    do {
      const { member, has } = this.#questions.shift()!
      if (!this.members.has(member)) continue
      try {
        member.outbox.answer(has)
      } catch (error) {
        member.outbox.failed(error)
      }
      const now = clock.now()
      loop.charge(member.share.account, now - at)
      at = now
    } while (this.#isWhole && this.#questions.length > 0 && at < until)
    return at
  }

  #applyReceived(started: number, until: number): void {
    // One transaction, but where it has to be known which update breaks a document.
    do this.#applyBatch(started, until)
    while (this.#isWhole && this.#ingest.isCareful && this.#mayApply(until))
  }
  #mayApply(until: number): boolean {
    const now = this.#deps.clock.now()
    return now < until && this.#ingest.nextAt(now) !== null
  }
  #applyBatch(started: number, until: number): void {
    if (!this.#isWhole || this.#ingest.isEmpty) return
    let batch: Batch = { soleAuthor: null, oldest: started, updates: 0 }
    const events = this.#attempt('apply', () =>
      this.#board.transact(FROM_MEMBERS, () => {
        batch = this.#ingest.apply(this.members, until)
      }),
    )
    this.#deps.gatherer.delivered(batch.updates * this.members.size)
    this.#deps.metrics.roomUpdates.add('gathered', batch.updates)
    if (events !== null && this.#holdTexts()) {
      this.#emit(events, { skip: batch.soleAuthor, at: batch.oldest, isLocal: true, isRelayed: false })
    }
    if (this.#isWhole) this.#ingest.told()
  }

  /**
   * While a large update with formatted text is half in the document, members are given nothing of it, and then all at once (FC8):
   * one that has half of a text would tidy marks away that say something. False: the document broke.
   */
  #holdTexts(): boolean {
    if (!this.#isWhole) return false
    const writers = this.#attempt('emit', () => this.#ingest.halfTexts(() => this.source.hasMarks))
    if (writers === null) return false
    const wasOn = this.#hold.isOn
    const isOn = this.#hold.keep(writers.length > 0)
    if (isOn || wasOn) this.#fanOut.withhold(isOn ? writers : [])
    return true
  }
  #applyRemote(started: number): void {
    // As with members': together, but where it has to be known which one breaks a document.
    while (this.#isWhole && this.#remote.length > 0) {
      const updates = this.#remote.splice(0, this.#ingest.isCareful ? 1 : this.#remote.length)
      const events = this.#attempt('remote', () =>
        this.#board.transact(FROM_CLUSTER, () => {
          for (const update of updates) applyOwned(this.doc, update)
        }),
      )
      if (events !== null) this.#emit(events, { skip: null, at: started, isLocal: false, isRelayed: false })
      if (!this.#isWhole && updates.length > 1) this.#remote.unshift(...updates)
    }
  }

  /** Hands what the document emitted to everybody, to storage and, for local work, to the other nodes. */
  #emit(events: readonly BoardEvent[], { skip: author, at, isLocal, isRelayed }: Emission): void {
    let isFirst = true
    for (const { update, transaction, version } of events) {
      const { deleteSet } = transaction
      let collected: DeleteSet | null = null
      let deletes: DeleteSet = deleteSet
      let unnamed: Uint8Array | null = null
      // All that is read of the document comes first, so that either everything is told or nothing.
      try {
        collected = collectedIn(transaction)
        if (collected !== null) {
          deletes = Y.mergeDeleteSets([deleteSet, collected as never])
          unnamed = encodeDeletes(collected)
        }
      } catch (error) {
        this.#broke('emit', error)
        return
      }
      this.size.grew(update.length)
      // The first event is what the batch brought, all of it its author's own; a second is Yjs's clean-up after it.
      const skip = isFirst ? author : null
      if (isRelayed && isFirst) this.#fanOut.owe(deletes)
      else
        this.#fanOut.send(
          { bytes: encodeUpdate(update), before: clocksBefore(transaction), version, deletes, at },
          skip,
        )
      isFirst = false
      this.#deps.keep(update)
      if (isLocal) this.#deps.cluster.publishUpdate(this.name, update)
      if (collected === null || unnamed === null) continue
      this.#fanOut.send({ bytes: encodeUpdate(unnamed), before: NO_CLOCKS, version, deletes: collected, at }, skip)
      if (isLocal) this.#deps.cluster.publishUpdate(this.name, unnamed)
    }
    this.#board.told()
  }

  /** Whether presence goes along with an update that leaves now. */
  #takesPresence(): boolean {
    const takes = this.#presenceIsDue || this.#presencePacer.takeOver(this.#tempo.presenceMs * RIDING)
    this.#presenceIsDue = false
    return takes
  }
  #tickPresence(): void {
    // An update that is due at this moment takes it along.
    this.#presenceIsDue = true
    this.#flushPacer.runNow()
    if (!this.#presenceIsDue) return
    this.#presenceIsDue = false
    this.#fanOut.sendPresence()
  }
}

interface Emission {
  /** Who wrote all of it, and need not be given it. */
  readonly skip: Member | null
  /** When the oldest of it was received, clock ms. */
  readonly at: number
  /** Whether it is of this node's own members. */
  readonly isLocal: boolean
  /** Whether everybody has it already. */
  readonly isRelayed: boolean
}

const NO_CLOCKS: StateVector = new Map()
