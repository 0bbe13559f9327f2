/**
 * Deletions owed to one client.
 *   transactions' delete sets ──add──▶ sorted ranges per author ──take──▶ V1 delete sets that fit
 */
import type * as Y from 'yjs'
import { type AuthorRanges, type ChunkPlace, chunkAt, FIRST_PLACE } from './delete-chunk.ts'

/** What `transaction.deleteSet` is; yjs does not export the class. */
export type DeleteSet = Y.Transaction['deleteSet']

/**
 * Ranges kept before the whole delete set is owed instead: about 50 KiB on the wire and 256 KiB in memory, less than the
 * whole set of the boards on which a client misses so many.
 */
export const MAX_DELETE_RANGES = 8192
/** So many are added one by one. */
const FEW_RANGES = 8

/**
 * Accumulated delete ranges, merged per author. Bounded: over `maxRanges` they are forgotten, `isFull` turns true and the
 * whole delete set of the document is owed. Mutable; whoever hands one to a cursor gives it away.
 */
export class OwedDeletes {
  private readonly maxRanges: number
  /** Per author start, end, start, end …, ascending, neither touching nor overlapping. */
  private readonly authors = new Map<number, number[]>()
  private ranges = 0
  private full = false

  constructor(maxRanges = MAX_DELETE_RANGES) {
    this.maxRanges = maxRanges
  }

  static full(): OwedDeletes {
    const all = new OwedDeletes()
    all.full = true
    return all
  }

  /** The whole delete set of the document is owed. */
  get isFull(): boolean {
    return this.full
  }

  get isEmpty(): boolean {
    return !this.full && this.ranges === 0
  }

  /** Ranges held; 0 when full. */
  get count(): number {
    return this.ranges
  }

  /** A transaction's delete set, sorted and merged as it is in every event from `beforeObserverCalls` on. */
  add(deleteSet: DeleteSet): void {
    if (this.full || deleteSet.clients.size === 0) return
    for (const [client, items] of deleteSet.clients) {
      if (items.length > FEW_RANGES) this.merge(client, items)
      else for (const { clock, len } of items) this.addRange(client, clock, len)
      if (this.full) return
    }
  }

  /** Many ranges, ascending: in one go through both, since each on its own may move all that lies behind it. */
  private merge(client: number, items: readonly { readonly clock: number; readonly len: number }[]): void {
    const held = this.authors.get(client) ?? []
    const bounds: number[] = []
    const append = (start: number, end: number): void => {
      const last = bounds.length - 1
      if (last > 0 && start <= bounds[last]!) bounds[last] = Math.max(bounds[last]!, end)
      else bounds.push(start, end)
    }
    let at = 0
    for (const { clock, len } of items) {
      for (; at < held.length && held[at]! <= clock; at += 2) append(held[at]!, held[at + 1]!)
      if (len > 0) append(clock, clock + len)
    }
    for (; at < held.length; at += 2) append(held[at]!, held[at + 1]!)
    this.authors.set(client, bounds)
    this.grow((bounds.length - held.length) / 2)
  }

  addRange(client: number, clock: number, length: number): void {
    if (this.full || length === 0) return
    const bounds = this.authors.get(client)
    if (bounds === undefined) {
      this.authors.set(client, [clock, clock + length])
      this.grow(1)
      return
    }
    const before = bounds.length
    insertRange(bounds, clock, clock + length)
    this.grow((bounds.length - before) / 2)
  }

  addAll(other: OwedDeletes): void {
    if (other.full) this.turnFull()
    for (const [client, bounds] of other.authors) {
      for (let i = 0; i < bounds.length; i += 2) this.addRange(client, bounds[i]!, bounds[i + 1]! - bounds[i]!)
    }
  }

  /** Whether this clock of the author is held. */
  has(client: number, clock: number): boolean {
    const bounds = this.authors.get(client)
    if (bounds === undefined) return false
    const at = firstTouched(bounds, clock + 1)
    return at < bounds.length && bounds[at]! <= clock
  }

  clone(): OwedDeletes {
    const copy = new OwedDeletes(this.maxRanges)
    copy.full = this.full
    copy.ranges = this.ranges
    for (const [client, bounds] of this.authors) copy.authors.set(client, bounds.slice())
    return copy
  }

  /** Authors in the order Yjs writes them. */
  byAuthor(): AuthorRanges[] {
    return [...this.authors].map(([client, bounds]) => ({ client, bounds })).sort((a, b) => b.client - a.client)
  }

  /**
   * Removes as many ranges as fit `maxBytes` and returns them as a V1 delete set; null when none fits. With `must` at
   * least one is taken. Never called when full.
   */
  take(maxBytes: number, must: boolean): Uint8Array | null {
    const authors = this.byAuthor()
    const chunk = chunkAt(authors, FIRST_PLACE, maxBytes, must)
    if (chunk === null) return null
    this.drop(authors, chunk.next)
    return chunk.deletes
  }

  private drop(authors: readonly AuthorRanges[], upTo: ChunkPlace | null): void {
    const wholly = upTo === null ? authors.length : upTo.author
    for (const { client } of authors.slice(0, wholly)) this.authors.delete(client)
    if (upTo !== null) this.authors.get(authors[upTo.author]!.client)!.splice(0, upTo.bound)
    this.ranges = 0
    for (const bounds of this.authors.values()) this.ranges += bounds.length / 2
  }

  private grow(ranges: number): void {
    this.ranges += ranges
    if (this.ranges > this.maxRanges) this.turnFull()
  }

  private turnFull(): void {
    this.full = true
    this.ranges = 0
    this.authors.clear()
  }
}

/** A delete set as an update of its own, whole. */
export function encodeDeletes(deleteSet: DeleteSet): Uint8Array {
  const ranges = new OwedDeletes(Number.POSITIVE_INFINITY)
  ranges.add(deleteSet)
  const deletes = ranges.take(Number.POSITIVE_INFINITY, true) ?? Uint8Array.of(0)
  const update = new Uint8Array(deletes.length + 1)
  update.set(deletes, 1)
  return update
}

/** Inserts [start, end) into ascending bounds, merging what it touches. */
function insertRange(bounds: number[], start: number, end: number): void {
  // Most ranges come behind the last or extend it: people delete what they just wrote.
  const from = firstTouched(bounds, start)
  let to = from
  while (to < bounds.length && bounds[to]! <= end) to += 2
  if (to === from) {
    bounds.splice(from, 0, start, end)
    return
  }
  const merged = Math.min(start, bounds[from]!)
  const mergedEnd = Math.max(end, bounds[to - 1]!)
  bounds.splice(from, to - from, merged, mergedEnd)
}

/** Index of the first range whose end is not before `start`. */
function firstTouched(bounds: readonly number[], start: number): number {
  if (bounds[bounds.length - 1]! < start) return bounds.length
  let low = 0
  let high = bounds.length / 2
  while (low < high) {
    const mid = (low + high) >>> 1
    if (bounds[mid * 2 + 1]! < start) low = mid + 1
    else high = mid
  }
  return low * 2
}
