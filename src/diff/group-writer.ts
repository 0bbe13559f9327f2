/**
 * One part of a diff that ends only where no formatted text is half there.
 *   author owed ──▶ what its structs hang on, and what its marks need ──▶ groups that go together ──▶ runs ──▶ one V1 update
 *
 * A struct needs its author's previous one, what it hangs on, and, when it is a mark, its whole text's marks (`needsOf`). What
 * needs each other in a circle is a group (a strongly connected component, found on the path as Gabow does). Groups are complete
 * in causal order, and a part ends only between two of them. Of one author a group holds a single stretch, since of two
 * structs in a group all between them are in it; so authors and clocks are all there is to keep.
 */
import * as Y from 'yjs'
import { isMark, isRemovedFromFormatted, needsOf, type Receiver, type TextNeeds } from './formatted-text.ts'
import { OwedDeletes } from './owed-deletes.ts'
import { encodeRuns, FRAME_BYTES, Run, resetScratch } from './part-runs.ts'
import { NO_STRUCTS, type StructPart } from './part-writer.ts'
import type { ParentType, RootTypes } from './root-types.ts'
import { parentId } from './struct-writer.ts'

/** Items of formatted texts looked at for one part, about 2 ms. A text that is longer is cut wherever a part is full. */
const MAX_TEXT_ITEMS = 131_072
/** Upper bound of a range in a delete set, for the account of a part's bytes. */
const RANGE_BYTES = 10

/** An author's run, with how far its finished groups reach. */
class GroupRun extends Run {
  /** Index of its frame on the path; −1: none. */
  frame = -1
  /** The unfinished group that has structs of it. */
  pendingIn: Group | null = null
  keptClock: number
  private keptIndex: number
  private keptCount = 0
  private keptSpans = 0
  private keptEnd = 0

  constructor(client: number, structs: readonly (Y.Item | Y.GC)[], sent: number) {
    super(client, structs, sent)
    this.keptClock = this.clock
    this.keptIndex = this.index
  }

  keep(): void {
    this.pendingIn = null
    this.keptClock = this.clock
    this.keptIndex = this.index
    this.keptCount = this.count
    this.keptSpans = this.spans.length
    this.keptEnd = this.spans.at(-1) ?? 0
  }
  /** Forgets what belongs to an unfinished group. */
  takeBack(): void {
    this.clock = this.keptClock
    this.index = this.keptIndex
    this.count = this.keptCount
    this.spans.length = this.keptSpans
    if (this.keptSpans > 0) this.spans[this.keptSpans - 1] = this.keptEnd
  }
}

/** An author on the path: its structs are visited up to `until`. */
interface Frame {
  readonly run: GroupRun
  until: number
  /** Clock that the group of this frame has to reach before it can be complete. */
  must: number
  /** The next struct is not visited yet: it waits for the frames above. */
  waits: boolean
  /** What the mark just visited needs. */
  readonly needs: [client: number, until: number][]
}

/** A group that is not complete: the frames from `frame` on, and the runs and texts from these indices on. */
interface Group {
  readonly frame: number
  readonly runs: number
  readonly texts: number
  bytes: number
  /** The group it became part of. */
  joined: Group | null
}

/** A text whose marks are being written. */
interface OpenText {
  readonly needs: TextNeeds
  /** Null once the group is complete. */
  pendingIn: Group | null
}

/** `full`: the next group does not fit any more. `too_long`: the first one alone does not fit. */
export type GroupOutcome = 'written' | 'full' | 'too_long'

export class GroupWriter {
  private readonly store: Y.Doc['store']
  private readonly names: RootTypes
  private readonly receiver: Receiver
  private readonly partBytes: number
  private readonly wholeBytes: number
  private readonly runs = new Map<number, GroupRun>()
  private readonly frames: Frame[] = []
  private readonly groups: Group[] = []
  private readonly pending: GroupRun[] = []
  private readonly pendingTexts: OpenText[] = []
  private readonly texts = new Map<ParentType, OpenText>()
  /** What finished groups delete, in the order of their texts, which is any. */
  private readonly deletes: (readonly [client: number, clock: number, length: number])[] = []
  private itemsLeft = MAX_TEXT_ITEMS
  /** Bytes of the finished groups. */
  private size = FRAME_BYTES
  /** Bytes of all that are not. */
  private unfinished = 0
  /** The author of whom the last finished group was: a good one to go on with, since others wait for it. */
  private lastAuthor: number | null = null

