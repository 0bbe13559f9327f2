/**
 * Cuts one big update into several that can be applied one after the other, so that the loop is free between them:
 *   bytes ─▶ StructIndex ─▶ CausalOrder, author by author, depth first ─▶ slices of raw struct bytes ─▶ the delete set
 * Causal order is what keeps the receiver from parking: in any other order each slice makes Yjs read and write again
 * everything that waits (a 20.8 MB board by author and clock: 103 s, in causal order: 1 s).
 */

import { varUintLength, writeVarUint } from '../protocol/varuint.ts'
import { CausalOrder } from './causal-order.ts'
import { PLACED_WEIGHT, PLAIN_WEIGHT, type SliceSize } from './slice-size.ts'
import { StructIndex } from './struct-index.ts'
import { KIND, StructWalk } from './struct-walk.ts'

/** Bytes per slice: some milliseconds of Yjs's time, and the size of the parts that clients get. */
export const SLICE_BYTES = 65_536

/** Walked before the first slice without a pause: 0.4 to 1.3 ms. */
const STEP_BYTES = 1 << 17
/** Tells what deleting takes in the document that an update is for. Costs are in structs that are deleted. */
export interface DeleteGuide {
  /** How far from `clock` towards `end` an author's clocks may be deleted for `budget`, one struct at least, and its cost. */
  reach(client: number, clock: number, end: number, budget: number): { readonly to: number; readonly cost: number }
}

/** An update without structs and deletes. */
const NOTHING = Uint8Array.of(0, 0)

/** Room for the counts in front: of sections, and of the (empty) delete set. */
const FRAME_BYTES = 6
/** Room for a section's count of structs. */
const COUNT_BYTES = 5

/**
 * Cuts an update that checkUpdate has accepted into valid updates of at most `sliceBytes`, in causal order: a struct comes
 * only after its origin, right origin and parent, as far as those are in the update. A struct that is longer stands alone.
 * The delete set comes last, itself split. What refers to something outside the update counts as satisfied; where
 * references run in a circle, which Yjs never makes, the order is arbitrary. An update that fits is handed back as it is;
 * in one that was cut no slice holds a Skip: what comes after it starts its author's section in a later slice. Anything
 * that checkUpdate refuses yields nothing.
 *
 * Whoever applies slices in transactions of their own should mark each as local before it ends: after a remote one Yjs
 * tidies the formats of rich text, and between two slices that can take away a format to which the next one gives a
 * meaning (4 of 300 random rich texts in slices of 300 bytes; none when marked).
 *
 * The update has to be walked once (3 to 10 ns per byte) before the first slice is known: on the way, every 128 KiB, an
 * empty update is handed out, so that the caller gives the loop back there as well.
 *
 * `size` bounds what a slice holds beside its bytes, and is asked anew for each: it follows what the ones before took. An
 * update is then cut however short it is, and so is its delete set, by what `guide` says that it takes; without one a range
 * counts as one struct and is not cut.
 */
export function* sliceUpdate(
  bytes: Uint8Array,
  sliceBytes: number = SLICE_BYTES,
  size: SliceSize | null = null,
  guide: DeleteGuide = UNKNOWN,
): Generator<Uint8Array> {
  if (size === null && bytes.length <= sliceBytes) {
    yield bytes
    return
  }
  const index = new StructIndex(bytes)
  for (let until = STEP_BYTES; !index.fill(until); until += STEP_BYTES) yield NOTHING
  if (index.deleteSetAt < 0) return
  const slicer = new StructSlicer(index, sliceBytes, size)
  for (let slice = slicer.next(); slice !== undefined; slice = slicer.next()) yield slice
  yield* sliceDeletes(bytes, index.deleteSetAt, sliceBytes, size, guide)
}

const UNKNOWN: DeleteGuide = { reach: (_client, _clock, end) => ({ to: end, cost: 1 }) }

class StructSlicer {
  private readonly index: StructIndex
  private readonly order: CausalOrder
  private readonly sliceBytes: number
  private readonly size: SliceSize | null
  /** Per section: its first struct in the slice being filled, or -1. Structs of a section follow each other. */
  private readonly firstInSlice: Int32Array
  private touched: number[] = []
  private used = FRAME_BYTES
  private weight = 0

  constructor(index: StructIndex, sliceBytes: number, size: SliceSize | null) {
    this.index = index
    this.order = new CausalOrder(index)
    this.sliceBytes = sliceBytes
    this.size = size
    this.firstInSlice = new Int32Array(index.clients.length).fill(-1)
  }

