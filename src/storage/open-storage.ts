import type { Clock } from '../observe/clock.ts'
import { LmdbStorage } from './lmdb-storage.ts'
import { MemoryStorage } from './memory-storage.ts'
import type { Storage } from './storage.ts'
import type { StorageMetrics } from './storage-metrics.ts'

/** What of the settings says where boards are kept. */
export interface StorageSettings {
  readonly storage: Storage['kind']
  readonly dataDir: string
  readonly databaseUrl: string
  readonly databaseTimeoutMs: number
}

/** The store that the settings name. Rejects with a StorageError when it cannot be had. */
export async function openStorage(
  settings: StorageSettings,
  deps: { readonly clock: Clock; readonly metrics: StorageMetrics },
): Promise<Storage> {
  switch (settings.storage) {
    case 'memory':
      return new MemoryStorage({ metrics: deps.metrics })
    case 'lmdb':
      return LmdbStorage.open({ directory: settings.dataDir, date: Date.now, ...deps })
    case 'postgres': {
      // Loaded by those who use it.
      const { PostgresStorage } = await import('./postgres-storage.ts')
      const { databaseUrl: url, databaseTimeoutMs: timeoutMs } = settings
      return PostgresStorage.open({ url, timeoutMs, date: Date.now, ...deps })
    }
  }
}
