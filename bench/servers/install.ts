/** What has to be there before anything is measured: the peers' packages and y-weir's build. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const peers = `${root}bench/peers`

function npm(args: readonly string[], cwd: string, what: string): void {
  const { status, stderr, stdout } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${what} failed:\n${stdout}\n${stderr}`)
}

/** Installs the peers unless that was done for the present lock file. */
export function installPeers(say: (line: string) => void): void {
  const stamp = `${peers}/node_modules/.installed-for`
  const lock = readFileSync(`${peers}/package-lock.json`, 'utf8')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  say('installing the peers (bench/peers), once')
  // Engines: Hocuspocus 4 is there for Nodes that run it. Scripts: the packages bring their binaries.
  npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], peers, 'npm ci in bench/peers')
  writeFileSync(stamp, lock)
}

export function buildServer(say: (line: string) => void): void {
  say('building the server')
  npm(['run', 'build:server'], root, 'npm run build:server')
}
