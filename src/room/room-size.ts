/**
 * How large a board is and how large it may get (IN5, IN7). The size is a sum of what was emitted, which can only be too
 * high: when it passes the limit the document is measured, a part at a time with the loop free in between.
 */
import type * as Y from 'yjs'
import type { Clock } from '../observe/clock.ts'
import type { UpdateSummary } from '../protocol/update-check.ts'

export interface RoomSizeLimits {
  /** `MAX_DOC_BYTES` */
  readonly maxDocBytes: number
}

/**
 * Distinct root types of one document: Yjs looks through all of them for every struct it writes (60 000 names made each
 * encoding take 15 s). A board uses a handful.
 */
const MAX_ROOT_NAMES = 1024
/** Subdocuments of one board: each keeps some 3.6 KB in memory for a dozen bytes here. */
const MAX_SUBDOCUMENTS = 1000
/** Memory a shared type and a container inside a value take beyond their bytes (measured, see update-check). */
const TYPE_BYTES = 110
const CONTAINER_BYTES = 56
/** A board's structs may take this many times its allowed bytes in memory. */
const WEIGHT_FACTOR = 8
/** Longest stretch of measuring, ms, and the least time between two measurements. */
const SLICE_MS = 5
const MEASURE_INTERVAL_MS = 1000

function hasNews({ sections }: UpdateSummary, stateOf: (client: number) => number): boolean {
  for (const { client, to } of sections) if (to > stateOf(client)) return true
  return false
}

export class RoomSize {
  readonly #doc: Y.Doc
  readonly #limits: RoomSizeLimits
  readonly #clock: Clock
  readonly #parts: () => Iterable<Uint8Array>
  #weight = 0
  #measuring = false
  #measuredAt = Number.NEGATIVE_INFINITY
  #stopped = false
  /** Bytes of the document's encoding, at most. */
  bytes = 0
  /** The last measurement was over the limit. */
  isOver = false

  constructor(doc: Y.Doc, limits: RoomSizeLimits, clock: Clock, parts: () => Iterable<Uint8Array>) {
    this.#doc = doc
    this.#limits = limits
    this.#clock = clock
    this.#parts = parts
  }

  /** The document emitted or loaded this much. */
  grew(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.#limits.maxDocBytes) this.#measure()
  }

  /** Whether the board has no place for an update. What only deletes, or brings nothing new, always has. */
  refuses(summary: UpdateSummary, stateOf: (client: number) => number): boolean {
    if (!hasNews(summary, stateOf)) return false
    if (this.isOver) return true
    const { types, containers, subdocuments, rootNames } = summary
    const weight = this.#weight + types * TYPE_BYTES + containers * CONTAINER_BYTES
    if (weight > WEIGHT_FACTOR * this.#limits.maxDocBytes) return true
    if (subdocuments > 0 && this.#doc.subdocs.size + subdocuments > MAX_SUBDOCUMENTS) return true
    if (rootNames.length > 0) {
      let roots = this.#doc.share.size
      for (const name of rootNames) if (!this.#doc.share.has(name)) roots++
      if (roots > MAX_ROOT_NAMES) return true
    }
    this.#weight = weight
    return false
  }

  stop(): void {
    this.#stopped = true
  }

  #measure(): void {
    if (this.#measuring || this.#stopped) return
    this.#measuring = true
    const wait = Math.max(0, this.#measuredAt + MEASURE_INTERVAL_MS - this.#clock.now())
    this.#clock.after(wait, () => this.#step(this.#parts()[Symbol.iterator](), 0, this.bytes))
  }
  #step(parts: Iterator<Uint8Array>, sum: number, before: number): void {
    if (this.#stopped) return
    const until = this.#clock.now() + SLICE_MS
    let total = sum
    for (let part = parts.next(); ; part = parts.next()) {
      if (part.done === true) break
      total += part.value.length
      if (this.#clock.now() >= until) {
        this.#clock.soon(() => this.#step(parts, total, before))
        return
      }
    }
    // What was emitted meanwhile may or may not be in the parts: it counts.
    this.bytes = total + (this.bytes - before)
    this.isOver = this.bytes > this.#limits.maxDocBytes
    this.#measuredAt = this.#clock.now()
    this.#measuring = false
  }
}
