/**
 * A stock client as a process of its own: `thin-client.ts <url> <room>`. Says what happens as JSON lines: `synced` with what
 * it took, and for every line on stdin a `state`.
 */
import { createInterface } from 'node:readline'
import WebSocket from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

const [url, room] = process.argv.slice(2) as [string, string]
const say = (value: object): void => console.log(JSON.stringify(value))
const started = performance.now()
let connections = 0
let parked = 0
let closes = 0
let updatesBeforeSync = 0
let own = 0
class CountingSocket extends WebSocket {
  constructor(address: string, protocols?: string[]) {
    super(address, protocols)
    connections++
    this.on('error', () => {})
    this.on('close', () => closes++)
  }
}
const doc = new Y.Doc()
const provider = new WebsocketProvider(url, room, doc, { WebSocketPolyfill: CountingSocket as never, disableBc: true })
doc.on('afterTransaction', () => {
  if (doc.store.pendingStructs !== null) parked++
})
doc.on('update', (_update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
  if (!provider.synced) updatesBeforeSync++
  if (transaction.local) own++
})
const state = () => ({
  ms: Math.round(performance.now() - started),
  connections,
  closes,
  parked,
  updatesBeforeSync,
  own,
  vector: [...Y.decodeStateVector(Y.encodeStateVector(doc))],
  deletes: [...Y.createDeleteSetFromStructStore(doc.store).clients].map(([client, items]) => [
    client,
    items.reduce((sum, { len }) => sum + len, 0),
  ]),
})
provider.on('sync', (isSynced: boolean) => {
  if (isSynced) say({ event: 'synced', ...state() })
})
createInterface({ input: process.stdin }).on('line', (line) => say({ event: line, ...state() }))
