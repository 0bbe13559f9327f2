/** A client that may only read: whatever it sends, and in whatever order, the board stays as it is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import * as sync from 'y-protocols/sync'
import * as Y from 'yjs'
import type { Config } from '../../src/server.ts'
import { closedFor, SECRET, token } from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { type RawClient, rawClient, rawMember, syncMessage } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const start = (t: TestContext, config: Partial<Config> = {}): Promise<TestServer> =>
  startServer(t, { authJwtSecret: SECRET, adminToken: ADMIN_TOKEN, ...config })

const reading = async () => ({ token: await token({ sub: 'reader', access: 'read' }) })
const writing = async () => ({ token: await token({ sub: 'writer' }) })

async function board(server: TestServer): Promise<unknown> {
  const response = await fetch(`${server.httpUrl}/admin/rooms/board?format=json`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  return response.ok ? response.json() : null
}
const noticesOf = (client: RawClient): unknown[] =>
  client.frames.flatMap(({ bytes }) =>
    bytes[0] === 100 ? [JSON.parse(Buffer.from(bytes.subarray(2)).toString())] : [],
  )

/** A page somebody edited without the right to: additions, and the deletion of everything it was shown. */
function tampered(seen: Y.Doc): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(seen))
  const map = doc.getMap('m')
  for (const key of map.keys()) map.delete(key)
  map.set('tampered', true)
  return doc
}

/** Every frame an edit can hide in, and some it cannot. */
function disguises(doc: Y.Doc): { readonly sound: Uint8Array[]; readonly malformed: Uint8Array[] } {
  const update = Y.encodeStateAsUpdate(doc)
  const asUpdate = syncMessage((encoder) => sync.writeUpdate(encoder, update))
  const asAnswer = syncMessage((encoder) => sync.writeSyncStep2(encoder, doc))
  const question = Uint8Array.of(0, 0, 1, 0)
  return {
    sound: [
      asUpdate,
      asAnswer,
      // The same numbers written longer than need be: type 0 as two bytes, then the subtype.
      Uint8Array.of(0x80, 0, ...asUpdate.subarray(1)),
      Uint8Array.of(0, 0x81, 0, ...asAnswer.subarray(2)),
    ],
    malformed: [
      // A subtype and a type nobody knows, a notice, and an update behind a harmless message.
      Uint8Array.of(0, 3, ...asUpdate.subarray(2)),
      Uint8Array.of(7, ...asUpdate.subarray(1)),
      Uint8Array.of(100, ...asUpdate.subarray(2)),
      Buffer.concat([question, asUpdate]),
    ],
  }
}

test('[AC2] no frame of a reader changes the board or its store: before a writer joins, after, and from a second tab', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'y-weir-'))
  t.onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const server = await start(t, { storage: 'lmdb', dataDir, roomIdleMs: 100 })
  const path = `board?token=${(await reading()).token}`

  const early = await rawMember(t, server.port, path)
  const before = disguises(tampered(new Y.Doc()))
  for (const frame of [...before.sound, ...before.malformed]) early.send(frame)
  await until(
    async () => (await server.metric('ws_messages_received_total{type="malformed"}')) === before.malformed.length,
    'all of it was read',
  )
  expect(await board(server)).toBeNull()

  const writer = stockClient(t, server.url, 'board', { params: await writing() })
  await writer.synced()
  writer.doc.getMap('m').set('mine', 1)
  await until(() => early.doc.getMap('m').get('mine') === 1, 'the reader gets everything')
  const secondTab = await rawMember(t, server.port, path)
  const after = disguises(tampered(writer.doc))
  for (const tab of [early, secondTab]) for (const frame of after.sound) tab.send(frame)
  for (const frame of after.malformed) secondTab.send(frame)
  // By an answer to the server's own question too: this one's document has everything from the start.
  const answering = await rawMember(t, server.port, path, { doc: tampered(writer.doc) })
  answering.doc.getMap('m').set('more', 1)
  await until(
    async () => (await server.metric('ws_messages_received_total{type="malformed"}')) === 2 * after.malformed.length,
    'all of it was read',
  )
  writer.doc.getMap('m').set('mine', 2)
  for (const reader of [early, secondTab, answering]) {
    await until(() => reader.doc.getMap('m').get('mine') === 2, 'the reader goes on getting everything')
    expect(reader.isOver).toBe(false)
  }
  expect(writer.doc.getMap('m').toJSON()).toEqual({ mine: 2 })
  expect(await board(server)).toEqual({ m: { mine: 2 } })

  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'the board is saved')
  await server.close()
  const again = await start(t, { storage: 'lmdb', dataDir })
  expect(await board(again)).toEqual({ m: { mine: 2 } })
  const stored = await rawMember(t, again.port, path)
  expect([...Y.decodeStateVector(Y.encodeStateVector(stored.doc)).keys()]).toEqual([writer.doc.clientID])
})

