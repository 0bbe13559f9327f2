/**
 * The whole delete set of a document, read once and shared by every client that is owed it.
 *   doc.store ──▶ snapshot ──▶ delete-only updates of about a part
 * Deletions of later transactions are the source's `since` ranges beside it: a delete set only ever grows.
 */
import type * as Y from 'yjs'
import { type AuthorRanges, type ChunkPlace, chunkAt, FIRST_PLACE } from './delete-chunk.ts'
import { varUintSize } from './struct-writer.ts'

export interface SnapshotPart {
  /** An update without structs. */
  readonly update: Uint8Array
  readonly next: ChunkPlace | null
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

  static of(store: Y.Doc['store']): DeleteSnapshot {
    const authors: AuthorRanges[] = []
    for (const [client, structs] of store.clients) {
      const bounds: number[] = []
      let start = -1
      let end = -1
      for (const struct of structs) {
        if (!struct.deleted) continue
        const { clock } = struct.id
        if (clock !== end) {
          if (start >= 0) bounds.push(start, end)
          start = clock
        }
        end = clock + struct.length
      }
      if (start >= 0) {
        bounds.push(start, end)
        authors.push({ client, bounds })
      }
    }
    return new DeleteSnapshot(authors.sort((a, b) => b.client - a.client))
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
