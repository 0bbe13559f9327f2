import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, type TestContext, test } from 'vitest'
import * as sync from 'y-protocols/sync'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startFaultyServer } from '../support/faulty-storage.ts'
import { type RawClient, rawClient, rawMember, syncMessage } from '../support/raw-client.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** A server whose board `board` holds one stored key, and is not read before `release`. */
async function slowServer(t: TestContext, config: { readonly inboundBytesPerSecond?: number } = {}) {
  const dataDir = dataDirectory(t)
  const doc = new Y.Doc()
  doc.getMap('m').set('stored', 1)
  const before = await LmdbStorage.open({ directory: dataDir, clock: systemClock })
  await before.append('board', [Y.encodeStateAsUpdate(doc)])
  await before.close()
  const server = await startFaultyServer(t, { dataDir, ...config })
  return { server, release: server.storage.hold('load') }
}

const step1 = (doc: Y.Doc): Uint8Array => syncMessage((encoder) => sync.writeSyncStep1(encoder, doc))
const update = (bytes: Uint8Array): Uint8Array => syncMessage((encoder) => sync.writeUpdate(encoder, bytes))

/** A document, and the frames of `count` edits each of which builds on the one before. */
function chain(count: number, bytes: number): { readonly doc: Y.Doc; readonly frames: Uint8Array[] } {
  const doc = new Y.Doc()
  const frames: Uint8Array[] = []
  doc.on('update', (bytes: Uint8Array) => frames.push(update(bytes)))
  for (let i = 0; i < count; i++) doc.getArray('chain').push([`${i}:${'x'.repeat(bytes)}`])
  return { doc, frames }
}

test('[FR6] nobody is answered before the board is loaded; it is loaded once, and what came meanwhile is handled in order', async (t) => {
  const { server, release } = await slowServer(t)
  const { doc, frames } = chain(100, 10)
  const eager = await rawClient(t, server.port, 'board')
  for (const frame of [step1(new Y.Doc()), ...frames]) eager.send(frame)
  const crowd: RawClient[] = []
  for (let i = 0; i < 20; i++) {
    const client = await rawClient(t, server.port, 'board')
    client.join()
    client.sendPresence([i + 1, 1, { name: `${i}` }])
    crowd.push(client)
  }
  const stock = stockClient(t, server.url, 'board')
  await until(() => stock.provider.wsconnected, 'the stock client is connected')
  await until(async () => (await server.metric('ws_active_sockets')) === 22, 'all are there')
  await sleep(100)
  for (const client of [eager, ...crowd]) expect(client.frames).toEqual([])
  expect(stock.provider.synced).toBe(false)
  expect(server.storage.asked.load).toBe(1)

  release()
  await until(() => crowd.every(({ isSynced }) => isSynced), 'the crowd is answered')
  await stock.synced()
  await until(() => crowd.every((client) => client.doc!.getArray('chain').length === 100), 'everybody has the edits')
  const seesAll = (client: RawClient, own: number): boolean =>
    crowd.every((_, i) => i === own || client.presence().has(i + 1))
  await until(() => crowd.every(seesAll), 'and everybody sees everybody else')
  expect(server.storage.asked.load).toBe(1)
  const fresh = await rawMember(t, server.port, 'board')
  expect(fresh.doc.getMap('m').toJSON()).toEqual({ stored: 1 })
  expect(fresh.doc.getArray('chain').toArray()).toEqual(doc.getArray('chain').toArray())
  // The answer to its SyncStep1 came, with what was stored.
  await until(() => eager.frames.some(({ kind }) => kind === 'step2'), 'its question is answered')
  expect(eager.frames[0]!.kind).toBe('step1')
  // In order: nothing waited for a predecessor.
  for (const cause of ['gap', 'load_overflow', 'rate_limited']) {
    expect(await server.metric(`ws_resyncs_total{direction="in",cause="${cause}"}`), cause).toBe(0)
  }
  for (const client of crowd) expect(client.parked).toBe(0)
})

