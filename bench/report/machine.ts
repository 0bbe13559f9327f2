import { execFileSync } from 'node:child_process'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** What the figures depend on beside the code. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly kernel: string
  readonly node: string
  /** y-weir's commit, with a plus when the tree differs from it. */
  readonly revision: string
}

export function machine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    revision: revision(),
  }
}

function revision(): string {
  const cwd = fileURLToPath(new URL('../../', import.meta.url))
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'src') === '' ? '' : '+')
  } catch {
    return 'unknown'
  }
}