  /** `wholeBytes`: what a part may hold when it is a single group; other parts hold `partBytes`. */
  constructor(store: Y.Doc['store'], names: RootTypes, receiver: Receiver, partBytes: number, wholeBytes: number) {
    this.store = store
    this.names = names
    this.receiver = receiver
    this.partBytes = partBytes
    this.wholeBytes = wholeBytes
    resetScratch()
  }

  private get isEmpty(): boolean {
    return this.size === FRAME_BYTES
  }

  /** Writes all that is owed of `client` with what it needs. After anything but `written` the part is at its end. */
  writeAuthor(client: number): GroupOutcome {
    const root = this.runOf(client)
    if (root === null) return 'written'
    this.push(root, root.end, true)
    for (let frame = this.frames.at(-1); frame !== undefined; frame = this.frames.at(-1)) {
      const need = frame.needs.pop()
      if (need !== undefined) this.require(need[0], need[1])
      else if (this.isComplete(frame)) {
        if (!this.keep()) return this.outcome()
      } else if (frame.run.clock >= frame.until) this.pop()
      else if (!this.waitsFor(frame) && !this.visit(frame)) return this.outcome()
    }
    return 'written'
  }

  finish(exhausted: boolean): StructPart {
    for (const run of this.pending) run.takeBack()
    if (this.isEmpty) return { ...NO_STRUCTS, exhausted }
    const runs = [...this.runs.values()].filter((run) => run.count > 0).sort((a, b) => b.client - a.client)
    const update = encodeRuns(runs, this.size)
    return {
      update,
      reached: runs.map((run) => [run.client, run.clock] as const),
      exhausted,
      uncuttable: update.length > this.partBytes,
      makesTidy: true,
      endsInsideText: false,
      goOnWith: this.lastAuthor,
      deletes: this.deletes.length === 0 ? null : this.deleteSet(),
    }
  }

  /** Put in order first: in the order of a text, each of a hundred thousand ranges would move most of those before it. */
  private deleteSet(): Uint8Array | null {
    const ranges = new OwedDeletes(Number.POSITIVE_INFINITY)
    this.deletes.sort(([client, clock], [other, otherClock]) => client - other || clock - otherClock)
    for (const [client, clock, length] of this.deletes) ranges.addRange(client, clock, length)
    return ranges.take(Number.POSITIVE_INFINITY, true)
  }

  private outcome(): 'full' | 'too_long' {
    return this.isEmpty ? 'too_long' : 'full'
  }

  private runOf(client: number): GroupRun | null {
    const known = this.runs.get(client)
    if (known !== undefined) return known
    const structs = this.store.clients.get(client)
    if (structs === undefined || structs.length === 0) return null
    const run = new GroupRun(client, structs, this.receiver.sentOf(client))
    this.runs.set(client, run)
    return run
  }

  private push(run: GroupRun, until: number, asGroup: boolean): void {
    const frame = this.frames.length
    run.frame = frame
    this.frames.push({ run, until, must: 0, waits: false, needs: [] })
    if (!asGroup) return
    this.groups.push({ frame, runs: this.pending.length, texts: this.pendingTexts.length, bytes: 0, joined: null })
  }

  private pop(): void {
    this.frames.pop()!.run.frame = -1
    if (this.groups.at(-1)!.frame === this.frames.length) this.groups.pop()
  }

  /** Everything from this frame of the path on needs each other. */
  private join(frame: number): void {
    let top = this.groups.at(-1)!
    while (top.frame > frame) {
      this.groups.pop()
      const below = this.groups.at(-1)!
      below.bytes += top.bytes
      top.joined = below
      top = below
    }
    const first = this.frames[top.frame]!
    // The group needs the struct that waits there, which is in the circle.
    if (first.waits) first.must = Math.max(first.must, first.run.clock + 1)
  }
  private joinGroup(group: Group): void {
    let now = group
    while (now.joined !== null) now = now.joined
    // The way there is walked once: thousands of structs may hang on the same.
    for (let passed = group; passed.joined !== null && passed.joined !== now; ) {
      const next = passed.joined
      passed.joined = now
      passed = next
    }
    this.join(now.frame)
  }

