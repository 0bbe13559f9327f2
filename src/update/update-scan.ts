/**
 * One linear walk over an update that adds up what it would cost to take it in. It can stop between two structs and go on
 * later, so that even a big update need not hold up the loop.
 */
import { RootNames } from './root-names.ts'
import { KIND, StructWalk } from './struct-walk.ts'

/** What one V1 update holds, found by one linear walk; nothing of it has been given to Yjs. */
export interface UpdateSummary {
  /** Items and GCs; Skips are not counted. */
  readonly structs: number
  /** Some struct's origin, right origin or parent is another author's. */
  readonly leansOnOthers: boolean
  /** Some struct is a formatting mark. */
  readonly formats: boolean
  /** Gaps inside sections: what comes after one waits for another update, unless the document has it already. */
  readonly skips: number
  /** Structs that come as collected: deletions that its delete set does not name. */
  readonly collected: number
  /** The author of what the last struct follows (its origin, else its right origin), and the clock; -1: it has neither. */
  readonly lastClient: number
  readonly lastClock: number
  /** Whether the last struct, having neither, is an entry of a map. */
  readonly lastIsKeyed: boolean
  /** Shared types it creates: about 110 times their bytes in memory. */
  readonly types: number
  /** Subdocuments it creates: about 300 times their bytes in memory. */
  readonly subdocuments: number
  /** Arrays and objects inside values, embeds and formats: about 56 bytes of memory each, for as little as 2 here. */
  readonly containers: number
  /** Distinct names of root types that structs name as their parent; at most CheckLimits.rootNames. */
  readonly rootNames: readonly string[]
  /** Sections: one for each author of structs. */
  readonly authors: number
  readonly deleteRanges: number
  /** Where the delete set begins in the bytes. */
  readonly deleteSetAt: number
  /**
   * Whether some struct may lie where Yjs puts none: see struct-places. `if_neighbours`: only those that `neighbours` tells of.
   */
  readonly places: 'fine' | 'if_neighbours' | 'unclear'
  /**
   * Of each such struct four numbers, its origin and its right origin; a client of -1: it has none. Then 1 when it has content
   * of several units, else 0. None is in its own section.
   */
  readonly neighbours: readonly number[]
  /** Clock units that its delete set names. */
  readonly deletedUnits: number
  /** No structs and no deletes: applying it changes nothing. */
  readonly isEmpty: boolean
  /** Per author in descending order: the clocks [from, to), including Skips. */
  readonly sections: readonly AuthorSection[]
  /** Per author of the delete set, as it stands there: the highest end of its ranges. */
  readonly deletes: readonly AuthorDeletes[]
}

export interface AuthorSection {
  readonly client: number
  readonly from: number
  readonly to: number
}

export interface AuthorDeletes {
  readonly client: number
  readonly end: number
}

export interface CheckLimits {
  /**
   * Distinct root names in one update; one more is refused with `root_names`. A board uses a handful. The limit bounds
   * the work on one update: the room has to bound their number per document as well.
   */
  readonly rootNames: number
  /**
   * Authors with structs, and authors with deletes; one more is refused with `authors`. Every page load that edits is an
   * author; so many make a state vector of 2 MB, long after the board has become unusable.
   */
  readonly authors: number
}

const NO_BYTES = new Uint8Array(0)
const NONE: number[] = []
/** So many numbers are noted: an edit by hand has one or two such structs. */
const MAX_NEIGHBOURS = 40

export class UpdateScan {
  private readonly walk = new StructWalk()
  private limits: CheckLimits | undefined
  private names: RootNames | undefined
  /** Flat, three numbers per section, until all of it is known to be good: refused input leaves little behind. */
  private spans: number[] = []
  private structs = 0
  private skips = 0
  private collected = 0
  private leansOnOthers = false
  private formats = false
  private deleteRanges = 0
  private placesAreUnclear = false
  private neighbours: number[] = NONE
  /** Flat, two numbers per author of the delete set that names anything. */
  private ends: number[] = []
  private deletedUnits = 0
  private deleteEnd = 0
  private deleteSetAt = -1
  private sectionsLeft = 0
  private structsLeft = 0
  private sectionFrom = 0
  private deleteAuthorsLeft = 0
  private rangesLeft = 0

  get fault() {
    return this.walk.fault
  }

  begin(bytes: Uint8Array, limits: CheckLimits): void {
    const { walk } = this
    walk.begin(bytes)
    this.limits = limits
    this.names = new RootNames(bytes, limits.rootNames)
    this.spans = []
    this.structs = 0
    this.skips = 0
    this.collected = 0
    this.leansOnOthers = false
    this.formats = false
    this.deleteRanges = 0
    this.placesAreUnclear = false
    this.neighbours = NONE
    this.ends = []
    this.deletedUnits = 0
    this.deleteSetAt = -1
    this.structsLeft = 0
    this.rangesLeft = 0
    if (bytes.length === 0) walk.fail('empty')
    else if ((this.sectionsLeft = walk.sections()) > limits.authors) walk.fail('authors')
  }

