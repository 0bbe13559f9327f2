/** When a board's records are worth replacing by a snapshot: a function of three numbers. */

export interface BoardSizes {
  /** Bytes of the last snapshot's parts; 0 without one. */
  readonly snapshotBytes: number
  /** Bytes and number of the records appended since. */
  readonly tailBytes: number
  readonly tailRecords: number
}

/** Work per record on a load beside its bytes, as bytes: a small update takes 7 µs, 16 MB of a snapshot 1.6 s (measured). */
const RECORD_COST = 70

/**
 * While the room lives: when replaying the tail would take as long as loading the snapshot, so that writing snapshots
 * never costs more than writing the tail did. Small boards wait for 1 MiB of that, a tenth of a second.
 */
export function worthWhileLive({ snapshotBytes, tailBytes, tailRecords }: BoardSizes): boolean {
  return tailBytes + tailRecords * RECORD_COST > Math.max(1 << 20, snapshotBytes)
}

/** When the room is about to leave memory: a quarter of the snapshot, or 32 KiB, is reason enough. */
export function worthAtRest({ snapshotBytes, tailBytes, tailRecords }: BoardSizes): boolean {
  return tailBytes + tailRecords * RECORD_COST > Math.max(32 << 10, snapshotBytes / 4)
}
