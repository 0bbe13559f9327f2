import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { dataDirectory } from '../support/data-directory.ts'
import { startFaultyServer } from '../support/faulty-storage.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const closedWith = (client: StockClient): (() => { code: number; reason: string } | null) => {
  let closed: { code: number; reason: string } | null = null
  client.provider.on('closed', (event: { code: number; reason: string }) => {
    closed = event
  })
  return () => closed
}
const remove = (server: TestServer, room: string) =>
  fetch(`${server.httpUrl}/admin/rooms/${room}`, { method: 'DELETE', headers: { authorization: 'Bearer secret' } })

test('[AC6] a deleted board stays deleted, against a page that comes back with its old copy and over a restart', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'y-weir-'))
  t.onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const config = { storage: 'lmdb', dataDir, adminToken: 'secret' } as const
  const server = await startServer(t, config)
  const author = stockClient(t, server.url, 'board')
  const away = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), away.synced()])
  author.doc.getMap('m').set('old', 1)
  await until(() => away.doc.getMap('m').get('old') === 1, 'both have the board')
  away.provider.disconnect()
  const authorClosed = closedWith(author)

  expect(await (await remove(server, 'board')).json()).toEqual({ deleted: true, closed: 1 })
  await until(() => authorClosed() !== null, 'whoever is there is closed for good')
  expect(authorClosed()).toMatchObject({ code: 4410, reason: 'board deleted' })
  expect((await remove(server, 'board')).status).toBe(404)

  const awayClosed = closedWith(away)
  away.provider.connect()
  await until(() => awayClosed() !== null, 'the page that comes back is refused for good')
  expect(awayClosed()).toMatchObject({ code: 4410 })

  const fresh = stockClient(t, server.url, 'board')
  await fresh.synced()
  expect(fresh.doc.getMap('m').size).toBe(0)
  fresh.doc.getMap('m').set('new', 1)
  // Without a SyncStep1 that names it, by an update alone.
  const sly = await rawMember(t, server.port, 'board')
  sly.sendUpdate(Y.encodeStateAsUpdate(author.doc))
  await until(() => sly.isOver, 'it is closed')
  expect(sly.closeFrame).toEqual({ code: 4410, reason: 'board deleted' })
  expect(fresh.doc.getMap('m').toJSON()).toEqual({ new: 1 })

  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'the new board is saved')
  await server.close()
  const again = await startServer(t, config)
  const returning = stockClient(t, again.url, 'board', { doc: author.doc })
  const returningClosed = closedWith(returning)
  await until(() => returningClosed() !== null, 'after a restart too')
  expect(returningClosed()).toMatchObject({ code: 4410 })
  const reader = stockClient(t, again.url, 'board')
  await reader.synced()
  expect(reader.doc.getMap('m').toJSON()).toEqual({ new: 1 })
})

test('[AC6] [FR7] a board that is deleted while it is about to leave memory: who joins meanwhile waits, and gets a new one', async (t) => {
  const server = await startFaultyServer(t, { dataDir: dataDirectory(t), adminToken: 'secret', roomIdleMs: 0 })
  const { storage } = server
  const author = await rawMember(t, server.port, 'board')
  // Enough to be compacted when the room empties.
  for (let i = 0; i < 4; i++) author.doc.getMap('m').set(`old ${i}`, 'x'.repeat(30_000))
  await until(
    async () => storage.asked.append > 0 && (await server.metric('storage_unsaved_bytes')) === 0,
    'it is saved',
  )
  const compact = storage.hold('compact')
  const bury = storage.hold('delete')
  author.close()
  await until(() => storage.asked.compact === 1, 'the board is being compacted')
  const deleted = remove(server, 'board')
  await until(() => storage.asked.delete === 1, 'and deleted')
  compact()
  await until(async () => (await server.metric('storage_compactions_total')) === 1, 'the compaction is through')
  const early = await rawClient(t, server.port, 'board')
  early.join()
  const loads = storage.asked.load
  bury()
  expect((await deleted).status).toBe(200)
  await until(() => early.isSynced, 'the one who waited gets a board')
  expect(early.doc!.getMap('m').size).toBe(0)
  expect(storage.asked.load).toBe(loads + 1)
  const back = await rawClient(t, server.port, 'board')
  back.join(author.doc)
  await until(() => back.isOver, 'the old board does not come back')
  expect(back.closeFrame).toEqual({ code: 4410, reason: 'board deleted' })
})
