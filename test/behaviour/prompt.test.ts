/** Two ways an update travels: at once, before the document has it, and gathered. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

// On a machine that runs other tests the loop may look busy: 0 keeps edits prompt all the same.
const PROMPT = { roomFlushIntervalMs: 0 }
const relayed = 'room_updates_total{way="relayed"}'
const gathered = 'room_updates_total{way="gathered"}'

test('[FR8] [FR3] strokes are sent on as they came, and whoever joins in between has all of them', async (t) => {
  const server = await startServer(t, { ...PROMPT, storage: 'lmdb', dataDir: dataDirectory(t) })
  const [ann, bob] = [stockClient(t, server.url, 'room'), stockClient(t, server.url, 'room')]
  await Promise.all([ann.synced(), bob.synced()])
  const joiners = []
  for (const { doc } of [ann, bob]) {
    const stroke = new Y.Map<unknown>()
    stroke.set('points', new Y.Array<number>())
    doc.getMap('strokes').set(`${doc.clientID}`, stroke)
  }
  for (let i = 0; i < 100; i++) {
    for (const { doc } of [ann, bob]) {
      const points = (doc.getMap('strokes').get(`${doc.clientID}`) as Y.Map<Y.Array<number>>).get('points')!
      points.push([i, i + 1, 0.5])
      doc.getMap('last').set('by', doc.clientID)
    }
    if (i % 20 === 0) joiners.push(stockClient(t, server.url, 'room'))
    await sleep(3)
  }
  const all = [ann, bob, ...joiners]
  await Promise.all(joiners.map((joiner) => joiner.synced()))
  await until(() => all.every(({ doc }) => sameBoard(doc, ann.doc)), 'all are equal')
  expect(all.map((client) => client.connections())).toEqual(all.map(() => 1))
  // Most of it, whatever else had to be gathered.
  expect(await server.metric(relayed)).toBeGreaterThan(300)
  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'it is saved')
})

test('[FR8] what was relayed is stored, and there after a restart', async (t) => {
  const settings = { ...PROMPT, storage: 'lmdb' as const, dataDir: dataDirectory(t) }
  const server = await startServer(t, settings)
  const ann = stockClient(t, server.url, 'room')
  await ann.synced()
  const map = ann.doc.getMap('m')
  // One at a time: what comes while another waits to be gathered has to wait behind it.
  for (let i = 0; (await server.metric(relayed)) <= 30; i++) {
    map.set(`k${i % 7}`, i)
    await until(async () => (await server.metric(relayed)) + (await server.metric(gathered)) > i, 'it is there')
  }
  await server.close()
  const next = await startServer(t, settings)
  const reader = stockClient(t, next.url, 'room')
  await reader.synced()
  expect(sameBoard(reader.doc, ann.doc)).toBe(true)
})

test('[FR3] what comes again, or is nothing new, is sent to nobody', async (t) => {
  const server = await startServer(t, PROMPT)
  const ann = await rawMember(t, server.port, 'room')
  const bob = stockClient(t, server.url, 'room')
  await bob.synced()
  let heard = 0
  bob.doc.on('update', () => heard++)
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let i = 0; i < 10; i++) doc.getArray('a').push([i])
  for (const update of updates) ann.sendUpdate(update)
  await until(() => bob.doc.getArray('a').length === 10, 'they are there')
  const heardBefore = heard
  const before = await server.metric('ws_messages_sent_total{type="sync"}')
  for (const update of updates) ann.sendUpdate(update)
  const marker = new Y.Doc()
  marker.getMap('marker').set('here', true)
  ann.sendUpdate(Y.encodeStateAsUpdate(marker))
  await until(() => bob.doc.getMap('marker').has('here'), 'what came after is there')
  expect(heard - heardBefore).toBe(1)
  expect((await server.metric('ws_messages_sent_total{type="sync"}')) - before).toBe(1)
})

test('[FR8] [FC4] a reader that stops among relayed updates has all of them when it reads on', async (t) => {
  const server = await startServer(t, {
    ...PROMPT,
    rateLimitMaxTokens: 100_000,
    inboundBytesPerSecond: 1 << 26,
    maxMessageBytes: 1 << 26,
  })
  const ann = stockClient(t, server.url, 'room')
  const slow = stockClient(t, server.url, 'room')
  await Promise.all([ann.synced(), slow.synced()])
  slow.socket().pause()
  for (let i = 0; i < 1_200; i++) {
    ann.doc.getMap('m').set(`k${i % 40}`, 'x'.repeat(20_000))
    if (i % 10 === 0) await sleep(2)
  }
  await until(async () => (await server.metric('ws_messages_dropped_total{type="sync"}')) > 0, 'it is behind')
  slow.socket().resume()
  await until(() => sameBoard(slow.doc, ann.doc), 'it has everything', 15_000)
  expect(slow.connections()).toBe(1)
})
