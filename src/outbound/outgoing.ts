/** What a room hands to its members' outboxes: encoded once, the same bytes for everybody. */
import type { DeleteSet, StateVector } from '../diff/diff-cursor.ts'

/** One Yjs `update` event. */
export interface SyncFrame {
  readonly bytes: Uint8Array
  /** Of the authors whose structs it brings, and of no others, the clocks before it. */
  readonly before: StateVector
  /** The document's version (see DiffSource) with this in it and nothing later. */
  readonly version: number
  /** What the transaction deleted, collected structs included. */
  readonly deletes: DeleteSet
  /** When the oldest input in it was received, clock ms. */
  readonly at: number
}

/** What changed in presence in one tick. */
export interface PresenceFrame {
  readonly bytes: Uint8Array
  readonly ids: readonly number[]
  readonly at: number
}

/** Presence that was held back. */
export interface OwedPresence {
  readonly bytes: Uint8Array
  /** Since when the oldest of it was owed, clock ms. */
  readonly at: number
}

/** Where a congested client's presence slots are filled from when it drains. */
export interface PresenceStates {
  /**
   * The newest state of as many ids as fit a frame; `owed`, since when each of them is owed, loses those taken. Null when none
   * is known any more.
   */
  takeFrame(owed: Map<number, number>): OwedPresence | null
}
