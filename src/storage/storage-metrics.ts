/** What storage counts; `/metrics` reads the fields. One object per process, shared by the store and every keeper. */
import { Counter, Histogram } from '../observe/counters.ts'

export class StorageMetrics {
  /** Transactions that reached the disk. */
  readonly commits = new Counter()
  /** From handing a transaction to the store until it is on disk. */
  readonly commitSeconds = new Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
  /** Bytes of records written, snapshots included. */
  readonly bytes = new Counter()
  readonly compactions = new Counter()
  readonly quarantined = new Counter()
  /** Reads and writes that failed; a write that is tried again and fails again counts again. */
  readonly failures = new Counter()
  /** Boards in the store. A gauge. */
  roomsStored = 0
  /** Bytes that rooms have told to others and that are not on disk yet. A gauge. */
  unsavedBytes = 0
}
