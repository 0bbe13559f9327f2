/**
 * Map entries of several units. Yjs sets values one by one and merges only those that are deleted: an undone drawing brings
 * `[1, 2, 3]` under one key together with their deletion. While one lives, another's edit can split it, and what is left of it
 * is neither the map's value nor deleted: Yjs throws when the map is (`Unexpected case`), and the document never emits again.
 */
import { CausalOrder } from './causal-order.ts'
import { StructIndex } from './struct-index.ts'
import { HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN, KIND, StructWalk } from './struct-walk.ts'
import { writeVarUint } from './varuint.ts'

/** Whether the document has an entry of a map at this clock. */
export type IsEntry = (client: number, clock: number) => boolean

const CONTENT_FLAGS = HAS_ORIGIN | HAS_RIGHT_ORIGIN | HAS_PARENT_SUB

/**
 * An update with its map entries of several units written as what they are, deleted; the same bytes when it has none. Null when
 * one is not deleted, which Yjs cannot have made. `deleted`: what the delete set that belongs to it names. Linear, one or
 * two walks like the check's. Bytes that checkUpdate would refuse come back as they are.
 */
export function deleteLongEntries(
  bytes: Uint8Array,
  isEntry: IsEntry,
  deleted: () => DeletedClocks,
): Uint8Array | null {
  const index = new StructIndex(bytes)
  index.fill(Number.POSITIVE_INFINITY)
  if (index.deleteSetAt < 0) return bytes
  const found = longEntries(index, isEntry)
  if (found.length === 0) return bytes
  const named = deleted()
  for (const { client, clock, length } of found) if (!named.cover(client, clock, clock + length)) return null
  return rewrite(bytes, found)
}

interface LongEntry {
  readonly client: number
  readonly clock: number
  readonly length: number
  /** Where its bytes and those of its content begin, and where both end. */
  readonly from: number
  readonly contentFrom: number
  readonly to: number
}

/** In the order of their bytes. */
function longEntries(index: StructIndex, isEntry: IsEntry): LongEntry[] {
  const order = new CausalOrder(index)
  const { walk } = order
  const areEntries = new Uint8Array(index.firsts.at(-1)!)
  const isEntryAt = (client: number, clock: number): boolean => {
    const section = index.sectionOf(client)
    const first = section < 0 ? 0 : index.firsts[section]!
    if (section < 0 || clock < index.clock(first) || clock >= index.clockEnds[section]!) return isEntry(client, clock)
    const struct = index.structAt(section, clock, first)
    return index.isSkip(struct) ? isEntry(client, clock) : areEntries[struct] === 1
  }
  const found: LongEntry[] = []
  for (let section = order.ready(); section >= 0; section = order.ready()) {
    const struct = order.upcoming(section)
    // As Yjs does: without a parent of its own a struct lies where its origin, or else its right origin, does.
    let isOne = walk.isKeyed
    if (walk.originClient >= 0) isOne = isEntryAt(walk.originClient, walk.originClock)
    else if (walk.rightClient >= 0) isOne = isEntryAt(walk.rightClient, walk.rightClock)
    if (isOne) {
      areEntries[struct] = 1
      const contentFrom = walk.pos
      walk.pos = index.offset(struct)
      walk.structAt(index.clock(struct))
      if (walk.isLongContent) {
        const { client, clock, length, start } = walk
        found.push({ client, clock, length, from: start, contentFrom, to: walk.pos })
      }
    }
    order.pass(section)
  }
  return found.sort((a, b) => a.from - b.from)
}

/** The content of a deleted struct is its length, which is never longer than what it stands for. */
function rewrite(bytes: Uint8Array, entries: readonly LongEntry[]): Uint8Array {
  const out = new Uint8Array(bytes.length)
  let from = 0
  let at = 0
  const copyTo = (to: number): void => {
    out.set(bytes.subarray(from, to), at)
    at += to - from
    from = to
  }
  for (const entry of entries) {
    copyTo(entry.from)
    const infoAt = at
    copyTo(entry.contentFrom)
    out[infoAt] = (out[infoAt]! & CONTENT_FLAGS) | KIND.deleted
    at = writeVarUint(out, at, entry.length)
    from = entry.to
  }
  copyTo(bytes.length)
  return out.subarray(0, at)
}

/** What a delete set names, author by author. */
export class DeletedClocks {
  /** Per author: start, end, start, end …, ascending, not touching each other. */
  private readonly ranges = new Map<number, readonly number[]>()

  /** `deleteSetAt`: where the delete set begins in an update that checkUpdate has accepted. */
  constructor(bytes: Uint8Array, deleteSetAt: number) {
    const walk = new StructWalk()
    walk.begin(bytes)
    walk.pos = deleteSetAt
    const named = new Map<number, [start: number, end: number][]>()
    for (let authors = walk.deleteAuthors(); authors > 0; authors--) {
      if (!walk.deleteAuthor()) return
      const own = named.get(walk.deleteClient) ?? []
      named.set(walk.deleteClient, own)
      for (let left = walk.deleteCount; left > 0; left--) {
        if (!walk.deleteRange()) return
        own.push([walk.deleteClock, walk.deleteClock + walk.deleteLength])
      }
    }
    for (const [client, own] of named) this.ranges.set(client, merged(own))
  }

  /** Whether all of [from, to) is named. */
  cover(client: number, from: number, to: number): boolean {
    const own = this.ranges.get(client)
    if (own === undefined) return false
    let low = 0
    let high = own.length / 2
    while (low < high) {
      const middle = (low + high) >> 1
      if (own[2 * middle + 1]! <= from) low = middle + 1
      else high = middle
    }
    return low < own.length / 2 && own[2 * low]! <= from && to <= own[2 * low + 1]!
  }
}

function merged(ranges: [start: number, end: number][]): number[] {
  ranges.sort(([a], [b]) => a - b)
  const flat: number[] = []
  for (const [start, end] of ranges) {
    const last = flat.length - 1
    if (last > 0 && start <= flat[last]!) flat[last] = Math.max(flat[last]!, end)
    else flat.push(start, end)
  }
  return flat
}
