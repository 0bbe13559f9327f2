/**
 * The whole delete set of a document, read once and shared by every client that is owed it.
 *   doc.store ──scan──▶ snapshot ──▶ delete-only updates of about a part
 * Deletions of later transactions are the source's `since` ranges beside it: a delete set only ever grows.
 */
import * as Y from 'yjs'
import { type AuthorRanges, type ChunkPlace, chunkAt, FIRST_PLACE } from './delete-chunk.ts'
import { varUintSize } from './struct-writer.ts'

export interface SnapshotPart {
  /** An update without structs. */
  readonly update: Uint8Array
  readonly next: ChunkPlace | null
}

/**
 * Reads the delete set in steps, for one go over a 20 MB board takes tens of milliseconds. Transactions may come between
 * steps: what they delete must be noted elsewhere from the scan's creation on, and may be found here as well.
 */
export class DeleteScan {
  private readonly store: Y.Doc['store']
  private readonly left: number[]
  private readonly authors: AuthorRanges[] = []
  private bounds: number[] = []
  /** Where the scan stands in the last of `left`. */
  private clock = 0

  constructor(store: Y.Doc['store']) {
    this.store = store
    this.left = [...store.clients.keys()]
  }

  get isDone(): boolean {
    return this.left.length === 0
  }

  /** Looks at `structs` more structs at most, and says whether that was all. */
  step(structs: number): boolean {
    let budget = structs
    for (let client = this.left.at(-1); client !== undefined && budget > 0; client = this.left.at(-1)) {
      budget -= this.scanAuthor(client, budget)
    }
    return this.isDone
  }

  finish(): DeleteSnapshot {
    this.step(Number.POSITIVE_INFINITY)
    return new DeleteSnapshot(this.authors.sort((a, b) => b.client - a.client))
  }

  private scanAuthor(client: number, budget: number): number {
    const structs = this.store.clients.get(client)!
    const { bounds } = this
    const last = structs.at(-1)!
    const from = this.clock < last.id.clock + last.length ? Y.findIndexSS(structs, this.clock) : structs.length
    const to = Math.min(structs.length, from + budget)
    for (let i = from; i < to; i++) {
      const struct = structs[i]!
      // The struct at which the scan goes on may have grown to the left since: structs merge.
      const start = Math.max(struct.id.clock, this.clock)
      this.clock = struct.id.clock + struct.length
      if (!struct.deleted) continue
      if (bounds.at(-1) === start) bounds[bounds.length - 1] = this.clock
      else bounds.push(start, this.clock)
    }
    if (to === structs.length) this.closeAuthor(client)
    return to - from + 1
  }

  private closeAuthor(client: number): void {
    if (this.bounds.length > 0) this.authors.push({ client, bounds: this.bounds })
    this.bounds = []
    this.clock = 0
    this.left.pop()
  }
}

export class DeleteSnapshot {
  /** Upper bound of the bytes of the whole set in one piece. */
  readonly size: number
  private readonly authors: readonly AuthorRanges[]
  private readonly parts = new Map<string, SnapshotPart>()
  private wholeSet: Uint8Array | undefined

  constructor(authors: readonly AuthorRanges[]) {
    this.authors = authors
    this.size = sizeOf(authors)
  }

  get ranges(): readonly AuthorRanges[] {
    return this.authors
  }

  get isEmpty(): boolean {
    return this.authors.length === 0
  }

  /** The set in one piece; for a set that fits a part. */
  whole(): Uint8Array {
    this.wholeSet ??= chunkAt(this.authors, FIRST_PLACE, Number.POSITIVE_INFINITY, true)!.deletes
    return this.wholeSet
  }

  part(from: ChunkPlace, partBytes: number): SnapshotPart {
    const key = `${from.author}:${from.bound}:${partBytes}`
    const known = this.parts.get(key)
    if (known !== undefined) return known
    const { deletes, next } = chunkAt(this.authors, from, partBytes - 1, true)!
    const update = new Uint8Array(deletes.length + 1)
    update.set(deletes, 1)
    const part = { update, next }
    this.parts.set(key, part)
    return part
  }
}

function sizeOf(authors: readonly AuthorRanges[]): number {
  let size = varUintSize(authors.length)
  for (const { client, bounds } of authors) {
    size += varUintSize(client) + varUintSize(bounds.length / 2)
    for (let i = 0; i < bounds.length; i += 2)
      size += varUintSize(bounds[i]!) + varUintSize(bounds[i + 1]! - bounds[i]!)
  }
  return size
}
