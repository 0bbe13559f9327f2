/**
 * What a part of a diff is made of: per author one run of consecutive structs, written as they are visited.
 *   store · sent clock ──▶ run ──write──▶ spans of the scratch ──encode──▶ one V1 update without deletes
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { RootTypes } from './root-types.ts'
import { type Struct, StructWriter, varUintSize } from './struct-writer.ts'

/** A struct is at least 2 bytes, so 3 bytes hold the struct count of any part below 4 MiB. */
const COUNT_BYTES = 3
/** The number of authors (up to 16 383) and the empty delete set. */
export const FRAME_BYTES = 3
/** A piece cut off to fill a part is at least this share of it, so that headers stay below a few percent. */
const SMALLEST_PIECE = 1 / 32

/** Shared by all rooms: a part is written in one synchronous call. */
const scratch = new StructWriter()

export const resetScratch = (): void => scratch.reset()

/** One author's structs in this part: from `firstClock` to `clock`, at `spans` (start, end, start …) of the scratch. */
export class Run {
  readonly client: number
  readonly structs: readonly Struct[]
  readonly firstClock: number
  /** The author's state in the document. */
  readonly end: number
  clock: number
  index: number
  count = 0
  readonly spans: number[] = []

  /** `sent`: the clock from which on the author's structs are owed. The author has structs. */
  constructor(client: number, structs: readonly Struct[], sent: number) {
    const last = structs.at(-1)!
    this.client = client
    this.structs = structs
    this.firstClock = sent
    this.end = last.id.clock + last.length
    this.clock = sent
    this.index = sent < this.end ? Y.findIndexSS(structs as Struct[], sent) : structs.length
  }

  /** The next struct; there is one while `clock` is before `end`. */
  get struct(): Struct {
    return this.structs[this.index]!
  }

  /** Bytes that the run's head will take; 0 once it has begun. */
  get headBytes(): number {
    return this.count === 0 ? COUNT_BYTES + varUintSize(this.client) + varUintSize(this.firstClock) : 0
  }

  /**
   * Writes the next struct, or the piece of it that fits `room`, of a part of `partBytes`. With `must` at least a piece.
   * Returns the bytes written; 0 when nothing fitted.
   */
  write(room: number, partBytes: number, must: boolean, names: RootTypes): number {
    const { struct } = this
    const offset = this.clock - struct.id.clock
    const start = scratch.length
    const taken = scratch.write(struct, offset, room, partBytes * SMALLEST_PIECE, must, names)
    if (taken === 0) return 0
    this.count++
    this.clock += taken
    if (offset + taken === struct.length) this.index++
    if (this.spans.at(-1) === start) this.spans[this.spans.length - 1] = scratch.length
    else this.spans.push(start, scratch.length)
    return scratch.length - start
  }
}

/** The runs as an update with an empty delete set. `size`: an upper bound of its bytes. */
export function encodeRuns(runs: readonly Run[], size: number): Uint8Array {
  const out = encoding.createEncoder()
  out.cbuf = new Uint8Array(size)
  encoding.writeVarUint(out, runs.length)
  for (const run of runs) {
    encoding.writeVarUint(out, run.count)
    encoding.writeVarUint(out, run.client)
    encoding.writeVarUint(out, run.firstClock)
    for (let i = 0; i < run.spans.length; i += 2) {
      encoding.writeUint8Array(out, scratch.bytes.subarray(run.spans[i], run.spans[i + 1]))
    }
  }
  encoding.writeVarUint(out, 0)
  return encoding.toUint8Array(out)
}
