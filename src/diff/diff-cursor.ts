/**
 * What one client lacks, as a sequence of valid V1 updates in causal order.
 *   state vector it has ──▶ structs, part by part ──▶ deletes ──▶ `last`: it has the document of this moment
 * Nothing of the document is pinned: the cursor holds what was sent and reads the live document for every part, so edits
 * made between parts ride along.
 */
import * as Y from 'yjs'
import { type ChunkPlace, FIRST_PLACE } from './delete-chunk.ts'
import type { DeleteSnapshot } from './delete-snapshot.ts'
import { type Place, type StateVector, WHOLE } from './diff-cache.ts'
import type { DiffSource } from './diff-source.ts'
import type { Receiver } from './formatted-text.ts'
import { type GroupOutcome, GroupWriter } from './group-writer.ts'
import type { DeleteSet, OwedDeletes } from './owed-deletes.ts'
import { NO_STRUCTS, PartWriter, type StructPart } from './part-writer.ts'
import type { ParentType } from './root-types.ts'

export type { StateVector } from './diff-cache.ts'
export { DiffSource } from './diff-source.ts'
export { type DeleteSet, OwedDeletes } from './owed-deletes.ts'

/** Bytes of a part: a frame that the slowest links still take in a second or less (FC1, FC8). */
export const PART_BYTES = 64 * 1024

export interface DiffPart {
  /** A V1 update; the receiver parks nothing of it when it has applied the parts before. */
  readonly update: Uint8Array
  /** Nothing is left: with this part the receiver equals the document as it is at this moment. */
  readonly last: boolean
  /** Longer than the part size asked for: a single struct that cannot be cut, or formatted text that goes together. */
  readonly uncuttable: boolean
  /** It ends where a formatted text may be half there, because what goes together is too long. */
  readonly endsInsideText: boolean
  /** The update carries nothing. */
  readonly isEmpty: boolean
}

interface RunningSnapshot {
  readonly deletes: DeleteSnapshot
  at: ChunkPlace
  /** Its parts tear what should arrive at once. */
  readonly endsInsideText: boolean
}

/** Upper bound of a delete range on the wire, its share of the authors included, for all but the oddest sets. */
const RANGE_BYTES = 12

export class DiffCursor implements Receiver {
  private readonly source: DiffSource
  /** What the receiver had when the cursor began: all there is to say, or what differs from the document of `version`. */
  private readonly base: StateVector
  private readonly version: number
  /** Clocks before later transactions of authors that are not in `base`, which has to go on meaning what it meant. */
  private later: Map<number, number> | null = null
  /** Authors whose structs went out, over `base`. */
  private readonly advanced = new Map<number, number>()
  private deletes: OwedDeletes
  private place: Place
  private sentMarks = false
  /** A whole delete set that is on its way; `deletes` then holds what came after it. */
  private snapshot: RunningSnapshot | null = null
  /** Authors still to be looked at, the next one last; complete as of `listedAt`. */
  private authors: number[] = []
  private listedAt = -1

  /**
   * `sent`: what the receiver has; it may name authors and clocks the document does not have. It is kept and must not
   * change. `deletes`: what it is owed of deletions, given away to the cursor: `OwedDeletes.full()` for a joiner, what
   * was accumulated since the first frame it missed for a resync.
   *
   * With a `version`, `sent` names only authors of whom the receiver lacks something: of the others it has what the document
   * had at that version. Such a cursor costs what changed, however many authors there are, and has to be told of the
   * clocks of every later transaction as well.
   */
  constructor(source: DiffSource, sent: StateVector, deletes: OwedDeletes, version = WHOLE) {
    this.source = source
    this.base = sent
    this.version = version
    this.deletes = deletes
    this.place = source.cache.placeOf(sent, version)
  }

  /**
   * What the receiver has, of structs, after the parts handed out so far: O(authors). `level`: a vector no newer than the
   * document of any moment since the cursor began, but for what it was told of.
   */
  sentOver(level: StateVector): StateVector {
    const sent = new Map(this.version === WHOLE ? this.base : level)
    if (this.version !== WHOLE) {
      for (const [client, clock] of this.base) sent.set(client, clock)
      for (const [client, clock] of this.later ?? []) sent.set(client, clock)
    }
    for (const [client, clock] of this.advanced) sent.set(client, clock)
    return sent
  }
  /** The parts handed out so far may not have arrived. The cursor is not to be read again. */
  forgetSent(): void {
    this.advanced.clear()
  }

  /** Clocks of the vectors that describe what the receiver has. */
  get clocks(): number {
    return this.base.size + (this.later?.size ?? 0) + this.advanced.size
  }

