/** The store whose boards a command works on, opened without a server. */
import { systemClock } from '../observe/clock.ts'
import { LmdbStorage } from './lmdb-storage.ts'
import type { PostgresStorage } from './postgres-storage.ts'
import { StorageError } from './storage.ts'

export type BoardStore = LmdbStorage | PostgresStorage
export type StoreKind = BoardStore['kind']
export const STORES: readonly StoreKind[] = ['lmdb', 'postgres']

/**
 * Opens the boards of `DATA_DIR` (`lmdb`) or `DATABASE_URL` (`postgres`). One that writes has them for itself. Rejects with a
 * StorageError when they cannot be had.
 */
export async function openBoards(
  kind: string,
  env: NodeJS.ProcessEnv,
  { writes }: { readonly writes: boolean },
): Promise<BoardStore> {
  const common = { clock: systemClock, date: Date.now, commitIntervalMs: 0, readOnly: !writes }
  if (kind === 'lmdb') return LmdbStorage.open({ directory: env.DATA_DIR || './data', ...common })
  if (kind !== 'postgres') throw new StorageError(`STORAGE=${kind} keeps no boards`)
  if (!env.DATABASE_URL) throw new StorageError('DATABASE_URL is not set')
  const { PostgresStorage } = await import('./postgres-storage.ts')
  return PostgresStorage.open({ url: env.DATABASE_URL, alone: writes, ...common })
}