  /** What is on top of the path needs this author's structs up to `until`. True: they come first. */
  private require(client: number, until: number): boolean {
    const run = this.runOf(client)
    if (run === null) return false
    const end = Math.min(until, run.end)
    if (run.clock >= end) {
      if (run.pendingIn !== null && run.keptClock < end) this.joinGroup(run.pendingIn)
      return false
    }
    if (run.frame >= 0) {
      this.join(run.frame)
      const frame = this.frames[run.frame]!
      frame.until = Math.max(frame.until, end)
      frame.must = Math.max(frame.must, end)
      return false
    }
    if (run.pendingIn !== null) this.joinGroup(run.pendingIn)
    this.push(run, end, run.pendingIn === null)
    return true
  }

  /** Puts what the frame's next struct hangs on onto the path. False: all of that is visited. */
  private waitsFor(frame: Frame): boolean {
    const { run } = frame
    const { struct } = run
    if (!(struct instanceof Y.Item)) return false
    frame.waits = true
    // A continuation hangs on its own author's previous clock.
    const origin = run.clock > struct.id.clock ? null : struct.origin
    const { rightOrigin } = struct
    if (origin !== null && this.requireId(origin, run)) return true
    if (rightOrigin !== null && this.requireId(rightOrigin, run)) return true
    if (run.clock === struct.id.clock && origin === null && rightOrigin === null) {
      const parent = parentId(struct)
      if (parent !== null && this.requireId(parent, run)) return true
    }
    frame.waits = false
    return false
  }
  private requireId(id: Y.ID, run: GroupRun): boolean {
    return id.client !== run.client && this.require(id.client, id.clock + 1)
  }

  /** Writes the frame's next struct. False: it does not fit. */
  private visit(frame: Frame): boolean {
    const { run } = frame
    const { struct } = run
    const group = this.groups.at(-1)!
    const head = run.headBytes
    const isAlone = group.bytes === 0 && group.frame === this.frames.length - 1 && run.clock >= frame.must
    // Only what nothing else goes with may be cut to fill the part.
    const most = this.isEmpty && !isAlone ? this.wholeBytes : this.partBytes
    const room = most - this.size - group.bytes - head
    const must = isAlone && this.isEmpty
    if ((room < 2 || this.unfinished > this.wholeBytes) && !must) return false
    // A long text is cut even so, after the piece that is needed; an embed cannot be.
    const { partBytes, names } = this
    const written =
      run.write(Math.min(room, partBytes), partBytes, must, names) || run.write(room, partBytes, false, names)
    if (written === 0) return false
    group.bytes += head + written
    this.unfinished += head + written
    if (run.pendingIn === null) {
      run.pendingIn = group
      this.pending.push(run)
    }
    if (!(struct instanceof Y.Item)) return true
    const text = struct.parent as ParentType
    const opens = isMark(struct) || (isRemovedFromFormatted(struct) && this.receiver.mayLag(text))
    return !opens || this.addText(text, frame, group)
  }

  private addText(text: ParentType, frame: Frame, group: Group): boolean {
    const open = this.texts.get(text)
    if (open !== undefined) {
      if (open.pendingIn !== null) this.joinGroup(open.pendingIn)
      return true
    }
    const needs = needsOf(text, this.receiver, this.itemsLeft)
    if (needs === null) return false
    this.itemsLeft -= needs.items
    const opened = { needs, pendingIn: group }
    this.texts.set(text, opened)
    this.pendingTexts.push(opened)
    group.bytes += needs.deletes.length * RANGE_BYTES
    this.unfinished += needs.deletes.length * RANGE_BYTES
    for (const [client, until] of needs.until) frame.needs.push([client, until])
    return true
  }

  private isComplete(frame: Frame): boolean {
    const group = this.groups.at(-1)!
    return group.frame === this.frames.length - 1 && group.bytes > 0 && frame.run.clock >= frame.must
  }

  /** The group on top of the path is complete. False: the part has no room for it. */
  private keep(): boolean {
    const group = this.groups.at(-1)!
    if (this.size + group.bytes > this.partBytes && !this.isEmpty) return false
    for (let i = group.runs; i < this.pending.length; i++) this.pending[i]!.keep()
    this.pending.length = group.runs
    for (let i = group.texts; i < this.pendingTexts.length; i++) {
      const text = this.pendingTexts[i]!
      text.pendingIn = null
      for (const range of text.needs.deletes) this.deletes.push(range)
    }
    this.pendingTexts.length = group.texts
    this.size += group.bytes
    this.unfinished -= group.bytes
    group.bytes = 0
    this.lastAuthor = this.frames.at(-1)!.run.client
    return true
  }
}
