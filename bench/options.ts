/** The command line. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SCENARIOS } from './scenarios/index.ts'
import type { ServerId, StorageKind } from './servers/catalogue.ts'

export interface Options {
  readonly scenarios: readonly string[]
  /** Null: all. */
  readonly servers: readonly ServerId[] | null
  readonly quick: boolean
  readonly rounds: number
  readonly storage: StorageKind
  readonly entry: string
  readonly build: boolean
  readonly nodeFlags: readonly string[]
  /** Settings for y-weir that are not its defaults. */
  readonly settings: Readonly<Record<string, string>>
  /** Where to leave a `perf` recording of every measured window of y-weir, or null. */
  readonly perf: string | null
}

const SERVERS: readonly ServerId[] = ['y-weir', 'y-websocket', 'hocuspocus', 'relay']

export const USAGE = `npm run bench -- [options]
  --only a,b        scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
  --servers a,b     servers: ${SERVERS.join(', ')}
  --quick           short windows, one round; prints, and leaves bench/RESULTS.md alone
  --rounds n        2
  --storage kind    memory (default) or lmdb, for y-weir
  --entry file      another build of y-weir than dist/main.js; not built, and RESULTS.md is left alone
  --no-build        dist/ is taken as it is
  --node-flags="…"  flags for node when it runs y-weir; RESULTS.md is left alone
  --set NAME=value  a setting of y-weir, may be repeated; RESULTS.md is left alone
  --perf dir        records y-weir's measured windows with perf; RESULTS.md is left alone`

/** Whether the figures may stand in RESULTS.md. */
export function isStandard(options: Options): boolean {
  const { quick, build, servers, nodeFlags, settings, storage } = options
  const isPlain = nodeFlags.length === 0 && Object.keys(settings).length === 0 && storage === 'memory'
  return !quick && build && servers === null && isPlain
}

export class UsageError extends Error {}

export function readOptions(args: readonly string[]): Options {
  const { values } = parse(args)
  if (values.help) throw new UsageError('The benchmark. See bench/README.md.')
  const names = SCENARIOS.map(({ name }) => name)
  return {
    scenarios: values.only === undefined ? names : list(values.only, names),
    servers: values.servers === undefined ? null : (list(values.servers, SERVERS) as ServerId[]),
    quick: values.quick,
    rounds: values.rounds === undefined ? (values.quick ? 1 : 2) : count(values.rounds),
    storage: list(values.storage, ['memory', 'lmdb'])[0] as StorageKind,
    entry: values.entry ?? fileURLToPath(new URL('../dist/main.js', import.meta.url)),
    build: values.entry === undefined && !values['no-build'],
    nodeFlags: [
      ...values['node-flags'].split(' ').filter((flag) => flag !== ''),
      // Names for compiled and for interpreted functions.
      ...(values.perf === undefined ? [] : ['--perf-basic-prof', '--interpreted-frames-native-stack']),
    ],
    settings: Object.fromEntries(values.set.map(setting)),
    perf: values.perf === undefined ? null : resolve(values.perf),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        servers: { type: 'string' },
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        storage: { type: 'string', default: 'memory' },
        entry: { type: 'string' },
        'no-build': { type: 'boolean', default: false },
        'node-flags': { type: 'string', default: '' },
        perf: { type: 'string' },
        set: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function list(text: string, allowed: readonly string[]): string[] {
  const chosen = text.split(',').map((name) => name.trim())
  for (const name of chosen) {
    if (!allowed.includes(name)) throw new UsageError(`${JSON.stringify(name)} is none of ${allowed.join(', ')}`)
  }
  return chosen
}

function setting(text: string): [string, string] {
  const split = text.indexOf('=')
  if (split <= 0) throw new UsageError(`--set takes NAME=value, not ${text}`)
  return [text.slice(0, split), text.slice(split + 1)]
}

function count(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`--rounds must be a whole number, not ${text}`)
  return value
}