test('[FR6] beyond 1 MiB frames are dropped and asked for again: nothing is lost, the question is answered', async (t) => {
  const { server, release } = await slowServer(t)
  const { doc, frames } = chain(100, 40_000)
  // Small ones for the rest of the MiB: they build on what was dropped, and leave no room for the question.
  doc.on('update', (bytes: Uint8Array) => frames.push(update(bytes)))
  for (let i = 0; i < 400; i++) doc.getArray('small').push([i])
  const keen = await rawClient(t, server.port, 'board')
  for (const frame of frames) keen.send(frame)
  keen.join(doc)
  const onlooker = stockClient(t, server.url, 'board')
  await until(() => keen.socket.writableLength === 0, 'all is sent')
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'both are there')

  release()
  await until(() => keen.isSynced, 'the question is answered')
  await until(() => onlooker.doc.getArray('chain').length === 100, 'nothing is lost')
  expect(onlooker.doc.getArray('small').length).toBe(400)
  expect(doc.getMap('m').toJSON()).toEqual({ stored: 1 })
  await until(() => sameBoard(onlooker.doc, doc), 'all have the same')
  expect(await server.metric('ws_resyncs_total{direction="in",cause="load_overflow"}')).toBe(1)
  expect(await server.metric('ws_resyncs_total{direction="in",cause="gap"}')).toBe(0)
  expect([keen.isOver, keen.parked, onlooker.connections()]).toEqual([false, 0, 1])
  // Edits flow as ever.
  doc.getMap('m').set('later', 1)
  await until(() => onlooker.doc.getMap('m').has('later'), 'later edits arrive')
})

test('[FR6] what is kept during a load is bounded for every connection, and let go when the load is over', async (t) => {
  const { server, release } = await slowServer(t, { inboundBytesPerSecond: 16 << 20 })
  const CLIENTS = 10
  const { frames } = chain(150, 40_000)
  const held = async (): Promise<number> => {
    // Array buffers are let go a while after a collection.
    for (let i = 0; i < 3; i++) {
      collect()
      await sleep(50)
    }
    return process.memoryUsage().arrayBuffers
  }
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => rawClient(t, server.port, 'board', { record: false })),
  )
  await until(async () => (await server.metric('ws_active_sockets')) === CLIENTS, 'all are there')
  const before = await held()
  for (const client of clients) for (const frame of frames) client.send(frame)
  await until(() => clients.every(({ socket }) => socket.writableLength === 0), 'all is sent')
  const total = CLIENTS * frames.reduce((sum, { length }) => sum + length, 0)
  await until(async () => (await server.metric('ws_received_bytes_total')) >= total, 'and read')
  const kept = (await held()) - before
  if (process.env.TEST_FIGURES) console.log({ total, kept })
  expect(kept).toBeGreaterThan(CLIENTS * 900_000)
  expect(kept).toBeLessThan(CLIENTS * (1 << 20) + (2 << 20))
  // Some leave before anything was loaded: what they wrote waits all the same.
  for (const client of clients.splice(5)) client.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 5, 'half have left')
  expect((await held()) - before).toBeLessThan(CLIENTS * (1 << 20) + (2 << 20))
  release()
  await until(async () => (await server.metric('ws_late_writes_total{outcome="written"}')) === 5, 'and is written')
  for (const client of clients.splice(0)) client.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'all have left')
  await until(async () => (await held()) - before < 2 << 20, 'all of it was applied and let go')
  const fresh = await rawMember(t, server.port, 'board')
  expect(fresh.doc.getMap('m').toJSON()).toEqual({ stored: 1 })
})

test('[OP1] [FR6] told to stop while a board loads, the server does not wait for it, and whoever waits is told', async (t) => {
  const { server, release } = await slowServer(t)
  const client = await rawClient(t, server.port, 'board')
  client.join(chain(10, 10).doc)
  await until(() => server.storage.asked.load === 1, 'the load has begun')
  const began = performance.now()
  await server.close()
  expect(performance.now() - began).toBeLessThan(2_000)
  await until(() => client.isOver, 'it is closed')
  expect(client.closeFrame).toEqual({ code: 1012, reason: 'server restart' })
  // The store is closed by now: the load fails, and nobody is left to mind.
  release()
  await sleep(50)
})
