import { expect, type TestContext, test } from 'vitest'
import { ADMIN_TOKEN, clientViews } from '../support/admin-view.ts'
import { pour, sameBoard } from '../support/boards.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const MiB = 1_048_576

interface Stall {
  readonly closeGraceMs?: number
  readonly maxCongestedMs?: number
}

/** A room with an author, a witness, and a reader that has stopped and whose backlog has filled the kernel's buffers. */
async function stall(
  t: Pick<TestContext, 'onTestFinished'>,
  { closeGraceMs = 10_000, maxCongestedMs = 1000 }: Stall = {},
) {
  const server = await startServer(t, { adminToken: ADMIN_TOKEN, maxCongestedMs, closeGraceMs })
  const author = stockClient(t, server.url, 'board')
  const witness = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), witness.synced()])
  const reader = await rawMember(t, server.port, 'board', { record: false })
  reader.pause()
  pour(author.doc, 8 * MiB, 60_000)
  await until(() => sameBoard(author.doc, witness.doc), 'the witness has it all')
  const evictions = () => server.metric('ws_clients_dropped_total{reason="congested"}')
  return { server, author, witness, reader, evictions }
}

test('[FC6] a client congested too long that reads on within the grace reads 1013 and why', async (t) => {
  const { server, author, witness, reader, evictions } = await stall(t)
  await until(async () => (await evictions()) === 1, 'it is evicted')
  // Its queue was freed at once; only what the socket had accepted is left.
  expect((await clientViews(server))[2]).toMatchObject({ state: 'ending', queuedFrames: 0 })
  const frames = await server.metric('ws_messages_sent_total{type="sync"}')

  author.doc.getMap('m').set('after', 1)
  await until(() => witness.doc.getMap('m').get('after') === 1, 'an edit after the eviction')
  reader.resume()
  await until(() => reader.isOver, 'the connection is over')
  expect(reader.closeFrame).toEqual({ code: 1013, reason: 'congested too long' })
  expect(reader.framesAfterClose).toBe(0)
  expect(reader.doc.getMap('m').has('after')).toBe(false)
  expect(frames).toBeGreaterThan(0)
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'its place is free')
  expect(await server.metric('ws_closes_total{code="1013"}')).toBe(1)
})

test('[FC6] a client congested too long that does not read on is cut when the grace is over', async (t) => {
  const { server, reader, evictions } = await stall(t, { closeGraceMs: 500 })
  await until(async () => (await evictions()) === 1, 'it is evicted')
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'it is cut', 2000)
  reader.resume()
  await until(() => reader.isOver, 'the connection is over')
  expect(reader.closeFrame).toBeNull()
})

test('[FC6] an evicted client does nothing to the room any more', async (t) => {
  const { server, author, reader, evictions } = await stall(t)
  reader.sendPresence([77, 1, { name: 'stalled' }])
  await until(() => author.awareness.getStates().has(77), 'it is here')
  await until(async () => (await evictions()) === 1, 'it is evicted')
  await until(() => !author.awareness.getStates().has(77), 'its presence left with it, before the socket did', 1000)
  const received = await server.metric('ws_messages_received_total{type="sync"}')
  reader.doc.getMap('m').set('from', 'the evicted')
  reader.sendPresence([77, 2, { name: 'stalled' }])
  author.doc.getMap('m').set('from', 'the author')
  await until(
    async () => (await server.metric('ws_messages_received_total{type="sync"}')) > received,
    'the author is read',
  )
  expect(author.doc.getMap('m').get('from')).toBe('the author')
  expect(author.awareness.getStates().has(77)).toBe(false)
})

test('[FC6] 0 turns the eviction by age off', async (t) => {
  const { reader, author, evictions, server } = await stall(t, { maxCongestedMs: 0 })
  await until(async () => (await server.metric('ws_oldest_unsent_seconds')) > 2.5, 'the backlog is old')
  expect(await evictions()).toBe(0)
  reader.resume()
  await until(() => sameBoard(author.doc, reader.doc), 'it has the board')
})

test('[FC1] a soft mark above the hard one is lowered: a stalled reader is still only behind', async (t) => {
  const server = await startServer(t, {
    adminToken: ADMIN_TOKEN,
    maxBufferedBytes: 262_144,
    slowClientBufferBytes: 1_048_576,
    bufferSweepIntervalMs: 100,
  })
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const reader = await rawMember(t, server.port, 'board', { record: false })
  reader.pause()
  pour(author.doc, 8 * MiB, 60_000)
  await until(async () => (await server.metric('ws_buffered_bytes')) > 0, 'there is a backlog')
  for (let i = 0; i < 40; i++) {
    author.doc.getMap('m').set('k', `${i}`.repeat(2000))
    const held = (await clientViews(server)).map(({ heldBytes }) => heldBytes)
    expect(Math.max(...held)).toBeLessThanOrEqual(262_144 + 65_536)
  }
  reader.resume()
  await until(() => sameBoard(author.doc, reader.doc), 'it has the board')
  expect(reader.isOver).toBe(false)
})
