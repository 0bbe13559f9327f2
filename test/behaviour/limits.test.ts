import { expect, type TestContext, test } from 'vitest'
import * as Y from 'yjs'
import { SECRET, token } from '../support/access.ts'
import { type RawClient, rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[IN7] a message over the limit closes its sender with 4413, and a stock client stops instead of sending it for ever', async (t) => {
  const server = await startServer(t, { maxMessageBytes: 100_000, maxDocBytes: 100_000 })
  const peer = stockClient(t, server.url, 'board')
  const sender = stockClient(t, server.url, 'board')
  await Promise.all([peer.synced(), sender.synced()])
  let closed: { code: number; reason: string } | null = null
  sender.provider.on('closed', (event: { code: number; reason: string }) => {
    closed = event
  })
  sender.doc.getMap('m').set('image', new Uint8Array(120_000))
  await until(() => closed !== null, 'the provider gives up')
  expect(closed).toMatchObject({ code: 4413, reason: 'message too large' })
  expect(sender.connections()).toBe(1)
  expect(await server.metric('ws_message_errors_total{reason="message_too_large"}')).toBe(1)
  expect(await server.metric('ws_closes_total{code="4413"}')).toBe(1)
  expect(peer.doc.getMap('m').has('image')).toBe(false)
  expect(peer.connections()).toBe(1)
})

/** Says who it is before it answers the server's question, as a stock client does. */
async function visitor(t: TestContext, server: TestServer, id: number | null, room = 'board', doc?: Y.Doc) {
  const client = await rawClient(t, server.port, room)
  if (id !== null) client.sendPresence([id, 1, { name: `${id}` }])
  client.join(doc)
  return client
}
const TOO_LARGE = { code: 4413, reason: 'message too large' }

async function cutFor(server: TestServer, client: RawClient): Promise<void> {
  await until(() => client.isSynced, 'it is in the room')
  const { length } = client.frames
  client.send(new Uint8Array(300_000))
  await until(() => client.isOver, 'the connection is cut')
  expect(client.frames.slice(length).length).toBeLessThan(10)
  expect(client.closeFrame).toBeNull()
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'the server has noticed')
}

test('[IN7] [SP6] one so long that the socket layer cuts it is told when it is back, once, and nobody else is', async (t) => {
  const server = await startServer(t, { maxMessageBytes: 100_000, maxDocBytes: 100_000 })
  await cutFor(server, await visitor(t, server, 5))
  // From the same address: somebody else, one who shows no presence, and the same one in another room.
  const others = [await visitor(t, server, 6), await visitor(t, server, null), await visitor(t, server, 5, 'another')]
  await until(() => others.every(({ isSynced }) => isSynced), 'they are in')
  const again = await visitor(t, server, 5)
  await until(() => again.isOver, 'it is closed')
  expect(again.closeFrame).toEqual(TOO_LARGE)
  const third = await visitor(t, server, 5)
  third.doc?.getMap('m').set('k', 1)
  await until(() => others[0]!.doc?.getMap('m').get('k') === 1, 'then it takes part')
  expect([third, ...others].map(({ isOver }) => isOver)).toEqual([false, false, false, false])
})

test('[IN7] [SP6] one that shows no presence is told too when it comes with more than the room has', async (t) => {
  const server = await startServer(t, { maxMessageBytes: 100_000, maxDocBytes: 100_000 })
  const doc = new Y.Doc()
  await cutFor(server, await visitor(t, server, null, 'board', doc))
  const viewer = await visitor(t, server, null)
  const writer = await visitor(t, server, 7, 'board', new Y.Doc())
  await until(() => viewer.isSynced && writer.isSynced, 'others are in')
  doc.getMap('m').set('image', 1)
  const again = await visitor(t, server, null, 'board', doc)
  await until(() => again.isOver, 'it is closed')
  expect(again.closeFrame).toEqual(TOO_LARGE)
  expect([viewer.isOver, writer.isOver]).toEqual([false, false])
})

