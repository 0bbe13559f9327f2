/** The servers that are measured, and how each is started: with its defaults, without storage unless asked. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Dialect } from '../load/peer.ts'

export type ServerId = 'y-weir' | 'y-websocket' | 'hocuspocus' | 'relay'
export type StorageKind = 'memory' | 'lmdb'

export interface ServerKind {
  readonly id: ServerId
  /** Name in tables. */
  readonly label: string
  readonly version: string
  readonly dialect: Dialect
  /** Keeps boards: joiners get them. */
  readonly keepsBoards: boolean
  /** Arguments for node. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Said with the results. */
  readonly note: string | null
}

export interface CatalogueOptions {
  /** y-weir's entry: dist/main.js. */
  readonly entry: string
  readonly storage: StorageKind
  /** Flags for node when it runs y-weir. */
  readonly nodeFlags: readonly string[]
  /** Settings for y-weir that are not its defaults. */
  readonly settings: Readonly<Record<string, string>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const peers = `${root}bench/peers/`
const versionOf = (path: string): string =>
  (JSON.parse(readFileSync(`${path}/package.json`, 'utf8')) as { version: string }).version

const NODE_MAJOR = Number(process.versions.node.split('.')[0])

export const ADMIN_TOKEN = 'bench'

export function weir({ entry, storage, nodeFlags, settings }: CatalogueOptions): ServerKind {
  return {
    id: 'y-weir',
    label: storage === 'memory' ? 'y-weir' : `y-weir (${storage})`,
    version: versionOf(root),
    dialect: 'y-websocket',
    keepsBoards: true,
    args: [...startFlags(), ...nodeFlags, entry],
    env: { STORAGE: storage, ADMIN_TOKEN, ...settings },
    note: null,
  }
}

/** What `npm start` gives to node before the entry. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

/** Every server, y-weir first. The peers must be installed. */
export function catalogue(options: CatalogueOptions): readonly ServerKind[] {
  const websocketServer = `${peers}node_modules/@y/websocket-server`
  const hocuspocusMajor = NODE_MAJOR >= 22 ? '4' : '3'
  return [
    weir(options),
    {
      id: 'y-websocket',
      label: 'y-websocket server',
      version: `${versionOf(websocketServer)}, yjs ${versionOf(`${peers}node_modules/yjs`)}`,
      dialect: 'y-websocket',
      keepsBoards: true,
      args: [`${websocketServer}/src/server.js`],
      env: {},
      note: null,
    },
    {
      id: 'hocuspocus',
      label: 'Hocuspocus',
      version: versionOf(`${peers}node_modules/hocuspocus-${hocuspocusMajor}`),
      dialect: 'hocuspocus',
      keepsBoards: true,
      args: [`${peers}hocuspocus.mjs`],
      env: { HOCUSPOCUS_MAJOR: hocuspocusMajor },
      note: NODE_MAJOR >= 22 ? null : 'Hocuspocus 4 wants Node 22 or newer: the newest 3.x was measured instead',
    },
    {
      id: 'relay',
      label: 'raw relay',
      version: `uWebSockets.js ${versionOf(`${root}node_modules/uWebSockets.js`)}`,
      dialect: 'relay',
      keepsBoards: false,
      args: [`${peers}raw-relay.mjs`],
      env: {},
      note: null,
    },
  ]
}