test('[AC2] a stock reader with edits made offline is synced, gets everything, and is never closed for what it sends', async (t) => {
  const server = await start(t, { rateLimitMaxTokens: 50 })
  const writer = stockClient(t, server.url, 'board', { params: await writing() })
  await writer.synced()
  const doc = new Y.Doc()
  doc.getMap('m').set('offline', 1)
  const reader = stockClient(t, server.url, 'board', { params: await reading(), doc })
  await reader.synced()
  for (let i = 0; i < 500; i++) doc.getMap('m').set('k', i)
  writer.doc.getMap('m').set('mine', 1)
  await until(() => doc.getMap('m').get('mine') === 1, 'it gets everything')
  // Anything it sent before is handled once this is back: presence is in the same order.
  reader.awareness.setLocalStateField('seen', true)
  await until(() => writer.awareness.getStates().get(doc.clientID)?.seen === true, 'its cursor comes')
  expect(writer.doc.getMap('m').toJSON()).toEqual({ mine: 1 })
  expect(await board(server)).toEqual({ m: { mine: 1 } })
  expect(reader.connections()).toBe(1)
  expect(await server.metric('ws_resyncs_total{direction="in",cause="rate_limited"}')).toBe(0)

  // The right is the connection's: with a better token the same page brings what it kept.
  reader.provider.disconnect()
  reader.provider.params = await writing()
  reader.provider.connect()
  await until(() => writer.doc.getMap('m').get('k') === 499, 'its edits arrive')
})

test('[AC2] a reader keeps its cursor, which AUTH_READ_ONLY_CURSORS=off takes away', async (t) => {
  for (const authReadOnlyCursors of ['on', 'off'] as const) {
    const server = await start(t, { authReadOnlyCursors })
    const writer = stockClient(t, server.url, 'board', { params: await writing() })
    const reader = stockClient(t, server.url, 'board', { params: await reading() })
    await Promise.all([writer.synced(), reader.synced()])
    reader.awareness.setLocalStateField('name', 'reader')
    writer.awareness.setLocalStateField('name', 'writer')
    const nameAt = (at: StockClient, of: StockClient) => at.awareness.getStates().get(of.doc.clientID)?.name
    await until(() => nameAt(reader, writer) === 'writer', 'the reader sees the writer')
    if (authReadOnlyCursors === 'on') {
      await until(() => nameAt(writer, reader) === 'reader', 'the writer sees the reader')
    } else {
      // Everything the reader has said before this edit of its own comes first, and the edit is not taken either.
      reader.doc.getMap('m').set('k', 1)
      await until(
        async () => (await server.metric('ws_messages_received_total{type="presence"}')) >= 3,
        'its presence was read',
      )
      writer.doc.getMap('m').set('mine', 1)
      await until(() => reader.doc.getMap('m').get('mine') === 1, 'a round trip later')
      expect(writer.awareness.getStates().has(reader.doc.clientID)).toBe(false)
      // Nor may it take somebody else's away.
      const raw = await rawMember(t, server.port, `board?token=${(await reading()).token}`)
      raw.sendPresence([writer.doc.clientID, 1_000_000, 'null'], [77, 1, { name: 'crowd' }])
      writer.doc.getMap('m').set('mine', 2)
      await until(() => raw.doc.getMap('m').get('mine') === 2, 'a round trip later')
      expect(nameAt(reader, writer)).toBe('writer')
      expect(writer.awareness.getStates().size).toBe(1)
    }
    expect(reader.connections()).toBe(1)
  }
})

test('[AC2] [FC10] a reader that asks for notices is told once; others, and writers, are not', async (t) => {
  const server = await start(t)
  const [read, write] = [(await reading()).token, (await writing()).token]
  const told = await rawMember(t, server.port, `board?notices=1&token=${read}`)
  const others = [
    await rawMember(t, server.port, `board?token=${read}`),
    await rawMember(t, server.port, `board?notices=1&token=${write}`),
  ]
  for (let i = 0; i < 20; i++) told.doc.getMap('m').set('k', i)
  others[1]!.doc.getMap('m').set('mine', 1)
  for (const client of [told, ...others]) {
    await until(() => client.doc!.getMap('m').get('mine') === 1, 'the edit arrives')
  }
  expect(noticesOf(told)).toEqual([{ kind: 'read-only' }])
  expect(others.map(noticesOf)).toEqual([[], []])
})

test('[AC2] access is read unless a token says otherwise', async (t) => {
  const server = await start(t)
  const silent = await rawMember(t, server.port, `board?token=${await token({ access: undefined })}`)
  silent.doc.getMap('m').set('k', 1)
  const late = await rawClient(t, server.port, `board?token=${(await reading()).token}`)
  late.join()
  await until(() => late.isSynced, 'a joiner later')
  expect(await board(server)).toBeNull()
  expect(silent.isOver).toBe(false)
})

test('[AC2] a stock reader whose token is for reading is not stopped', async (t) => {
  const server = await start(t)
  const reader = stockClient(t, server.url, 'board', { params: await reading() })
  const closed = closedFor(reader)
  await reader.synced()
  reader.provider.disconnect()
  reader.provider.connect()
  await until(() => reader.connections() === 2 && reader.provider.synced, 'it comes back')
  expect(closed()).toBeNull()
})