test('[IN7] [SP6] with keys it is the subject that is told, and who has no access leaves nothing behind', async (t) => {
  const server = await startServer(t, { maxMessageBytes: 100_000, maxDocBytes: 100_000, authJwtSecret: SECRET })
  const room = async (sub: string) => `board?token=${await token({ sub })}`
  const stranger = await rawClient(t, server.port, 'board')
  stranger.send(new Uint8Array(300_000))
  await until(() => stranger.isOver, 'it is gone')
  await cutFor(server, await visitor(t, server, 5, await room('ann')))
  const bob = await visitor(t, server, 5, await room('bob'))
  await until(() => bob.isSynced, 'another subject is in')
  const ann = await visitor(t, server, 5, await room('ann'))
  await until(() => ann.isOver, 'the subject is told')
  expect(ann.closeFrame).toEqual(TOO_LARGE)
  expect(bob.isOver).toBe(false)
})

test('[IN7] fragments that never end are cut at the limit too', async (t) => {
  const server = await startServer(t, { maxMessageBytes: 100_000, maxDocBytes: 100_000 })
  const sender = await rawMember(t, server.port, 'board')
  const piece = new Uint8Array(10_000)
  const header = (first: boolean) =>
    Uint8Array.of(first ? 0x02 : 0x00, 0x80 | 126, piece.length >> 8, piece.length & 0xff, 0, 0, 0, 0)
  for (let i = 0; i < 100 && !sender.isOver; i++) {
    sender.socket.write(Buffer.concat([header(i === 0), piece]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => sender.isOver, 'the connection is cut')
  expect(await server.metric('ws_message_errors_total{reason="message_too_large"}')).toBe(1)
})

test('[IN7] a board over its limit is read-only: writers are closed with 4413, readers stay, nothing taken is lost', async (t) => {
  const server = await startServer(t, { maxDocBytes: 200_000 })
  const reader = stockClient(t, server.url, 'board')
  const writer = await rawMember(t, server.port, 'board')
  await reader.synced()
  const list = writer.doc.getArray<string>('list')
  // Each is its own message; the measurement comes a moment after the limit was passed.
  await until(() => {
    if (!writer.isOver) list.push(['x'.repeat(20_000)])
    return writer.isOver
  }, 'the writer is closed')
  expect(writer.closeFrame).toEqual({ code: 4413, reason: 'board too large' })
  const length = reader.doc.getArray('list').length
  expect(length).toBeGreaterThanOrEqual(10)
  expect(reader.connections()).toBe(1)

  const joiner = stockClient(t, server.url, 'board')
  await joiner.synced()
  expect(joiner.doc.getArray('list').length).toBe(length)
  // What makes it smaller is taken, and then there is room again.
  joiner.doc.getArray('list').delete(0, length - 1)
  await until(() => reader.doc.getArray('list').length === 1, 'the deletion arrives')
  expect(joiner.connections()).toBe(1)
})

test('[IN5] a document takes a bounded number of root types and subdocuments', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const rooted = new Y.Doc()
  for (let i = 0; i < 700; i++) rooted.getMap(`root ${i}`).set('k', 1)
  const first = await rawMember(t, server.port, 'board')
  first.sendUpdate(Y.encodeStateAsUpdate(rooted))
  await until(() => peer.doc.share.size >= 700, 'seven hundred are fine')
  const before = Y.encodeStateVector(rooted)
  for (let i = 700; i < 1400; i++) rooted.getMap(`root ${i}`).set('k', 1)
  first.sendUpdate(Y.encodeStateAsUpdate(rooted, before))
  await until(() => first.isOver, 'fourteen hundred are not')
  expect(first.closeFrame?.code).toBe(4413)

  const nested = new Y.Doc()
  nested.transact(() => {
    for (let i = 0; i < 2000; i++) nested.getMap('docs').set(`d${i}`, new Y.Doc())
  })
  const second = await rawMember(t, server.port, 'board')
  second.sendUpdate(Y.encodeStateAsUpdate(nested))
  await until(() => second.isOver, 'it is closed')
  expect(second.closeFrame?.code).toBe(4413)
  expect(peer.connections()).toBe(1)
})

test('[IN7] over its memory the server takes no new socket, says so on /readyz, and serves those it has', async (t) => {
  const server = await startServer(t, { maxMemoryBytes: 64 * 1024 * 1024 })
  const late = await rawClient(t, server.port, 'board')
  await until(() => late.isOver, 'it is refused')
  expect(late.closeFrame).toEqual({ code: 1013, reason: 'server full' })
  const ready = await fetch(`${server.httpUrl}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([503, 'not ready: memory is short\n'])
})
