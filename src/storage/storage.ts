/**
 * Where boards live between rooms: per room a snapshot in parts and a tail of appended updates.
 *   room/keeper ──append, compact──▶ storage ──load──▶ room/keeper
 * Records are Yjs V1 updates that a room's own document emitted; storage never looks inside them.
 */

/** One stored update. `seq` orders a room's records and never repeats within a room. */
export interface StoredRecord {
  readonly seq: number
  readonly update: Uint8Array
}

/** What `rooms()` tells of one stored board. */
export interface StoredRoom {
  readonly room: string
  readonly records: number
  readonly bytes: number
}

export interface Storage {
  readonly kind: 'memory' | 'lmdb'
  /** Whether a board outlives its room. When false, the keeper deletes the board as the room is unloaded. */
  readonly durable: boolean
  /**
   * A room's records in `seq` order, the event loop free between chunks of them. An unknown room yields nothing.
   * Rejects when the store cannot be read: the join is then refused and nothing is written (ST5).
   */
  load(room: string): AsyncIterable<StoredRecord>
  /** Resolves with the record's `seq` once it is durable; rejects when it is not (disk full, store closed). */
  append(room: string, update: Uint8Array): Promise<number>
  /**
   * Replaces exactly the records with `seq <= through` by `parts`, in one transaction (ST3). Parts come before every
   * surviving record at the next load.
   */
  compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void>
  /** Moves one record out of the way, keeping its bytes for a person to look at (ST4). */
  quarantine(room: string, seq: number): Promise<void>
  /** Removes a board whole. An unknown room is no error. */
  delete(room: string): Promise<void>
  /** Every stored board, in key order. */
  rooms(): AsyncIterable<StoredRoom>
  /** Waits for what is in flight, then lets go of the directory. */
  close(): Promise<void>
}
