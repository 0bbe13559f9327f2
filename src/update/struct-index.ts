/**
 * Where each struct of a checked update lies and at which clock it starts: 12 bytes of memory per struct, made in one
 * walk that can pause, so that the slicer can jump between authors.
 */
import { findClient, KIND, StructWalk } from './struct-walk.ts'

/** A board's structs take 25 to 50 bytes; an index that was made too small grows. */
const LIKELY_STRUCT_BYTES = 24

export class StructIndex {
  readonly bytes: Uint8Array
  /** Per section, in descending order of clients. */
  readonly clients: number[] = []
  /** Per section: index of its first struct; one more entry than there are sections. */
  readonly firsts: number[] = [0]
  /** Per section: the clock and the byte at which its last struct ends. */
  readonly clockEnds: number[] = []
  readonly byteEnds: number[] = []
  /** Per struct. */
  private offsets: Uint32Array
  private clocks: Float64Array
  /** Where the delete set begins; -1 until the index is whole, and when this is nothing that checkUpdate accepts. */
  deleteSetAt = -1

  private readonly walk = new StructWalk()
  private structs = 0
  private sectionsLeft: number
  private structsLeft = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    const likely = 16 + Math.ceil(bytes.length / LIKELY_STRUCT_BYTES)
    this.offsets = new Uint32Array(likely)
    this.clocks = new Float64Array(likely)
    this.walk.begin(bytes)
    this.sectionsLeft = this.walk.sections()
  }

  /** Walks on until the end or until it has passed `until`, a position in the bytes; whether there is an end to it. */
  fill(until: number): boolean {
    const { walk } = this
    while (this.structsLeft > 0 || this.sectionsLeft > 0) {
      if (this.structsLeft === 0) {
        if (!walk.section()) return true
        this.sectionsLeft--
        this.structsLeft = walk.structCount
      }
      while (this.structsLeft > 0) {
        if (walk.pos >= until) return false
        if (!walk.struct()) return true
        if (this.structs === this.offsets.length) this.grow()
        this.offsets[this.structs] = walk.start
        this.clocks[this.structs++] = walk.clock
        this.structsLeft--
      }
      this.clients.push(walk.client)
      this.firsts.push(this.structs)
      this.clockEnds.push(walk.clockEnd)
      this.byteEnds.push(walk.pos)
    }
    if (this.sectionsLeft === 0) this.deleteSetAt = walk.pos
    return true
  }

  offset(struct: number): number {
    return this.offsets[struct]!
  }

  clock(struct: number): number {
    return this.clocks[struct]!
  }

  clockEnd(section: number, struct: number): number {
    return struct + 1 === this.firsts[section + 1] ? this.clockEnds[section]! : this.clocks[struct + 1]!
  }

  isSkip(struct: number): boolean {
    return this.bytes[this.offsets[struct]!] === KIND.skip
  }

  byteEnd(section: number, struct: number): number {
    return struct + 1 === this.firsts[section + 1] ? this.byteEnds[section]! : this.offsets[struct + 1]!
  }

  /** The section of a client, or -1. */
  sectionOf(client: number): number {
    return findClient(this.clients, client)
  }

  /** The struct that holds a clock, which must lie within the section and not before struct `from`. */
  structAt(section: number, clock: number, from: number): number {
    let low = from
    let high = this.firsts[section + 1]! - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.clocks[middle]! <= clock) low = middle
      else high = middle - 1
    }
    return low
  }

  private grow(): void {
    const offsets = new Uint32Array(this.offsets.length * 2)
    offsets.set(this.offsets)
    this.offsets = offsets
    const clocks = new Float64Array(this.clocks.length * 2)
    clocks.set(this.clocks)
    this.clocks = clocks
  }
}
