import type { MetricsText } from '../observe/metrics-text.ts'
import type { StorageMetrics } from './storage-metrics.ts'

/** Adds what storage counts to the metrics page. */
export function writeStorageMetrics(text: MetricsText, metrics: StorageMetrics): void {
  text
    .counter('storage_commits_total', 'Transactions that reached the disk.', metrics.commits.value)
    .histogram(
      'storage_commit_seconds',
      'From a transaction being handed over until it is on disk.',
      metrics.commitSeconds,
    )
    .counter('storage_written_bytes_total', 'Bytes of records written, snapshots included.', metrics.bytes.value)
    .gauge('storage_rooms', 'Boards stored.', metrics.roomsStored)
    .gauge('storage_unsaved_bytes', 'Bytes told to clients and not on disk yet.', metrics.unsavedBytes)
    .counter('storage_compactions_total', 'Boards rewritten as a snapshot.', metrics.compactions.value)
    .counter('storage_quarantined_records_total', 'Bad records moved out of the way.', metrics.quarantined.value)
    .counter('storage_failures_total', 'Reads and writes that failed.', metrics.failures.value)
}
