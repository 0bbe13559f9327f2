/** Sorted delete ranges → V1 delete sets of bounded length. */
import * as encoding from 'lib0/encoding'
import { varUintSize } from './struct-writer.ts'

/** One author's ranges: start, end, start, end …, ascending. */
export interface AuthorRanges {
  readonly client: number
  readonly bounds: readonly number[]
}

/** Where a chunk begins: an index of the authors and an (even) index of that author's bounds. */
export interface ChunkPlace {
  readonly author: number
  readonly bound: number
}

export interface DeleteChunk {
  /** A V1 delete set: the second section of an update. */
  readonly deletes: Uint8Array
  /** Where the next chunk begins; null after the last range. */
  readonly next: ChunkPlace | null
}

export const FIRST_PLACE: ChunkPlace = { author: 0, bound: 0 }

/** A range is at least 2 bytes, so 3 bytes hold the counts of any chunk below 4 MiB. */
const COUNT_BYTES = 3

/** As many ranges as fit `maxBytes`; null when none does, unless one `must` be written. Authors are never repeated. */
export function chunkAt(
  authors: readonly AuthorRanges[],
  from: ChunkPlace,
  maxBytes: number,
  must: boolean,
): DeleteChunk | null {
  const pieces: { readonly client: number; readonly bounds: readonly number[]; readonly start: number; end: number }[] =
    []
  let size = COUNT_BYTES
  let next: ChunkPlace | null = null
  for (let author = from.author; author < authors.length && next === null; author++) {
    const { client, bounds } = authors[author]!
    const start = author === from.author ? from.bound : 0
    let end = start
    let pieceSize = varUintSize(client) + COUNT_BYTES
    for (; end < bounds.length; end += 2) {
      const rangeSize = varUintSize(bounds[end]!) + varUintSize(bounds[end + 1]! - bounds[end]!)
      const forced = must && pieces.length === 0 && end === start
      if (size + pieceSize + rangeSize > maxBytes && !forced) break
      pieceSize += rangeSize
    }
    if (end < bounds.length) next = { author, bound: end }
    if (end === start) continue
    pieces.push({ client, bounds, start, end })
    size += pieceSize
  }
  if (pieces.length === 0 && next !== null) return null
  const out = encoding.createEncoder()
  encoding.writeVarUint(out, pieces.length)
  for (const { client, bounds, start, end } of pieces) {
    encoding.writeVarUint(out, client)
    encoding.writeVarUint(out, (end - start) / 2)
    for (let i = start; i < end; i += 2) {
      encoding.writeVarUint(out, bounds[i]!)
      encoding.writeVarUint(out, bounds[i + 1]! - bounds[i]!)
    }
  }
  return { deletes: encoding.toUint8Array(out), next }
}
