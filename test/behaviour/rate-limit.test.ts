import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { sameBoard } from '../support/boards.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const LIMITED = 'ws_rate_limit_exceeded_total'

test('[IN1] [IN2] of 2 000 edits in a second some are over the budget, the socket stays, and all of them reach the others', async (t) => {
  const server = await startServer(t)
  const author = stockClient(t, server.url, 'board')
  const other = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), other.synced()])
  const map = author.doc.getMap<number>('m')
  const began = performance.now()
  for (let i = 0; i < 2000; ) {
    // By the clock, so that a busy machine makes larger bursts of it and not a slower author.
    for (const due = (performance.now() - began) * 2; i < Math.min(due, 2000); i++) map.set(`e${i}`, i)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until(() => other.doc.getMap('m').size === 2000, 'the other has all of them')
  expect(await server.metric(LIMITED)).toBeGreaterThan(500)
  expect(await server.metric('ws_resyncs_total{direction="in",cause="rate_limited"}')).toBeGreaterThan(0)
  expect([author.connections(), other.connections()]).toEqual([1, 1])

  // The budget recovers: then a single edit passes at once again, and is no longer limited.
  await until(() => sameBoard(author.doc, other.doc), 'both have the same board')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const limited = await server.metric(LIMITED)
  map.set('last', 1)
  await until(() => other.doc.getMap('m').has('last'), 'the last edit arrives', 500)
  expect(await server.metric(LIMITED)).toBe(limited)
})

test('[IN2] two people over their budgets at once, who edit the same things, agree in the end', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 40, rateLimitRefillWindowMs: 1000 })
  const [a, b, other] = ['board', 'board', 'board'].map((room) => stockClient(t, server.url, room))
  await Promise.all([a!.synced(), b!.synced(), other!.synced()])
  for (let i = 0; i < 300; i++) {
    const { doc } = i % 2 === 0 ? a! : b!
    const text = doc.getText('t')
    text.insert(i % (text.length + 1), `<${i}>`)
    if (i % 5 === 0) text.delete(0, Math.min(4, text.length))
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until(() => sameBoard(a!.doc, b!.doc) && sameBoard(a!.doc, other!.doc), 'all agree')
  expect(await server.metric(LIMITED)).toBeGreaterThan(0)
  expect(a!.connections() + b!.connections() + other!.connections()).toBe(3)
})

test('[IN1] bytes are budgeted beside frames', async (t) => {
  const server = await startServer(t, {
    maxMessageBytes: 200_000,
    maxDocBytes: 16_777_216,
    inboundBytesPerSecond: 200_000,
  })
  const author = stockClient(t, server.url, 'board')
  const other = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), other.synced()])
  for (let i = 0; i < 6; i++) author.doc.getArray('a').push(['x'.repeat(30_000)])
  author.doc.getArray('a').push(['y'.repeat(30_000)])
  await until(() => sameBoard(author.doc, other.doc), 'all of it arrives')
  expect(await server.metric(LIMITED)).toBeGreaterThan(0)
  expect(author.connections()).toBe(1)
})

test('[IN1] a SyncStep1 over the budget is answered late, not never', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 5, rateLimitRefillWindowMs: 1000 })
  const client = await rawMember(t, server.port, 'board')
  for (let i = 0; i < 40; i++) client.doc.getMap('m').set('k', i)
  client.frames.length = 0
  client.sendStep1()
  await until(() => client.frames.some(({ kind }) => kind === 'step2'), 'the answer', 3000)
})

test('[IN1] [IN5] an update of over 1 MiB pays for its structs when it has been checked', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 100, rateLimitRefillWindowMs: 600_000 })
  const author = await rawMember(t, server.port, 'board')
  const other = stockClient(t, server.url, 'board')
  await other.synced()
  author.doc.transact(() => {
    for (let i = 0; i < 40_000; i++) author.doc.getMap('m').set(`key ${i}`, 'x'.repeat(20))
  })
  await until(() => other.doc.getMap('m').size === 40_000, 'it arrives', 30_000)
  // Some 80 of 100 tokens are gone.
  for (let i = 0; i < 50; i++) author.doc.getMap('n').set(`${i}`, i)
  await until(async () => (await server.metric(LIMITED)) > 20, 'the budget is used up')
}, 60_000)

test('[IN1] reconnecting buys nothing', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 100, rateLimitRefillWindowMs: 60_000 })
  const doc = new Y.Doc()
  const flood = async () => {
    const client = await rawMember(t, server.port, 'board', { doc: new Y.Doc() })
    for (let i = 0; i < 90; i++) client.doc.getMap('m').set('k', i)
    const before = await server.metric('ws_messages_received_total{type="sync"}')
    client.sendStep1()
    await until(async () => (await server.metric('ws_messages_received_total{type="sync"}')) > before, 'it was read')
    client.reset()
    await until(async () => (await server.metric('ws_active_sockets')) === 0, 'it is gone')
  }
  await flood()
  expect(await server.metric(LIMITED)).toBe(0)
  await flood()
  expect(await server.metric(LIMITED)).toBeGreaterThan(50)
  doc.destroy()
})

test('[IN4] an update whose predecessor is missing is healed within a second by asking its author', async (t) => {
  const server = await startServer(t)
  const author = await rawMember(t, server.port, 'board')
  const other = stockClient(t, server.url, 'board')
  await other.synced()
  // Its own room: the author edits without telling, then tells only the last.
  const silent = new Y.Doc()
  silent.getText('t').insert(0, 'the beginning is missing')
  const before = Y.encodeStateVector(silent)
  silent.getText('t').insert(0, '!')
  author.doc = silent
  author.sendUpdate(Y.encodeStateAsUpdate(silent, before))
  await until(() => other.doc.getText('t').toString() === '!the beginning is missing', 'it is healed', 1000)
  expect(await server.metric('ws_resyncs_total{direction="in",cause="gap"}')).toBe(1)
  expect(author.isOver).toBe(false)
})
