import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { pour, sameBoard } from '../support/boards.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const kinds = (client: { readonly frames: readonly { readonly kind: string }[] }) =>
  client.frames.map(({ kind }) => kind)

test('[FR2] the server speaks first: its SyncStep1, then who is here; the answer to SyncStep1 is a SyncStep2', async (t) => {
  const server = await startServer(t)
  const resident = stockClient(t, server.url, 'board')
  await resident.synced()
  resident.awareness.setLocalState({ name: 'Ann' })
  resident.doc.getText('t').insert(0, 'here')
  await until(async () => (await server.metric('ws_messages_received_total{type="presence"}')) > 0, 'Ann is known')

  const client = await rawClient(t, server.port, 'board')
  await until(() => client.frames.length >= 2, 'two frames came unasked')
  expect(kinds(client).slice(0, 2)).toEqual(['step1', 'presence'])
  expect(client.presence().get(resident.doc.clientID)?.state).toEqual({ name: 'Ann' })

  const doc = client.join()
  await until(() => client.isSynced, 'it is synced')
  expect(kinds(client)).toEqual(['step1', 'presence', 'step2'])
  expect(doc.getText('t').toString()).toBe('here')
})

test('[FR2] the SyncStep2 holds what the client lacks, and no more', async (t) => {
  const server = await startServer(t)
  const author = await rawMember(t, server.port, 'board')
  author.doc.getText('t').insert(0, 'x'.repeat(20_000))
  const returning = new Y.Doc()
  const first = await rawMember(t, server.port, 'board', { doc: returning })
  await until(() => sameBoard(returning, author.doc), 'it has the board')
  first.close()
  await until(() => first.isOver, 'it has left')
  author.doc.getText('t').insert(20_000, 'y')

  const again = await rawMember(t, server.port, 'board', { doc: returning })
  expect(sameBoard(returning, author.doc)).toBe(true)
  const step2 = again.frames.find(({ kind }) => kind === 'step2')!
  expect(step2.bytes.length).toBeLessThan(60)
})

test('[FR2] a joiner of a busy room gets no Update before its SyncStep2, however long it takes to ask', async (t) => {
  const server = await startServer(t)
  const author = await rawMember(t, server.port, 'board', { record: false })
  let n = 0
  const drawing = setInterval(() => author.doc.getMap('m').set(`k${n % 10}`, n++), 2)
  t.onTestFinished(() => clearInterval(drawing))

  for (const waitMs of [0, 0, 5, 20, 60]) {
    const joiner = await rawClient(t, server.port, 'board')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    joiner.join()
    await until(() => kinds(joiner).filter((kind) => kind === 'update').length >= 3, 'it gets the updates')
    const syncs = kinds(joiner).filter((kind) => kind !== 'presence')
    expect(syncs.slice(0, 3)).toEqual(['step1', 'step2', 'update'])
    expect(joiner.parked).toBe(0)
    joiner.close()
  }
})

test('[FR2] what was drawn offline arrives as the answer to the server, and others get it', async (t) => {
  const server = await startServer(t)
  const other = stockClient(t, server.url, 'board')
  await other.synced()
  const offline = new Y.Doc()
  offline.getArray('a').push([1, 2, 3])
  offline.getArray('a').delete(1, 1)
  await rawMember(t, server.port, 'board', { doc: offline })
  await until(() => sameBoard(other.doc, offline), 'the other has it')
})

test('[FR3] duplicates and no-ops cause no frame', async (t) => {
  const server = await startServer(t)
  const author = await rawClient(t, server.port, 'board')
  const witness = await rawMember(t, server.port, 'board')
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'once')
  const update = Y.encodeStateAsUpdate(doc)
  const updates = () => kinds(witness).filter((kind) => kind === 'update').length
  const flushes = () => server.metric('room_flush_seconds_count')

  author.sendUpdate(update)
  await until(() => updates() === 1, 'the update arrived')
  for (const nothing of [update, update, Y.encodeStateAsUpdate(doc)]) {
    const before = await flushes()
    author.sendUpdate(nothing)
    await until(async () => (await flushes()) > before, 'the duplicate was looked at')
  }
  author.sendUpdate(Uint8Array.of(0, 0))
  const before = Y.encodeStateVector(doc)
  doc.getText('t').insert(4, '!')
  author.sendUpdate(Y.encodeStateAsUpdate(doc, before))
  await until(() => witness.doc.getText('t').toString() === 'once!', 'the next edit arrived')
  expect(updates()).toBe(2)
})

test('[FR3] what is relayed is what the server lacked, not what was sent', async (t) => {
  const server = await startServer(t)
  const author = await rawClient(t, server.port, 'board')
  const witness = await rawMember(t, server.port, 'board')
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'x'.repeat(10_000))
  author.sendUpdate(Y.encodeStateAsUpdate(doc))
  await until(() => witness.doc.getText('t').length === 10_000, 'the text arrived')
  doc.getText('t').insert(10_000, 'y')
  author.sendUpdate(Y.encodeStateAsUpdate(doc))
  await until(() => witness.doc.getText('t').length === 10_001, 'the letter arrived')
  expect(witness.frames.at(-1)!.bytes.length).toBeLessThan(60)
})

test('[FR4] a close frame comes after the last frame, also when megabytes are on their way', async (t) => {
  const server = await startServer(t, { adminToken: ADMIN_TOKEN, closeGraceMs: 10_000 })
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const reader = await rawMember(t, server.port, 'board', { record: false })
  reader.pause()
  pour(author.doc, 7_000_000, 60_000)
  await until(async () => (await server.metric('ws_oldest_unsent_seconds')) > 0, 'the server has a backlog')
  const response = await fetch(`${server.httpUrl}/admin/rooms/board/close`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  expect(await response.json()).toEqual({ closed: 2 })
  reader.resume()
  await until(() => reader.isOver, 'the connection is over')
  expect(reader.closeFrame).toEqual({ code: 1012, reason: 'server restart' })
  expect({ framesAfterClose: reader.framesAfterClose, parked: reader.parked }).toEqual({
    framesAfterClose: 0,
    parked: 0,
  })
})

test('[FR2] a handshake cut into small pieces is a handshake', async (t) => {
  const server = await startServer(t)
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'z'.repeat(3000))
  const client = await rawClient(t, server.port, 'board')
  await client.sendSplit(Uint8Array.of(0, 0, 1, 0), 2)
  await until(() => kinds(client).includes('step2'), 'it is answered')
  const update = Y.encodeStateAsUpdate(doc)
  const length = update.length
  await client.sendSplit(Buffer.concat([Uint8Array.of(0, 2, 0x80 | (length & 0x7f), length >> 7), update]), 7)
  await until(() => author.doc.getText('t').length === 3000, 'the edit arrived')
})
