/**
 * One writing process per data directory (ST8). The lock is a seat in the reader table of a small LMDB environment of its
 * own: LMDB has the kernel hold a file lock for every process with a seat, so a kill of any kind frees it. It also holds
 * between containers that share a volume on one machine; LMDB itself forbids network file systems.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { open } from 'lmdb'
import { prepareEnvironment } from './prepare-environment.ts'
import { reasonOf, StorageError } from './storage.ts'

/** Directories locked by this process: file locks do not stop a process from locking twice. */
const held = new Set<string>()
/** Two that arrive together see each other and both step back; a random while later one of them is first. */
const TRIES = 6
const STEP_BACK_MS = 100

export interface DirectoryLock {
  /** Idempotent. */
  release(): Promise<void>
}

/** Takes the directory, or rejects with a StorageError that names who has it. Takes up to 0.6 s to give up, 10 s
 * when the other has our process id, as it may in another container. */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = realpathSync(directory)
  if (held.has(path)) throw new StorageError(`${directory} is in use by this process already`)
  held.add(path)
  try {
    for (let tries = 1; ; tries++) {
      const attempt = await takeSeat(path)
      if ('release' in attempt) return attempt
      if (attempt.forGood || tries === TRIES)
        throw new StorageError(`${directory} is in use by another process: ${attempt.heldBy}`)
      await sleep(STEP_BACK_MS / 2 + (Math.random() * STEP_BACK_MS) / 2)
    }
  } catch (error) {
    held.delete(path)
    throw error instanceof StorageError ? error : new StorageError(reasonOf(error), { cause: error })
  }
}

async function takeSeat(path: string): Promise<DirectoryLock | { heldBy: string; forGood: boolean }> {
  const environment = join(path, 'lock')
  prepareEnvironment(environment)
  const table = open({ path: environment, noSubdir: false, overlappingSync: false })
  const seat = sit(() => table.useReadTransaction())
  if (seat === undefined) {
    await table.close()
    return { heldBy: `process ${process.pid} of another container`, forGood: true }
  }
  table.readerCheck()
  const others = readerPids(table.readerList()).filter((pid) => pid !== process.pid)
  const leave = async () => {
    seat.done()
    await table.close()
  }
  if (others.length > 0) {
    await leave()
    return { heldBy: `process ${others.join(', ')}`, forGood: false }
  }
  let released: Promise<void> | undefined
  return { release: () => (released ??= leave().then(() => void held.delete(path))) }
}

/** LMDB cannot seat two processes of one id, which they have in containers: it then fails, after 10 s of trying. */
function sit<Seat>(take: () => Seat): Seat | undefined {
  try {
    return take()
  } catch {
    return undefined
  }
}

/** Lines of `pid thread txnid`, after a heading. */
function readerPids(list: string): number[] {
  return list
    .split('\n')
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid > 0)
}
