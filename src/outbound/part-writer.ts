/**
 * One part of a diff: structs in causal order, no longer than a bound.
 *   author owed ──▶ depth-first over what its structs hang on ──▶ runs, one per author ──▶ one V1 update without deletes
 * Causal order is found again for every part: the only thing a diff carries from part to part is what was sent.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { RootNames } from './root-names.ts'
import { parentId, type Struct, StructWriter, varUintSize } from './struct-writer.ts'

/** One part's structs as an update with an empty delete set. */
export interface StructPart {
  readonly update: Uint8Array
  /** Clock that each author's structs reach after this part. */
  readonly reached: readonly (readonly [client: number, clock: number])[]
  /** Nothing was left to send when the part was made. */
  readonly exhausted: boolean
  readonly uncuttable: boolean
}

export const NO_STRUCTS: StructPart = { update: Uint8Array.of(0, 0), reached: [], exhausted: true, uncuttable: false }

/** One author's structs in this part: from `firstClock` to `clock`, at `spans` (start, end, start …) of the scratch. */
interface Run {
  readonly client: number
  readonly structs: readonly Struct[]
  readonly firstClock: number
  /** The author's state in the document. */
  readonly end: number
  clock: number
  index: number
  count: number
  readonly spans: number[]
  /** Waits below on the stack. */
  waiting: boolean
}

/** A struct is at least 2 bytes, so 3 bytes hold the struct count of any part below 2 MiB. */
const COUNT_BYTES = 3
/** The number of authors (up to 16 383) and the empty delete set. */
const FRAME_BYTES = 3
/** A piece cut off to fill a part is at least this share of it, so that headers stay below a few percent. */
const SMALLEST_PIECE = 1 / 32

/** Shared by all rooms: a part is written in one synchronous call. */
const scratch = new StructWriter()

export class PartWriter {
  private readonly store: Y.Doc['store']
  private readonly names: RootNames
  private readonly sentOf: (client: number) => number
  private readonly partBytes: number
  private readonly runs = new Map<number, Run>()
  private size = FRAME_BYTES
  private written = 0

  constructor(store: Y.Doc['store'], names: RootNames, sentOf: (client: number) => number, partBytes: number) {
    this.store = store
    this.names = names
    this.sentOf = sentOf
    this.partBytes = partBytes
    scratch.reset()
  }

  /** Writes all that is owed of `client`, after what it hangs on. False when the part is full before that. */
  writeAuthor(client: number): boolean {
    const root = this.runOf(client)
    if (root === null) return true
    const stack = [root]
    const until = [root.end]
    for (let run = stack.at(-1); run !== undefined; run = stack.at(-1)) {
      if (run.clock >= until.at(-1)!) {
        run.waiting = false
        stack.pop()
        until.pop()
        continue
      }
      run.waiting = true
      const struct = run.structs[run.index]!
      const offset = run.clock - struct.id.clock
      const missing = struct instanceof Y.GC ? null : this.missingFor(struct, offset)
      if (missing === null) {
        if (!this.writeStruct(run, struct, offset)) return false
      } else {
        stack.push(this.runOf(missing.client)!)
        until.push(missing.clock + 1)
      }
    }
    return true
  }

  finish(exhausted: boolean): StructPart {
    if (this.written === 0) return NO_STRUCTS
    const runs = [...this.runs.values()].filter((run) => run.count > 0).sort((a, b) => b.client - a.client)
    const out = encoding.createEncoder()
    out.cbuf = new Uint8Array(this.size)
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
    const update = encoding.toUint8Array(out)
    return {
      update,
      reached: runs.map((run) => [run.client, run.clock] as const),
      exhausted,
      uncuttable: update.length > this.partBytes,
    }
  }

  private runOf(client: number): Run | null {
    const known = this.runs.get(client)
    if (known !== undefined) return known
    const structs = this.store.clients.get(client)
    const last = structs?.at(-1)
    if (structs === undefined || last === undefined) return null
    const end = last.id.clock + last.length
    const clock = this.sentOf(client)
    const index = clock < end ? Y.findIndexSS(structs, clock) : structs.length
    const run = { client, structs, firstClock: clock, end, clock, index, count: 0, spans: [], waiting: false }
    this.runs.set(client, run)
    return run
  }

  /** What the struct hangs on and the receiver does not have: its origin, its right origin, else its parent. */
  private missingFor(item: Y.Item, offset: number): Y.ID | null {
    const { rightOrigin } = item
    // A continuation hangs on its own author's previous clock, and that is sent.
    const origin = offset > 0 ? null : item.origin
    if (origin !== null && this.isMissing(origin, item)) return origin
    if (rightOrigin !== null && this.isMissing(rightOrigin, item)) return rightOrigin
    if (offset > 0 || origin !== null || rightOrigin !== null) return null
    const parent = parentId(item)
    return parent !== null && this.isMissing(parent, item) ? parent : null
  }

  private isMissing(id: Y.ID, of: Y.Item): boolean {
    if (id.client === of.id.client) return false
    const run = this.runOf(id.client)
    // An author that waits below cannot be what this struct hangs on, for every struct of a document was integrated after
    // what it hangs on; the check keeps a document that breaks this rule from turning the walk into an endless one.
    return run !== null && run.clock <= id.clock && id.clock < run.end && !run.waiting
  }

  private writeStruct(run: Run, struct: Struct, offset: number): boolean {
    const header = run.count === 0 ? COUNT_BYTES + varUintSize(run.client) + varUintSize(run.firstClock) : 0
    const room = this.partBytes - this.size - header
    const first = this.written === 0
    if (room < 2 && !first) return false
    const start = scratch.length
    const taken = scratch.write(struct, offset, room, this.partBytes * SMALLEST_PIECE, first, this.names)
    if (taken === 0) return false
    this.size += header + scratch.length - start
    this.written++
    run.count++
    run.clock += taken
    if (run.spans.at(-1) === start) run.spans[run.spans.length - 1] = scratch.length
    else run.spans.push(start, scratch.length)
    if (offset + taken < struct.length) return false
    run.index++
    return true
  }
}
