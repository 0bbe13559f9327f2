/**
 * Where the structs of an update come to lie, and whether Yjs can have put them there. Two things it never does:
 * - a map entry with content of several units. It sets values one by one and merges only those that are deleted: an undone
 *   drawing brings `[1, 2, 3]` under one key together with their deletion. While such an entry lives, another's edit can split it,
 *   and what is left is neither the map's value nor deleted: Yjs throws when the map is (`Unexpected case`), and the document
 *   never emits again.
 * - neighbours that are none: a right origin in another list than the origin, or in a map. When the one is collected and the
 *   other is not, who loads the document from its encoding gets another one.
 */

import { writeVarUint } from '../protocol/varuint.ts'
import { CausalOrder } from './causal-order.ts'
import { StructIndex } from './struct-index.ts'
import { HAS_ORIGIN, HAS_PARENT_SUB, HAS_RIGHT_ORIGIN, KIND, KIND_BITS, StructWalk } from './struct-walk.ts'

/** Why an update is refused whose bytes are in order. */
export type PlaceFault = 'map_entry' | 'neighbours'

/** The list or the map that something lies in; anything that is itself and nothing else. */
export type Parent = object | string

/** A struct that a document has, as far as its place goes. */
export interface KnownStruct {
  readonly parent: unknown
  /** The key of the map entry that it is; null in a list. */
  readonly parentSub: string | null
}

/** What a document says of places. Whatever it does not have, or has collected, is null. */
export interface KnownPlaces {
  structAt(client: number, clock: number): KnownStruct | null
  /** The shared type that the struct at this clock is. */
  typeAt(client: number, clock: number): Parent | null
  /** The root type of this name. */
  root(name: string): Parent
}

const CONTENT_FLAGS = HAS_ORIGIN | HAS_RIGHT_ORIGIN | HAS_PARENT_SUB

/**
 * An update with its map entries of several units written as what they are, deleted; the same bytes when it has none. Or why
 * Yjs cannot have made it. `deleted`: what the delete set that belongs to it names. For updates that lean on nothing but
 * themselves and the document. Linear, one or two walks like the check's. Bytes that checkUpdate would refuse come back as
 * they are.
 */
