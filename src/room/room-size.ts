/**
 * How large a board is and how large it may get (IN5, IN7, HI2): as large as what is in it now, not as all that was ever
 * done to it. Bytes and weight are sums that can only be too high and are measured before anything is refused for them;
 * authors, roots and subdocuments are counted in the document.
 */
import type * as Y from 'yjs'
import type { LoopTime } from '../budget/loop-time.ts'
import { authorCount, authorsOf } from '../update/update-authors.ts'
import type { UpdateSummary } from '../update/update-check.ts'
import { CONTAINER_BYTES, MOST_WEIGHT_PER_BYTE, TYPE_BYTES } from './live-weight.ts'
import { MeasuredSum } from './measured-sum.ts'

export interface RoomSizeLimits {
  /** `MAX_DOC_BYTES` */
  readonly maxDocBytes: number
  /** `MAX_DOC_AUTHORS` */
  readonly maxDocAuthors: number
}

/**
 * Distinct root types of one document: Yjs looks through all of them for every struct it writes (60 000 names made each
 * encoding take 15 s). A board uses a handful. A root stays as long as anything was ever in it: encodings go on naming it.
 */
const MAX_ROOT_NAMES = 1024
/** Subdocuments of one board: each keeps some 3.6 KB in memory for a dozen bytes here. */
const MAX_SUBDOCUMENTS = 1000
/** A board's structs may take this many times its allowed bytes in memory. */
const WEIGHT_FACTOR = 8
/** A state vector may name this many times the authors that fit a board: all of the board's, and as many that it has not got. */
const NAMED_FACTOR = 2

/** How the two figures that are dear to read are read, as the document is then. */
export interface SizeReaders {
  /** Lengths of the parts of the document's encoding. */
  lengths(): Iterable<number>
  /** Pieces of its weight (see live-weight). */
  weights(): Iterable<number>
}

type ClockOf = (client: number) => number

export class RoomSize {
  readonly #doc: Y.Doc
  readonly #limits: RoomSizeLimits
  readonly #bytes: MeasuredSum
  readonly #weight: MeasuredSum

  constructor(doc: Y.Doc, limits: RoomSizeLimits, loop: LoopTime, readers: SizeReaders) {
    this.#doc = doc
    this.#limits = limits
    this.#bytes = new MeasuredSum(limits.maxDocBytes, loop, () => readers.lengths())
    this.#weight = new MeasuredSum(WEIGHT_FACTOR * limits.maxDocBytes, loop, () => readers.weights())
  }

  /** Bytes of the document's encoding, at most. */
  get bytes(): number {
    return this.#bytes.value
  }
  /** The board was measured, and is over a limit. */
  get isOver(): boolean {
    return this.#bytes.isOver || this.#weight.isOver
  }
  /** Authors that one state vector may name: more than a board may hold is nothing that could ever become part of this one. */
  get mostNamed(): number {
    return NAMED_FACTOR * Math.max(this.#limits.maxDocAuthors, this.#doc.store.clients.size)
  }

  /** The document emitted this much. */
  grew(bytes: number): void {
    this.#bytes.add(bytes)
    this.#weight.changed()
  }
  /** The document was filled with this much, of which nothing else is known. */
  loaded(bytes: number): void {
    this.#bytes.add(bytes)
    this.#weight.add(bytes * MOST_WEIGHT_PER_BYTE)
  }

  /** Whether the board has no place for an update. What only deletes, or brings nothing new, always has. */
  refuses({ sections, types, containers, subdocuments, rootNames }: UpdateSummary, clockOf: ClockOf): boolean {
    // Yjs makes a root of every name it reads, news or not.
    if (rootNames.length > 0 && this.#rootsWith(rootNames) > MAX_ROOT_NAMES) return true
    let hasNews = false
    let newcomers = 0
    for (const { client, to } of sections) {
      const clock = clockOf(client)
      if (to > clock) hasNews = true
      if (clock === 0) newcomers++
    }
    if (!hasNews) return false
    if (this.isOver) return true
    if (newcomers > 0 && this.#doc.store.clients.size + newcomers > this.#limits.maxDocAuthors) return true
    if (subdocuments > 0 && this.#doc.subdocs.size + subdocuments > MAX_SUBDOCUMENTS) return true
    const weight = types * TYPE_BYTES + containers * CONTAINER_BYTES
    if (weight > WEIGHT_FACTOR * this.#limits.maxDocBytes) return true
    if (weight > 0) this.#weight.add(weight)
    return false
  }

  /**
   * The same of what is counted in the document, for a slice of an update that was let in: many that came at once may each have
   * had a place when they began.
   */
  refusesSlice(slice: Uint8Array, { subdocuments, rootNames }: UpdateSummary, clockOf: ClockOf): boolean {
    const { store, share, subdocs } = this.#doc
    if (subdocuments > 0 && subdocs.size >= MAX_SUBDOCUMENTS) return true
    if (share.size + rootNames.length > MAX_ROOT_NAMES && this.#rootsWith(rootNames) > MAX_ROOT_NAMES) return true
    if (store.clients.size + authorCount(slice) <= this.#limits.maxDocAuthors) return false
    const newcomers = authorsOf(slice).filter((client) => clockOf(client) === 0).length
    return newcomers > 0 && store.clients.size + newcomers > this.#limits.maxDocAuthors
  }

  stop(): void {
    this.#bytes.stop()
    this.#weight.stop()
  }

  #rootsWith(names: readonly string[]): number {
    const { share } = this.#doc
    let roots = share.size
    for (const name of names) if (!share.has(name)) roots++
    return roots
  }
}
