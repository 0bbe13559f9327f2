import type { Clock } from '../observe/clock.ts'
import { LmdbStorage } from './lmdb-storage.ts'
import { MemoryStorage } from './memory-storage.ts'
import type { Storage } from './storage.ts'
import type { StorageMetrics } from './storage-metrics.ts'

/** The store that `STORAGE` and `DATA_DIR` name. Rejects with a StorageError when it cannot be had. */
export async function openStorage(
  kind: Storage['kind'],
  directory: string,
  deps: { readonly clock: Clock; readonly metrics: StorageMetrics },
): Promise<Storage> {
  return kind === 'memory'
    ? new MemoryStorage({ metrics: deps.metrics })
    : LmdbStorage.open({ directory, date: Date.now, ...deps })
}
