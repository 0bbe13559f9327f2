/**
 * Where boards live between rooms: per room a snapshot in parts and a tail of appended updates.
 *   keeping/keeper ──append, compact──▶ storage ──load──▶ room/keeper
 * Records are Yjs V1 updates that a room's own document emitted; storage never looks inside them.
 */

/** Which record: a room's records are ordered by `seq`, then `part`. */
export interface RecordPlace {
  /** Grows with every append, over the whole store; never given twice. A snapshot bears the `through` it was made with. */
  readonly seq: number
  /** 0 for an appended record, 1 and up for the parts of a snapshot. */
  readonly part: number
}

/** One stored update. */
export interface StoredRecord extends RecordPlace {
  readonly update: Uint8Array
}

/** What `rooms()` tells of one stored board. */
export interface StoredRoom {
  readonly room: string
  readonly records: number
  /** Records that were appended since the last snapshot. */
  readonly tail: number
  readonly bytes: number
}

/** A record that was moved out of the way, and why. */
export interface BadRecord {
  readonly place: RecordPlace
  readonly reason: string
}

/** How large a record may be is checked by nobody here: callers keep them near 64 KiB where they can. */
export interface Storage {
  readonly kind: 'memory' | 'lmdb' | 'postgres'
  /** Whether a board outlives its room. When false, the keeper stores nothing. */
  readonly durable: boolean
  /**
   * A room's records in order, read a chunk at a time; nothing is held open in between. An unknown room yields nothing.
   * Rejects with a StorageError when the store cannot be read: the join is then refused and nothing is written (ST5).
   */
  load(room: string): AsyncIterable<StoredRecord>
  /**
   * One record per update, all in one transaction. Resolves with the last one's `seq` once they are on disk; rejects with a
   * StorageError when they are not (disk full). The bytes must not change until then.
   */
  append(room: string, updates: readonly Uint8Array[]): Promise<number>
  /**
   * Replaces exactly the records with `seq <= through` by `parts`, in one transaction (ST3). Parts come before every
   * surviving record at the next load. `through` is the seq of an append of this room that has resolved, or 0. The parts'
   * places are new ones even if `through` was used before: a reader between two chunks meets either snapshot whole.
   */
  compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void>
  /** Moves records out of the way in one transaction, keeping their bytes for a person to look at (ST4). */
  quarantine(room: string, bad: readonly BadRecord[]): Promise<void>
  /**
   * Removes a board whole, quarantine excepted, and remembers its `authors` beside those of boards deleted before under
   * that name (AC6), in one transaction. An unknown room is no error.
   */
  delete(room: string, authors?: readonly number[]): Promise<void>
  /** Authors of the boards that were deleted under this name. Rejects with a StorageError when the store cannot be read. */
  buried(room: string): Promise<readonly number[]>
  /** Every stored board, in the order of the names' bytes, the event loop free in between. */
  rooms(): AsyncIterable<StoredRoom>
  /** Waits for what is in flight, then lets go of the directory. Idempotent; everything else rejects afterwards. */
  close(): Promise<void>
}

/** The store could not do what was asked. `message` says why in words fit for a log or a readiness page. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

/** The error's words, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function byteSum(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
