/** Who runs where: the server on one core, the load (this process) on another. */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface Cores {
  /** Words before the server's command line. */
  readonly serverPrefix: readonly string[]
  readonly server: number | null
  readonly load: number | null
  readonly note: string | null
}

const SERVER_CORE = 0
const LOAD_CORE = 1

/** Moves this process to the load's core. */
export function takeCores(): Cores {
  const apart = (note: string): Cores => ({ serverPrefix: [], server: null, load: null, note })
  if (availableParallelism() < 2) return apart('one core only: server and load share it')
  const moved = spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)])
  if (moved.error !== undefined || moved.status !== 0) return apart('no taskset: server and load are not pinned')
  return {
    serverPrefix: ['taskset', '-c', String(SERVER_CORE)],
    server: SERVER_CORE,
    load: LOAD_CORE,
    note: null,
  }
}