export function judgePlaces(
  bytes: Uint8Array,
  known: KnownPlaces,
  deleted: () => DeletedClocks,
): Uint8Array | PlaceFault {
  const index = new StructIndex(bytes)
  index.fill(Number.POSITIVE_INFINITY)
  if (index.deleteSetAt < 0) return bytes
  const places = new Places(index, known)
  if (!places.find()) return 'neighbours'
  const { longEntries } = places
  if (longEntries.length === 0) return bytes
  const named = deleted()
  for (const { client, clock, length } of longEntries) {
    if (!named.cover(client, clock, clock + length)) return 'map_entry'
  }
  return rewrite(bytes, longEntries)
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

class Places {
  private readonly index: StructIndex
  private readonly known: KnownPlaces
  private readonly order: CausalOrder
  /** Per struct; null: it is collected, or will be as soon as it is in. */
  private readonly parents: (Parent | null)[]
  private readonly isEntry: Uint8Array
  /** Per struct that is a shared type: itself, as a parent. */
  private readonly types = new Map<number, Parent>()
  /** Whether what was looked at last is a map's entry. */
  private lookedAtEntry = false
  private name = ''
  private nameFrom = 0
  private nameTo = 0
  readonly longEntries: LongEntry[] = []

  constructor(index: StructIndex, known: KnownPlaces) {
    this.index = index
    this.known = known
    this.order = new CausalOrder(index)
    this.parents = new Array<Parent | null>(index.firsts.at(-1)!).fill(null)
    this.isEntry = new Uint8Array(index.firsts.at(-1)!)
  }

  /** False: something has neighbours that are none. */
  find(): boolean {
    const { index, order } = this
    for (let section = order.ready(); section >= 0; section = order.ready()) {
      const struct = order.upcoming(section)
      if (!this.place(struct)) return false
      if (this.isEntry[struct] === 1) this.noteEntry(struct)
      order.pass(section)
    }
    this.longEntries.sort((a, b) => a.from - b.from)
    return index.deleteSetAt >= 0
  }

  /** As Yjs does: without a parent of its own a struct lies where its origin, or else its right origin, does. */
  private place(struct: number): boolean {
    const { walk } = this.order
    this.parents[struct] = null
    if (walk.kind === KIND.gc || walk.kind === KIND.skip) return true
    const { originClient, originClock, rightClient, rightClock } = walk
    if (originClient < 0 && rightClient < 0) {
      this.parents[struct] = this.ownParent()
      this.isEntry[struct] = walk.isKeyed ? 1 : 0
      return true
    }
    let left: Parent | null | undefined
    let isEntry = false
    if (originClient >= 0) {
      left = this.look(originClient, originClock)
      isEntry = this.lookedAtEntry
    }
    if (rightClient >= 0 && left !== null) {
      const right = this.look(rightClient, rightClock)
      if (right === null) return true
      // With a right origin nothing is a map's entry, and both neighbours are in one list.
      if (isEntry || this.lookedAtEntry || (left !== undefined && left !== right)) return false
      left = right
    }
    this.parents[struct] = left ?? null
    this.isEntry[struct] = isEntry && left !== null ? 1 : 0
    return true
  }

  /** The parent of what is at a clock; null when it is collected. Sets `lookedAtEntry`. */
  private look(client: number, clock: number): Parent | null {
    const struct = this.ownStruct(client, clock)
    if (struct >= 0) {
      this.lookedAtEntry = this.isEntry[struct] === 1
      return this.parents[struct]!
    }
    const known = this.known.structAt(client, clock)
    this.lookedAtEntry = known !== null && known.parentSub !== null
    return known === null ? null : (known.parent as Parent)
  }

  private ownParent(): Parent | null {
    const { walk } = this.order
    if (walk.nameFrom >= 0) return this.known.root(this.rootName(walk.nameFrom, walk.nameTo))
    const struct = this.ownStruct(walk.parentClient, walk.parentClock)
    if (struct < 0) return this.known.typeAt(walk.parentClient, walk.parentClock)
    if (this.parents[struct] === null || !this.isType(struct)) return null
    const type = this.types.get(struct) ?? {}
    this.types.set(struct, type)
    return type
  }

  /** The update's own struct at this clock, or -1. */
  private ownStruct(client: number, clock: number): number {
    const { index } = this
    const section = index.sectionOf(client)
    if (section < 0) return -1
    const first = index.firsts[section]!
    if (clock < index.clock(first) || clock >= index.clockEnds[section]!) return -1
    const struct = index.structAt(section, clock, first)
    return index.isSkip(struct) ? -1 : struct
  }

  private isType(struct: number): boolean {
    return (this.index.bytes[this.index.offset(struct)]! & KIND_BITS) === KIND.type
  }

  /** Most structs of an update name the same root as the one before. */
  private rootName(from: number, to: number): string {
    const { bytes } = this.index
    let isSame = to - from === this.nameTo - this.nameFrom
    for (let i = 0; isSame && i < to - from; i++) isSame = bytes[from + i] === bytes[this.nameFrom + i]
    if (!isSame) this.name = decoder.decode(bytes.subarray(from, to))
    this.nameFrom = from
    this.nameTo = to
    return this.name
  }

  private noteEntry(struct: number): void {
    const { index } = this
    const { walk } = this.order
    const contentFrom = walk.pos
    walk.pos = index.offset(struct)
    walk.structAt(index.clock(struct))
    if (!walk.isLongContent) return
    const { client, clock, length, start, pos } = walk
    this.longEntries.push({ client, clock, length, from: start, contentFrom, to: pos })
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

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

/**
 * Ranges of one delete set that are gone through in one go, 20 to 30 ms, and among them those that have to be put in order first.
 * A board of 20 MB has some 100 000. Beyond it, nothing counts as named.
 */
const MOST_RANGES = 1 << 20
const MOST_SORTED = 1 << 15

/** What a delete set names, author by author. */
export class DeletedClocks {
  /** Per author: start, end, start, end …, ascending, not touching each other. */
  private readonly ranges = new Map<number, readonly number[]>()

  /** `deleteSetAt`: where the delete set begins in an update that checkUpdate has accepted. */
  constructor(bytes: Uint8Array, deleteSetAt: number) {
    const walk = new StructWalk()
    walk.begin(bytes)
    walk.pos = deleteSetAt
    const named = new Map<number, Ranges>()
    let left = MOST_RANGES
    for (let authors = walk.deleteAuthors(); authors > 0; authors--) {
      if (!walk.deleteAuthor()) return
      const { deleteClient: client, deleteCount: count } = walk
      if ((left -= count) < 0) return
      let own = named.get(client)
      for (let ranges = count; ranges > 0; ranges--) {
        if (!walk.deleteRange()) return
        own ??= new Ranges()
        own.add(walk.deleteClock, walk.deleteClock + walk.deleteLength)
      }
      if (own !== undefined) named.set(client, own)
    }
    let sorted = MOST_SORTED
    for (const [client, own] of named) {
      if (!own.isSorted && (sorted -= own.bounds.length / 2) < 0) return
      this.ranges.set(client, own.isSorted ? own.bounds : merged(own.bounds))
    }
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

/** One author's ranges as they come. Yjs nearly always writes them in order. */
class Ranges {
  /** Start, end, start, end …; while they come in order those that touch are one. */
  readonly bounds: number[] = []
  isSorted = true

  add(start: number, end: number): void {
    const last = this.bounds.length - 1
    if (last > 0 && start < this.bounds[last - 1]!) this.isSorted = false
    if (last > 0 && this.isSorted && start <= this.bounds[last]!) {
      this.bounds[last] = Math.max(this.bounds[last]!, end)
    } else this.bounds.push(start, end)
  }
}

function merged(bounds: readonly number[]): number[] {
  const pairs: [start: number, end: number][] = []
  for (let i = 0; i < bounds.length; i += 2) pairs.push([bounds[i]!, bounds[i + 1]!])
  pairs.sort(([a], [b]) => a - b)
  const own = new Ranges()
  for (const [start, end] of pairs) own.add(start, end)
  return own.bounds
}
