import { OwedDeletes, type StateVector } from '../diff/diff-cursor.ts'
import type { SyncFrame } from './outgoing.ts'

/** What a client lacks at most that was given nothing of some frames: from these clocks on, and these deletions. */
export interface Owed {
  /** Of the authors of the frames, and of no others, the clocks before the first frame that had something of theirs. */
  readonly clocks: StateVector
  readonly deletes: OwedDeletes
}

/** The sync frames held for a congested client, oldest first. */
export class HeldFrames {
  #frames: SyncFrame[] | null = null
  /** Bytes of the frames. */
  bytes = 0

  get count(): number {
    return this.#frames?.length ?? 0
  }
  get first(): SyncFrame | undefined {
    return this.#frames?.[0]
  }

  /** What is owed instead of the held frames, and of one more if given. */
  owed(more?: SyncFrame): Owed {
    const deletes = new OwedDeletes()
    for (const frame of this.#frames ?? []) deletes.add(frame.deletes)
    if (more !== undefined) deletes.add(more.deletes)
    // Alone, its own clocks say it: cursors that begin with the same object are known to begin at the same place.
    if (this.#frames === null && more !== undefined) return { clocks: more.before, deletes }
    const clocks = new Map<number, number>()
    for (const frame of this.#frames ?? []) addFirst(clocks, frame.before)
    if (more !== undefined) addFirst(clocks, more.before)
    return { clocks, deletes }
  }

  push(frame: SyncFrame): void {
    this.#frames ??= []
    this.#frames.push(frame)
    this.bytes += frame.bytes.length
  }
  shift(): void {
    const frame = this.#frames?.shift()
    if (frame !== undefined) this.bytes -= frame.bytes.length
    if (this.#frames?.length === 0) this.#frames = null
  }
  /** Lets all of them go; how many they were. */
  clear(): number {
    const { count } = this
    this.#frames = null
    this.bytes = 0
    return count
  }
}

function addFirst(clocks: Map<number, number>, before: StateVector): void {
  for (const [client, clock] of before) if (!clocks.has(client)) clocks.set(client, clock)
}
