import { existsSync, linkSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from './storage.ts'

/** A lock file with room for LMDB's header and 126 readers, in whole pages. */
const LOCK_BYTES = 16_384
/** What a new environment needs to be made and to take its first records. */
const NEEDED_BYTES = 1 << 20

/**
 * Makes what LMDB for Node cannot be trusted to make on a full disk, where it dies instead of saying so: a new environment
 * (SIGSEGV), and the lock file, which it leaves sparse and maps into memory (SIGBUS at the first touch of a page). Throws
 * when the disk is full. Safe beside another process that does the same.
 */
export function prepareEnvironment(path: string): void {
  mkdirSync(path, { recursive: true })
  const isNew = !existsSync(join(path, 'data.mdb'))
  const { bavail, bsize } = statfsSync(path)
  if (isNew && bavail * bsize < NEEDED_BYTES) throw new StorageError(`the disk is full: ${path} could not be made`)
  const lockFile = join(path, 'lock.mdb')
  if (!existsSync(lockFile)) makeWhole(lockFile)
}

/** The file appears with all its bytes or not at all: another process may be about to use it. */
function makeWhole(path: string): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, Buffer.alloc(LOCK_BYTES))
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw new StorageError('the disk is full', { cause: error })
    // EEXIST: another process was faster. Anything else: no links on this file system, so LMDB makes the file.
  } finally {
    rmSync(draft, { force: true })
  }
}