  /** The next slice, or undefined when all structs have been handed out. */
  next(): Uint8Array | undefined {
    const { index, order, firstInSlice } = this
    const limit = this.size?.limit ?? Number.POSITIVE_INFINITY
    for (let section = order.ready(); section >= 0; section = order.ready()) {
      const struct = order.upcoming(section)
      const isTouched = firstInSlice[section]! >= 0
      if (index.isSkip(struct)) {
        // Two sections of one author in an update: Yjs forgets the first.
        if (isTouched) return this.take()
        order.pass(section)
        continue
      }
      const weight = this.weightOf(order.walk)
      let size = index.byteEnd(section, struct) - index.offset(struct)
      if (!isTouched) {
        size += varUintLength(index.clients[section]!) + varUintLength(index.clock(struct)) + COUNT_BYTES
      }
      const isFull = this.used + size > this.sliceBytes || this.weight + weight > limit
      if (this.touched.length > 0 && isFull) return this.take()
      if (!isTouched) {
        firstInSlice[section] = struct
        this.touched.push(section)
      }
      this.used += size
      this.weight += weight
      order.pass(section)
    }
    return this.touched.length > 0 ? this.take() : undefined
  }

  /** Of the struct that was found ready. */
  private weightOf({ kind, client, clock, originClient, originClock, rightClient, parentClient }: StructWalk): number {
    if (kind === KIND.gc) return PLAIN_WEIGHT
    if (originClient >= 0) return originClient === client && originClock === clock - 1 ? PLAIN_WEIGHT : PLACED_WEIGHT
    return rightClient < 0 && parentClient === client ? PLAIN_WEIGHT : PLACED_WEIGHT
  }

  private take(): Uint8Array {
    const { index, order, firstInSlice, touched } = this
    // Sections are numbered in descending order of their clients, and so they must stand: mergeUpdates loses data else.
    touched.sort((a, b) => a - b)
    const out = new Uint8Array(this.used)
    let at = writeVarUint(out, 0, touched.length)
    for (const section of touched) {
      const first = firstInSlice[section]!
      const last = order.upcoming(section) - 1
      at = writeVarUint(out, at, last - first + 1)
      at = writeVarUint(out, at, index.clients[section]!)
      at = writeVarUint(out, at, index.clock(first))
      const raw = index.bytes.subarray(index.offset(first), index.byteEnd(section, last))
      out.set(raw, at)
      at += raw.length
      firstInSlice[section] = -1
    }
    at = writeVarUint(out, at, 0)
    this.touched = []
    this.used = FRAME_BYTES
    if (this.size !== null) this.size.weight = this.weight
    this.weight = 0
    return out.subarray(0, at)
  }
}

/** The delete set as updates without structs. */
function* sliceDeletes(
  bytes: Uint8Array,
  deleteSetAt: number,
  sliceBytes: number,
  size: SliceSize | null,
  guide: DeleteGuide,
): Generator<Uint8Array> {
  const walk = new StructWalk()
  walk.begin(bytes)
  walk.pos = deleteSetAt
  const part = new DeletePart(sliceBytes)
  const authors = walk.deleteAuthors()
  for (let i = 0; i < authors && walk.deleteAuthor(); i++) {
    for (let left = walk.deleteCount; left > 0; left--) {
      if (!walk.deleteRange()) return
      let clock = walk.deleteClock
      const end = clock + walk.deleteLength
      while (clock < end) {
        const budget = size === null ? Number.POSITIVE_INFINITY : size.deletes - part.cost
        if (budget > 0) {
          const { to, cost } = guide.reach(walk.deleteClient, clock, end, budget)
          if (part.add(walk.deleteClient, clock, to - clock, cost)) {
            clock = to
            continue
          }
        }
        if (size !== null) size.weight = weightOfDeletes(part.cost)
        yield part.take()
      }
    }
  }
  if (part.cost === 0) return
  if (size !== null) size.weight = weightOfDeletes(part.cost)
  yield part.take()
}

/** Deleting a struct is cheaper than taking one in. */
function weightOfDeletes(cost: number): number {
  return Math.max(1, Math.ceil(cost / 32))
}

/** One slice of a delete set while it is filled. */
class DeletePart {
  private readonly sliceBytes: number
  private readonly runs: { readonly client: number; readonly ranges: number[] }[] = []
  private used = FRAME_BYTES
  /** Of its ranges; 0: there are none. */
  cost = 0

  constructor(sliceBytes: number) {
    this.sliceBytes = sliceBytes
  }

  /** False: there is no room left. An empty slice has room for anything. */
  add(client: number, clock: number, length: number, cost: number): boolean {
    const last = this.runs.at(-1)
    const isNew = last === undefined || last.client !== client
    const head = isNew ? varUintLength(client) + COUNT_BYTES : 0
    const bytes = head + varUintLength(clock) + varUintLength(length)
    if (this.cost > 0 && this.used + bytes > this.sliceBytes) return false
    this.used += bytes
    this.cost += cost
    if (isNew) this.runs.push({ client, ranges: [clock, length] })
    else last.ranges.push(clock, length)
    return true
  }

  take(): Uint8Array {
    const out = new Uint8Array(this.used)
    let at = writeVarUint(out, 0, 0)
    at = writeVarUint(out, at, this.runs.length)
    for (const { client, ranges } of this.runs) {
      at = writeVarUint(out, at, client)
      at = writeVarUint(out, at, ranges.length / 2)
      for (const number of ranges) at = writeVarUint(out, at, number)
    }
    this.runs.length = 0
    this.used = FRAME_BYTES
    this.cost = 0
    return out.subarray(0, at)
  }
}