  /**
   * Goes on until the walk is over or has passed `until`, a position in the bytes; whether it is over. A single value is
   * never interrupted.
   */
  run(until: number): boolean {
    if (this.walk.fault !== undefined) return true
    if (this.deleteSetAt < 0 && !this.runStructs(until)) return this.walk.fault !== undefined
    if (!this.runDeletes(until)) return this.walk.fault !== undefined
    if (this.walk.pos !== this.walk.bytes.length) this.walk.fail('trailing')
    return true
  }

  /** What was found, after a run without a fault. */
  summary(): UpdateSummary {
    const { walk, structs, deleteRanges } = this
    return {
      structs,
      leansOnOthers: this.leansOnOthers,
      formats: this.formats,
      skips: this.skips,
      collected: this.collected,
      lastClient: walk.originClient >= 0 ? walk.originClient : walk.rightClient,
      lastClock: walk.originClient >= 0 ? walk.originClock : walk.rightClock,
      lastIsKeyed: walk.isKeyed,
      types: walk.types,
      subdocuments: walk.subdocuments,
      containers: walk.containers,
      rootNames: this.names!.names(),
      authors: this.spans.length / 3,
      deleteRanges,
      deleteSetAt: this.deleteSetAt,
      places: this.placesAreUnclear ? 'unclear' : this.neighbours === NONE ? 'fine' : 'if_neighbours',
      neighbours: this.neighbours,
      deletedUnits: this.deletedUnits,
      isEmpty: structs === 0 && deleteRanges === 0,
      sections: sectionsOf(this.spans),
      deletes: deletesOf(this.ends),
    }
  }

  /** A scan that is kept for the next update must not keep this one alive. */
  end(): void {
    this.walk.bytes = NO_BYTES
    this.names = undefined
    this.spans = []
    this.ends = []
    this.neighbours = NONE
  }

  private runStructs(until: number): boolean {
    const { walk } = this
    const names = this.names!
    while (this.structsLeft > 0 || this.sectionsLeft > 0) {
      if (this.structsLeft === 0) {
        if (!walk.section()) return false
        this.sectionsLeft--
        this.sectionFrom = walk.clockEnd
        this.structsLeft = walk.structCount
      }
      while (this.structsLeft > 0) {
        if (walk.pos >= until || !walk.struct()) return false
        if (walk.nameFrom >= 0 && !names.add(walk.nameFrom, walk.nameTo)) return walk.fail('root_names')
        this.structsLeft--
        if (walk.kind === KIND.skip) this.skips++
        else {
          this.structs++
          if (walk.kind === KIND.gc) this.collected++
          this.leansOnOthers ||= walk.leansOnOthers
          this.formats ||= walk.kind === KIND.format
          if (walk.length > 1 || walk.rightClient >= 0) this.notePlace()
        }
      }
      this.spans.push(walk.client, this.sectionFrom, walk.clockEnd)
    }
    this.deleteSetAt = walk.pos
    this.deleteAuthorsLeft = walk.deleteAuthors()
    if (this.deleteAuthorsLeft > this.limits!.authors) return walk.fail('authors')
    return this.deleteAuthorsLeft >= 0
  }

  private runDeletes(until: number): boolean {
    const { walk } = this
    while (this.rangesLeft > 0 || this.deleteAuthorsLeft > 0) {
      if (this.rangesLeft === 0) {
        if (!walk.deleteAuthor()) return false
        this.deleteAuthorsLeft--
        this.rangesLeft = walk.deleteCount
        this.deleteRanges += walk.deleteCount
        this.deleteEnd = 0
      }
      while (this.rangesLeft > 0) {
        if (walk.pos >= until || !walk.deleteRange()) return false
        this.rangesLeft--
        this.deleteEnd = Math.max(this.deleteEnd, walk.deleteClock + walk.deleteLength)
        this.deletedUnits += walk.deleteLength
      }
      if (this.deleteEnd > 0) this.ends.push(walk.deleteClient, this.deleteEnd)
    }
    return true
  }

  private notePlace(): void {
    const { walk } = this
    const { originClient, rightClient } = walk
    const isLong = walk.isLongContent
    if (!isLong && rightClient < 0) return
    if (originClient < 0 && rightClient < 0) this.placesAreUnclear ||= walk.isKeyed
    else if (this.isOwn(originClient, walk.originClock) || this.isOwn(rightClient, walk.rightClock)) {
      this.placesAreUnclear = true
    } else if (this.neighbours.length === MAX_NEIGHBOURS) this.placesAreUnclear = true
    else {
      if (this.neighbours === NONE) this.neighbours = []
      this.neighbours.push(originClient, walk.originClock, rightClient, walk.rightClock, isLong ? 1 : 0)
    }
  }
  private isOwn(client: number, clock: number): boolean {
    return client === this.walk.client && clock >= this.sectionFrom
  }
}

function sectionsOf(spans: readonly number[]): AuthorSection[] {
  const sections: AuthorSection[] = []
  for (let i = 0; i < spans.length; i += 3) {
    sections.push({ client: spans[i]!, from: spans[i + 1]!, to: spans[i + 2]! })
  }
  return sections
}

function deletesOf(ends: readonly number[]): AuthorDeletes[] {
  const deletes: AuthorDeletes[] = []
  for (let i = 0; i < ends.length; i += 2) deletes.push({ client: ends[i]!, end: ends[i + 1]! })
  return deletes
}
