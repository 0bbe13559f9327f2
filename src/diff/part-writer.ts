/**
 * One part of a diff: structs in causal order, no longer than a bound.
 *   author owed ──▶ depth-first over what its structs hang on ──▶ runs, one per author ──▶ one V1 update without deletes
 * Causal order is found again for every part: the only thing a diff carries from part to part is what was sent.
 */
import * as Y from 'yjs'
import { isMark, isRemovedFromFormatted } from './formatted-text.ts'
import { encodeRuns, FRAME_BYTES, Run, resetScratch } from './part-runs.ts'
import type { RootTypes } from './root-types.ts'
import { parentId } from './struct-writer.ts'

/** One part's structs as an update with an empty delete set. */
export interface StructPart {
  readonly update: Uint8Array
  /** Clock that each author's structs reach after this part. */
  readonly reached: readonly (readonly [client: number, clock: number])[]
  /** Nothing was left to send when the part was made. */
  readonly exhausted: boolean
  /** Longer than the part size asked for. */
  readonly uncuttable: boolean
  /** A receiver may tidy a text when it gets these structs. */
  readonly makesTidy: boolean
  /** It ends where a formatted text may be half there. */
  readonly endsInsideText: boolean
  /** The author to go on with; null: any. */
  readonly goOnWith: number | null
  /** A delete set that has to arrive with the structs; null for none. */
  readonly deletes: Uint8Array | null
}

export const NO_STRUCTS: StructPart = {
  update: Uint8Array.of(0, 0),
  reached: [],
  exhausted: true,
  uncuttable: false,
  makesTidy: false,
  endsInsideText: false,
  goOnWith: null,
  deletes: null,
}

class WaitingRun extends Run {
  /** Waits below on the stack. */
  waiting = false
}

export class PartWriter {
  private readonly store: Y.Doc['store']
  private readonly names: RootTypes
  private readonly sentOf: (client: number) => number
  private readonly partBytes: number
  private readonly runs = new Map<number, WaitingRun>()
  private size = FRAME_BYTES
  private written = 0
  /** Formatting marks were written. */
  hasMarks = false
  /** What was deleted in formatted texts was written. */
  hasRemovals = false

  constructor(store: Y.Doc['store'], names: RootTypes, sentOf: (client: number) => number, partBytes: number) {
    this.store = store
    this.names = names
    this.sentOf = sentOf
    this.partBytes = partBytes
    resetScratch()
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
      const { struct } = run
      const missing = struct instanceof Y.GC ? null : this.missingFor(struct, run.clock - struct.id.clock)
      if (missing === null) {
        if (!this.writeNext(run)) return false
      } else {
        stack.push(this.runOf(missing.client)!)
        until.push(missing.clock + 1)
      }
    }
    return true
  }

  /** `makesTidy`, `endsInsideText`: what the caller knows of the receiver and of the place where the part ends. */
  finish(exhausted: boolean, makesTidy: boolean, endsInsideText: boolean): StructPart {
    if (this.written === 0) return NO_STRUCTS
    const runs = [...this.runs.values()].filter((run) => run.count > 0).sort((a, b) => b.client - a.client)
    const update = encodeRuns(runs, this.size)
    return {
      update,
      reached: runs.map((run) => [run.client, run.clock] as const),
      exhausted,
      uncuttable: update.length > this.partBytes,
      makesTidy,
      endsInsideText,
      goOnWith: null,
      deletes: null,
    }
  }

  private runOf(client: number): WaitingRun | null {
    const known = this.runs.get(client)
    if (known !== undefined) return known
    const structs = this.store.clients.get(client)
    if (structs === undefined || structs.length === 0) return null
    const run = new WaitingRun(client, structs, this.sentOf(client))
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

  private writeNext(run: WaitingRun): boolean {
    const head = run.headBytes
    const room = this.partBytes - this.size - head
    const first = this.written === 0
    if (room < 2 && !first) return false
    const { struct } = run
    const bytes = run.write(room, this.partBytes, first, this.names)
    if (bytes === 0) return false
    this.size += head + bytes
    this.written++
    this.hasMarks ||= isMark(struct)
    this.hasRemovals ||= isRemovedFromFormatted(struct)
    // A piece fills the part.
    return run.clock === struct.id.clock + struct.length
  }
}