  /** To be told of every transaction from the cursor's creation on, also after `last` while the cursor is in use. */
  addDeletes(deleteSet: DeleteSet): void {
    this.deletes.add(deleteSet)
  }
  /** The same, of the authors it has structs of, the clocks before it. */
  addClocks(before: StateVector): void {
    if (this.version === WHOLE) return
    for (const [client, clock] of before) {
      if (this.base.has(client) || this.later?.has(client)) continue
      this.later ??= new Map()
      this.later.set(client, clock)
    }
  }

  /**
   * The next part, about `partBytes` long at most unless it is `uncuttable`. After `last` the receiver is level; calling
   * again then yields what came since, or an empty part that is `last` again.
   *
   * `wholeBytes`: a receiver that tidies formats must not see a text with half its marks. What has to arrive at once is
   * one part up to this length; longer, it is cut like anything else (`endsInsideText`). 0 for a receiver that does not tidy.
   */
  next(partBytes = PART_BYTES, wholeBytes = 0): DiffPart {
    if (!this.source.settle()) throw new Error('the document broke before it could be read')
    if (this.snapshot !== null) return this.nextOfSnapshot(this.snapshot, partBytes)
    const structs = this.nextStructs(partBytes, wholeBytes)
    if (!structs.exhausted) {
      if (this.deletes.isFull) this.source.prepareDeletes()
      return partOf(structs, false)
    }
    const room = partBytes - (structs.update.length - 1)
    const wholeRoom = wholeBytes - (structs.update.length - 1)
    if (this.deletes.isFull) {
      let { snapshot, since } = this.source.fullDeletes(partBytes)
      const fits = snapshot.size <= room && since.isEmpty
      const goTogether = !fits && wholeRoom > 0 && this.concernsMarks()
      if (goTogether) ({ snapshot, since } = this.source.fullDeletes(wholeRoom))
      this.deletes = since
      if (snapshot.size > (goTogether ? Math.max(room, wholeRoom) : room) || !since.isEmpty) {
        return this.startSnapshot(
          { deletes: snapshot, at: FIRST_PLACE, endsInsideText: goTogether },
          structs,
          partBytes,
        )
      }
      if (!snapshot.isEmpty) return partOf(structs, true, snapshot.whole())
    }
    if (this.deletes.isEmpty) return partOf(structs, true)
    const goTogether = this.deletes.count * RANGE_BYTES > room && wholeRoom > 0 && this.concernsMarks()
    const deletes = this.deletes.take(goTogether ? Math.max(room, wholeRoom) : room, structs === NO_STRUCTS)
    const isLast = deletes !== null && this.deletes.isEmpty
    const part = partOf(structs, isLast, deletes ?? undefined)
    return goTogether && !isLast ? { ...part, endsInsideText: true } : part
  }

  /** Whether the receiver may have formatted texts. */
  private concernsMarks(): boolean {
    return this.sentMarks || (!this.beganEmpty && this.source.hasMarks)
  }

  private startSnapshot(snapshot: RunningSnapshot, structs: StructPart, partBytes: number): DiffPart {
    if (snapshot.deletes.isEmpty) return partOf(structs, false)
    // Its parts begin at the same ranges for everybody, so that they are shared; hence not behind these structs.
    this.snapshot = snapshot
    return structs === NO_STRUCTS ? this.nextOfSnapshot(snapshot, partBytes) : partOf(structs, false)
  }

  /**
   * All that the snapshot names was sent before it was begun, so structs may wait until it is through: with some in
   * every part, a busy room would never let it finish.
   */
  private nextOfSnapshot(snapshot: RunningSnapshot, partBytes: number): DiffPart {
    const { update, next } = snapshot.deletes.part(snapshot.at, partBytes)
    if (next === null) this.snapshot = null
    else snapshot.at = next
    const last = next === null && this.deletes.isEmpty && !this.owesStructs()
    return { update, last, uncuttable: false, endsInsideText: snapshot.endsInsideText && !last, isEmpty: false }
  }

  private nextStructs(partBytes: number, wholeBytes: number): StructPart {
    const { cache, version } = this.source
    const known = cache.recall(this.place, partBytes, wholeBytes, version)
    if (known !== null) return this.advance(known.part, known.to)
    if (!this.owesStructs()) return NO_STRUCTS
    const part = this.writePart(partBytes, wholeBytes)
    const to = cache.remember(this.place, partBytes, wholeBytes, version, part)
    to.beginWith = part.goOnWith
    if (part.endsInsideText) {
      to.blindParts = (this.place.blindParts > 0 ? this.place.blindParts : Math.ceil(wholeBytes / partBytes)) - 1
    }
    return this.advance(part, to)
  }

