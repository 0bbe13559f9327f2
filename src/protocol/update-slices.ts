/**
 * Cuts one big update into several that can be applied one after the other, so that the loop is free between them:
 *   bytes ─▶ StructIndex ─▶ CausalOrder, author by author, depth first ─▶ slices of raw struct bytes ─▶ the delete set
 * Causal order is what keeps the receiver from parking: in any other order each slice makes Yjs read and write again
 * everything that waits (a 20.8 MB board by author and clock: 103 s, in causal order: 1 s).
 */
import { CausalOrder } from './causal-order.ts'
import { StructIndex } from './struct-index.ts'
import { StructWalk } from './struct-walk.ts'
import { varUintLength, writeVarUint } from './varuint.ts'

/** Bytes per slice: some milliseconds of Yjs's time, and the size of the parts that clients get. */
export const SLICE_BYTES = 65_536

/** Walked before the first slice without a pause: 6 to 20 ms. */
const STEP_BYTES = 1 << 21
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
 * The update has to be walked once (3 to 10 ns per byte) before the first slice is known: on the way, every 2 MiB, an
 * empty update is handed out, so that the caller gives the loop back there as well.
 */
export function* sliceUpdate(bytes: Uint8Array, sliceBytes: number = SLICE_BYTES): Generator<Uint8Array> {
  if (bytes.length <= sliceBytes) {
    yield bytes
    return
  }
  const index = new StructIndex(bytes)
  for (let until = STEP_BYTES; !index.fill(until); until += STEP_BYTES) yield NOTHING
  if (index.deleteSetAt < 0) return
  const slicer = new StructSlicer(index, sliceBytes)
  for (let slice = slicer.next(); slice !== undefined; slice = slicer.next()) yield slice
  yield* sliceDeletes(bytes, index.deleteSetAt, sliceBytes)
}

class StructSlicer {
  private readonly index: StructIndex
  private readonly order: CausalOrder
  private readonly sliceBytes: number
  /** Per section: its first struct in the slice being filled, or -1. Structs of a section follow each other. */
  private readonly firstInSlice: Int32Array
  private touched: number[] = []
  private used = FRAME_BYTES

  constructor(index: StructIndex, sliceBytes: number) {
    this.index = index
    this.order = new CausalOrder(index)
    this.sliceBytes = sliceBytes
    this.firstInSlice = new Int32Array(index.clients.length).fill(-1)
  }

  /** The next slice, or undefined when all structs have been handed out. */
  next(): Uint8Array | undefined {
    const { index, order, firstInSlice } = this
    for (let section = order.ready(); section >= 0; section = order.ready()) {
      const struct = order.upcoming(section)
      const isTouched = firstInSlice[section]! >= 0
      if (index.isSkip(struct)) {
        // Two sections of one author in an update: Yjs forgets the first.
        if (isTouched) return this.take()
        order.pass(section)
        continue
      }
      let size = index.byteEnd(section, struct) - index.offset(struct)
      if (!isTouched) {
        size += varUintLength(index.clients[section]!) + varUintLength(index.clock(struct)) + COUNT_BYTES
      }
      if (this.touched.length > 0 && this.used + size > this.sliceBytes) return this.take()
      if (!isTouched) {
        firstInSlice[section] = struct
        this.touched.push(section)
      }
      this.used += size
      order.pass(section)
    }
    return this.touched.length > 0 ? this.take() : undefined
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
    return out.subarray(0, at)
  }
}

/** The delete set as updates without structs: the ranges' raw bytes, with new counts. */
function* sliceDeletes(bytes: Uint8Array, deleteSetAt: number, sliceBytes: number): Generator<Uint8Array> {
  const walk = new StructWalk()
  walk.begin(bytes)
  walk.pos = deleteSetAt
  let part = new DeletePart(bytes)
  const authors = walk.deleteAuthors()
  for (let i = 0; i < authors && walk.deleteAuthor(); i++) {
    part.startAuthor(walk.deleteClient)
    for (let left = walk.deleteCount; left > 0; left--) {
      const from = walk.pos
      if (!walk.deleteRange()) return
      if (!part.fits(walk.pos - from, sliceBytes)) {
        yield part.encode()
        part = new DeletePart(bytes)
        part.startAuthor(walk.deleteClient)
      }
      part.addRange(from, walk.pos)
    }
  }
  if (part.ranges > 0) yield part.encode()
}

class DeletePart {
  private readonly bytes: Uint8Array
  private readonly runs: { client: number; count: number; from: number; to: number }[] = []
  private client = 0
  private isNewAuthor = true
  private used = FRAME_BYTES
  ranges = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  startAuthor(client: number): void {
    this.client = client
    this.isNewAuthor = true
  }

  fits(rangeBytes: number, sliceBytes: number): boolean {
    return this.ranges === 0 || this.used + this.headBytes() + rangeBytes <= sliceBytes
  }

  addRange(from: number, to: number): void {
    this.used += this.headBytes() + to - from
    this.ranges++
    if (this.isNewAuthor) {
      this.runs.push({ client: this.client, count: 1, from, to })
      this.isNewAuthor = false
      return
    }
    const run = this.runs.at(-1)!
    run.count++
    run.to = to
  }

  encode(): Uint8Array {
    const out = new Uint8Array(this.used)
    let at = writeVarUint(out, 0, 0)
    at = writeVarUint(out, at, this.runs.length)
    for (const run of this.runs) {
      at = writeVarUint(out, at, run.client)
      at = writeVarUint(out, at, run.count)
      out.set(this.bytes.subarray(run.from, run.to), at)
      at += run.to - run.from
    }
    return out.subarray(0, at)
  }

  private headBytes(): number {
    return this.isNewAuthor ? varUintLength(this.client) + COUNT_BYTES : 0
  }
}
