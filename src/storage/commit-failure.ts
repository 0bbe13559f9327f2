import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf, StorageError } from './storage.ts'

/** With less than this free beside what was to be written, a failed write is put down to a full disk. */
const SPARE_BYTES = 1 << 20

/**
 * Why a transaction of `bytes` failed, in words for people. LMDB for Node keeps the cause in a promise of its own, and calls a
 * full disk an input/output error.
 */
export async function commitFailure(error: unknown, directory: string, bytes: number): Promise<StorageError> {
  const { commitError } = error as { commitError?: Promise<never> }
  const said = commitError?.catch((cause: unknown) => cause)
  const cause = said === undefined ? error : await Promise.race([said, sleep(1_000, error)])
  const { bavail, bsize } = await statfs(directory).catch(() => ({ bavail: Infinity, bsize: 1 }))
  if (bavail * bsize >= bytes + SPARE_BYTES) return new StorageError(reasonOf(cause), { cause })
  return new StorageError(`the disk is full (${reasonOf(cause)})`, { cause })
}
