/**
 * Takes out of a directory's node_modules what never runs there: binaries for other platforms and other versions of Node, sources, maps
 * and declarations. Run by the Node that will run the server.
 *     node deploy/prune.mjs <directory>
 */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = process.argv[2]
if (root === undefined) {
  console.error('usage: node deploy/prune.mjs <directory>')
  process.exit(64)
}
const { platform, arch, versions } = process
const isMusl = platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined

/** uWebSockets.js: uws_<platform>_<arch>_<abi>.node. Those of lmdb and msgpackr lie in a package each, of which npm takes one. */
function isForeign(path) {
  const name = basename(path)
  const uws = /^uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/.exec(name)
  if (uws !== null) return uws[1] !== platform || uws[2] !== arch || uws[3] !== versions.modules
  if (!name.endsWith('.node')) return false
  if (/\.musl\.node$/.test(name)) return !isMusl
  if (/\.glibc\.node$/.test(name)) return isMusl
  const abi = /\.abi(\d+)\./.exec(name)
  // lmdb has one for Node's newest interface beside those that every version takes.
  return abi !== null && Number(abi[1]) > Number(versions.modules)
}
const isSuperfluous = (path) => /\.(map|ts|mts|cts|md|markdown)$/i.test(path) && !/licen[cs]e/i.test(basename(path))
/** Directories of packages that hold no code that runs. */
const NOT_RUN = new Set([
  'test',
  'tests',
  'docs',
  'example',
  'examples',
  'benchmark',
  'benchmarks',
  '.github',
  'dependencies',
])

let freed = 0
function prune(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      if (NOT_RUN.has(entry.name) && !directory.endsWith('node_modules')) remove(path)
      else prune(path)
    } else if (isForeign(path) || isSuperfluous(path)) remove(path)
  }
}
function remove(path) {
  freed += bytesOf(path)
  rmSync(path, { recursive: true })
}
function bytesOf(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
}

prune(join(root, 'node_modules'))
console.log(`${Math.round(freed / 1e6)} MB pruned, ${Math.round(bytesOf(root) / 1e6)} MB left`)
