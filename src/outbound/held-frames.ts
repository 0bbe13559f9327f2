import { DeleteRanges, type StateVector } from './diff-cursor.ts'
import type { SyncFrame } from './outgoing.ts'

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
  /** What a client lacks at most that was given nothing of these: the first one's base and all their deletes. */
  get owed(): { readonly base: StateVector | undefined; readonly deletes: DeleteRanges } {
    const deletes = new DeleteRanges()
    for (const frame of this.#frames ?? []) deletes.add(frame.deletes)
    return { base: this.first?.before, deletes }
  }

  push(frame: SyncFrame): void {
    this.#frames ??= []
    this.#frames.push(frame)
    this.bytes += frame.bytes.length
  }
  shift(): void {
    const frame = this.#frames?.shift()
    if (frame !== undefined) this.bytes -= frame.bytes.length
  }
  /** Lets all of them go; how many they were. */
  clear(): number {
    const { count } = this
    this.#frames = null
    this.bytes = 0
    return count
  }
}
