import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import * as sync from 'y-protocols/sync'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { SECRET, token } from '../support/access.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startFaultyServer } from '../support/faulty-storage.ts'
import { clientFrame, presenceMessage, rawClient, rawMember, syncMessage } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

const LATE = (outcome: string) => `ws_late_writes_total{outcome="${outcome}"}`
const CLOSE_FRAME = clientFrame(0x8, Buffer.from([0x03, 0xe8]), true)

/** A document with one edit, and the frames with which a stock client would bring it: its question, itself, the edit. */
function visit(key: string) {
  const doc = new Y.Doc()
  const step1 = syncMessage((encoder) => sync.writeSyncStep1(encoder, doc))
  doc.getMap('m').set(key, 1)
  const update = syncMessage((encoder) => sync.writeUpdate(encoder, Y.encodeStateAsUpdate(doc)))
  return [step1, presenceMessage([[doc.clientID, 1, { name: key }]]), update].map((frame) =>
    clientFrame(0x2, frame, true),
  )
}

/** Comes, says everything in one write and is gone. */
async function flyingVisit(t: TestContext, server: TestServer, room: string, key: string): Promise<void> {
  const client = await rawClient(t, server.port, room)
  client.socket.write(Buffer.concat([...visit(key), CLOSE_FRAME]))
  await until(() => client.isOver, 'it is gone')
}

async function storedBoards(t: TestContext, names: readonly string[]): Promise<string> {
  const dataDir = dataDirectory(t)
  const store = await LmdbStorage.open({ directory: dataDir, clock: systemClock })
  const doc = new Y.Doc()
  doc.getMap('m').set('stored', 1)
  for (const name of names) await store.append(name, [Y.encodeStateAsUpdate(doc)])
  await store.close()
  return dataDir
}

test.for(['new', 'stored'])(
  '[SP4] the first client of a %s board that asks, edits and closes in one write has written it: 30 of 30',
  async (kind, t) => {
    const rooms = Array.from({ length: 30 }, (_, i) => `board-${i}`)
    const dataDir = await storedBoards(t, kind === 'stored' ? rooms : [])
    const server = await startServer(t, { storage: 'lmdb', dataDir })
    await Promise.all(rooms.map((room) => flyingVisit(t, server, room, 'late')))
    let kept = 0
    for (const room of rooms) {
      const reader = await rawMember(t, server.port, room)
      if (reader.doc.getMap('m').has('late')) kept++
      expect(reader.doc.getMap('m').has('stored')).toBe(kind === 'stored')
      // Whoever wrote it is not here.
      expect(reader.presence().size).toBe(0)
    }
    expect(kept).toBe(30)
  },
)

test('[SP4] what several clients sent before a board was loaded is written in order, although all of them are gone', async (t) => {
  const dataDir = await storedBoards(t, ['board'])
  const server = await startFaultyServer(t, { dataDir })
  const release = server.storage.hold('load')
  for (let i = 0; i < 5; i++) {
    const client = await rawClient(t, server.port, 'board')
    const doc = new Y.Doc()
    doc.on('update', (update: Uint8Array) => client.send(syncMessage((encoder) => sync.writeUpdate(encoder, update))))
    for (let n = 0; n < 400; n++) doc.getArray(`a${i}`).push([n])
    await until(() => client.socket.writableLength === 0, 'all is sent')
    await sleep(20)
    client.socket.end()
    await until(() => client.isOver, 'it is gone')
  }
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'nobody is left')
  release()
  await until(async () => (await server.metric(LATE('written'))) === 5, 'all is written')
  const reader = await rawMember(t, server.port, 'board')
  // More than the budget of one client, and nobody is left who could be asked.
  for (let i = 0; i < 5; i++) {
    await until(() => reader.doc.getArray(`a${i}`).length === 400, 'nothing is missing')
    expect(reader.doc.getArray(`a${i}`).toArray()).toEqual(Array.from({ length: 400 }, (_, n) => n))
  }
  expect(reader.doc.getMap('m').get('stored')).toBe(1)
  expect(await server.metric('ws_resyncs_total{direction="in",cause="gap"}')).toBe(0)
  expect(await server.metric('ws_active_sockets')).toBe(1)
})

test('[SP4] [AC1] [AC2] nothing is written for who has no access, or may only read', async (t) => {
  const server = await startServer(t, { authJwtSecret: SECRET, storage: 'lmdb', dataDir: dataDirectory(t) })
  for (const access of [undefined, 'read'] as const) {
    const query = access === undefined ? '' : `?token=${await token({ access })}`
    const client = await rawClient(t, server.port, `board${query}`)
    client.socket.write(Buffer.concat([...visit('late'), CLOSE_FRAME]))
    await until(() => client.isOver, 'it is gone')
  }
  const reader = await rawMember(t, server.port, `board?token=${await token({ access: 'write' })}`)
  expect(reader.doc.getMap('m').toJSON()).toEqual({})
  expect(await server.metric(LATE('written'))).toBe(0)
})

test('[SP4] who is gone before its board is loaded counts with its address until then: coming and going holds no more than staying', async (t) => {
  const dataDir = await storedBoards(t, ['board'])
  const server = await startFaultyServer(t, { dataDir, maxConnectionsPerIp: 5 })
  const release = server.storage.hold('load')
  for (let i = 0; i < 5; i++) {
    const client = await rawClient(t, server.port, 'board')
    if (i > 2) client.send(syncMessage((encoder) => sync.writeUpdate(encoder, Y.encodeStateAsUpdate(new Y.Doc()))))
    client.socket.end()
    await until(() => client.isOver, 'it is gone')
  }
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'nobody is left')
  const sixth = await rawClient(t, server.port, 'board')
  await until(() => sixth.closeFrame !== null, 'it is told')
  expect(sixth.closeFrame).toMatchObject({ code: 1013, reason: 'too many connections' })
  release()
  await until(async () => (await server.metric(LATE('written'))) === 2, 'they are decided about')
  const reader = await rawMember(t, server.port, 'board')
  expect(reader.doc.getMap('m').get('stored')).toBe(1)
})