  private writePart(partBytes: number, wholeBytes: number): StructPart {
    const { store } = this.source.doc
    const writer = new PartWriter(store, this.source.names, (client) => this.clockOf(client), partBytes)
    const through: number[] = []
    while (this.owesStructs() && writer.writeAuthor(this.authors.at(-1)!)) through.push(this.authors.pop()!)
    const exhausted = !this.owesStructs()
    const makesTidy = writer.hasMarks || (writer.hasRemovals && this.lags)
    // Where a part that makes nobody tidy ends is all the same.
    if (exhausted || !makesTidy || wholeBytes <= partBytes) return writer.finish(exhausted, makesTidy, false)
    const cut = writer.finish(false, true, true)
    if (this.place.blindParts > 0) return cut
    this.authors.push(...through.reverse())
    return this.writeGroups(partBytes, wholeBytes) ?? cut
  }

  /** A part that ends between two groups; null when the first one is longer than `wholeBytes`. */
  private writeGroups(partBytes: number, wholeBytes: number): StructPart | null {
    const { store } = this.source.doc
    const writer = new GroupWriter(store, this.source.names, this, partBytes, wholeBytes)
    const { beginWith } = this.place
    let outcome: GroupOutcome = beginWith === null ? 'written' : writer.writeAuthor(beginWith)
    while (outcome === 'written' && this.owesStructs()) {
      outcome = writer.writeAuthor(this.authors.at(-1)!)
      if (outcome === 'written') this.authors.pop()
    }
    return outcome === 'too_long' ? null : writer.finish(outcome === 'written')
  }

  private advance(part: StructPart, to: Place): StructPart {
    for (const [client, clock] of part.reached) this.advanced.set(client, clock)
    this.place = to
    this.sentMarks ||= part.makesTidy
    return part
  }

  sentOf(client: number): number {
    return this.clockOf(client)
  }
  mayLag({ _item }: ParentType): boolean {
    if (_item === null) return this.lags
    const { client, clock } = _item.id
    return clock < this.hadOf(client) || (this.knowsLateDeletes && clock < this.clockOf(client))
  }
  /** Whether the receiver may have anything undeleted that is deleted here. */
  private get lags(): boolean {
    return !this.beganEmpty || this.knowsLateDeletes
  }
  private get knowsLateDeletes(): boolean {
    return this.source.hasLateDeletes || (!this.deletes.isFull && !this.deletes.isEmpty)
  }
  mayHaveLive({ id: { client, clock }, length }: Y.Item): number {
    const isLate = this.source.wasDeletedLately(client, clock) || this.deletes.has(client, clock)
    const had = isLate ? this.clockOf(client) : this.hadOf(client)
    return Math.min(clock + length, had)
  }

  /** Whether the receiver had nothing when the cursor began. */
  private get beganEmpty(): boolean {
    return this.version === WHOLE && this.base.size === 0
  }

  private clockOf(client: number): number {
    return this.advanced.get(client) ?? this.hadOf(client)
  }
  /** What the receiver had of an author when the cursor began. */
  private hadOf(client: number): number {
    const clock = this.base.get(client) ?? this.later?.get(client)
    if (clock !== undefined) return clock
    return this.version === WHOLE ? 0 : Y.getState(this.source.doc.store, client)
  }

  /** Whether an author has structs that were not sent; then `authors` ends with one. */
  private owesStructs(): boolean {
    const { source } = this
    const { clients } = source.doc.store
    for (;;) {
      for (let client = this.authors.at(-1); client !== undefined; client = this.authors.at(-1)) {
        if (this.isOwed(client, clients.get(client)!)) return true
        this.authors.pop()
      }
      if (this.listedAt === source.version) return false
      const among = source.authorsSince(this.listedAt) ?? this.possible()
      this.listedAt = source.version
      for (const client of among) {
        const structs = clients.get(client)
        if (structs !== undefined && this.isOwed(client, structs)) this.authors.push(client)
      }
      // The highest id goes first, as in Yjs: in conflicts the lower ids then have less to walk past.
      this.authors.sort((a, b) => a - b)
    }
  }

  /** Everybody who may have structs that were not sent. */
  private possible(): Iterable<number> {
    if (this.version === WHOLE) return this.source.doc.store.clients.keys()
    return this.later === null ? this.base.keys() : [...this.base.keys(), ...this.later.keys()]
  }

  private isOwed(client: number, structs: readonly { id: { clock: number }; length: number }[]): boolean {
    const last = structs.at(-1)
    return last !== undefined && last.id.clock + last.length > this.clockOf(client)
  }
}

function partOf(structs: StructPart, last: boolean, all?: Uint8Array): DiffPart {
  const { update, uncuttable, endsInsideText } = structs
  const deletes = all ?? structs.deletes
  if (deletes === null) return { update, last, uncuttable, endsInsideText, isEmpty: structs === NO_STRUCTS }
  const whole = new Uint8Array(update.length - 1 + deletes.length)
  whole.set(update.subarray(0, -1))
  whole.set(deletes, update.length - 1)
  return { update: whole, last, uncuttable, endsInsideText, isEmpty: false }
}
