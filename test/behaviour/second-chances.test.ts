import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { noticesOf } from '../support/notices.ts'
import { type RawClient, rawClient } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[FC7] [FC10] a client that was evicted too often comes back coalesced, is told, converges, and is let off after a clean window', async (t) => {
  const server = await startServer(t, {
    maxCongestedMs: 300,
    closeGraceMs: 100,
    slowClientBufferBytes: 65_536,
    evictionsBeforeDegraded: 2,
    evictionWindowMs: 3000,
    degradedIntervalMs: 200,
    // A room that gathers fills a stalled socket so slowly that the first eviction can be out of the window before the next.
    roomFlushIntervalMs: 0,
    // The author is faster than a person: what is tested is the reader.
    rateLimitMaxTokens: 100_000,
    inboundBytesPerSecond: 1 << 28,
  })
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const join = async (): Promise<RawClient> => {
    const client = await rawClient(t, server.port, 'board?notices=1')
    const doc = new Y.Doc()
    client.sendStep1()
    client.sendPresence([77, 1, { name: 'slow' }])
    client.doc = doc
    await until(() => client.isSynced, 'it is synced')
    return client
  }
  for (let round = 1; round <= 2; round++) {
    const slow = await join()
    expect(noticesOf(slow).filter(({ kind }) => kind === 'degraded')).toEqual([])
    slow.pause()
    const evicted = async () => (await server.metric('ws_clients_dropped_total{reason="congested"}')) === round
    for (let i = 0; !(await evicted()); i++) {
      author.doc.getMap('m').set('k', `${i}`.repeat(40_000))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    slow.reset()
  }
  author.doc.getMap('m').set('k', 'small again')
  const back = await join()
  await until(() => noticesOf(back).some(({ kind }) => kind === 'degraded'), 'it is told')
  expect(noticesOf(back).find(({ kind }) => kind === 'degraded')).toEqual({ kind: 'degraded', intervalMs: 200 })
  const before = back.frames.filter(({ kind }) => kind === 'update').length
  const started = performance.now()
  for (let i = 0; i < 60; i++) {
    author.doc.getMap('m').set('n', i)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await until(() => back.doc!.getMap('m').get('n') === 59, 'the last edit arrives')
  const updates = back.frames.filter(({ kind }) => kind === 'update').length - before
  expect(updates).toBeLessThanOrEqual(Math.ceil((performance.now() - started) / 200) + 1)
  await until(() => noticesOf(back).some(({ kind }) => kind === 'degraded-lifted'), 'a clean window lifts it', 8000)
  expect(back.isOver).toBe(false)
}, 60_000)

test('[FC10] nobody who did not ask gets a notice, limited or not', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 20, rateLimitRefillWindowMs: 1000 })
  const [asked, plain] = await Promise.all(['board?notices=1', 'board'].map((path) => rawClient(t, server.port, path)))
  for (const client of [asked!, plain!]) {
    client.join()
    await until(() => client.isSynced, 'it is synced')
    for (let i = 0; i < 60; i++) client.doc!.getMap('m').set('k', i)
  }
  await until(() => noticesOf(asked!).length === 2, 'it is told when it is limited and when not any more')
  expect(noticesOf(asked!)).toEqual([{ kind: 'limited' }, { kind: 'limit-lifted' }])
  expect(noticesOf(plain!)).toEqual([])
})
