/**
 * The loop's time is one budget. Somebody makes the server work as much as it can; two others draw in another room, and two in
 * the same one. That their edits pass while the work is still going on is seen by what is not there yet, which does not depend
 * on how busy the machine is; the delays asserted only catch disasters (the promise is 50 ms, 150 at worst).
 */
import { expect, type TestContext, test } from 'vitest'
import * as Y from 'yjs'
import { concurrentInserts } from '../support/dear-updates.ts'
import { type RawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

interface Probe {
  /** One edit from one to the other, ms. */
  edit(): Promise<number>
}

async function probe(t: TestContext, server: TestServer, room: string): Promise<Probe> {
  const from = stockClient(t, server.url, room)
  const to = stockClient(t, server.url, room)
  await Promise.all([from.synced(), to.synced()])
  let n = 0
  return {
    async edit() {
      const sent = performance.now()
      const value = ++n
      from.doc.getMap('probe').set('n', value)
      await until(() => to.doc.getMap('probe').get('n') === value, 'the probe’s edit passes', 10_000)
      return performance.now() - sent
    },
  }
}

const counted = (server: TestServer, name: string) => server.metric(name)

test('[LT1] [LT2] thousands of concurrent inserts at one place: others’ edits pass meanwhile, in the same room too', async (t) => {
  const server = await startServer(t)
  const elsewhere = await probe(t, server, 'elsewhere')
  const beside = await probe(t, server, 'board')
  const watcher = await rawMember(t, server.port, 'board')
  const sender = await rawMember(t, server.port, 'board')
  const COUNT = 1500
  sender.sendUpdate(concurrentInserts(1, COUNT))
  sender.sendUpdate(concurrentInserts(2, COUNT))
  const there = (): number => watcher.doc.getArray('a').length
  await until(() => there() > 0, 'it has begun')
  const delays: number[] = []
  for (let i = 0; i < 4; i++) delays.push(await elsewhere.edit(), await beside.edit())
  expect(there()).toBeLessThan(2 * COUNT)
  if (process.env.TEST_FIGURES) console.log(delays.map(Math.round), there())
  expect(Math.max(...delays)).toBeLessThan(4000)
  await until(() => there() === 2 * COUNT, 'all of it arrives', 60_000)
  expect(sender.isOver).toBe(false)
  // A turn or more for every few structs, rather than one for all.
  expect(await counted(server, 'loop_turn_seconds_count')).toBeGreaterThan(20)
  expect(await counted(server, 'loop_postponed_total{kind="flush"}')).toBeGreaterThan(20)
}, 120_000)

test('[LT1] [LT2] many rooms that each get a long answer at once: another room’s edits pass meanwhile', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 10_000 })
  const elsewhere = await probe(t, server, 'elsewhere')
  const doc = new Y.Doc()
  doc.transact(() => {
    const shapes = doc.getMap('shapes')
    for (let i = 0; i < 1500; i++) shapes.set(`shape ${i}`, new Y.Map([['label', 'x'.repeat(200)]]))
  })
  const board = Y.encodeStateAsUpdate(doc)
  expect(board.length).toBeGreaterThan(350_000)
  const ROOMS = 15
  const senders: RawClient[] = []
  for (let i = 0; i < ROOMS; i++) senders.push(await rawMember(t, server.port, `board-${i}`))
  const taken = (): Promise<number> => counted(server, 'room_flush_seconds_count')
  const before = await taken()
  for (const sender of senders) sender.sendUpdate(board)
  const delays: number[] = []
  for (let i = 0; i < 5; i++) delays.push(await elsewhere.edit())
  if (process.env.TEST_FIGURES) console.log(delays.map(Math.round), (await taken()) - before)
  expect(Math.max(...delays)).toBeLessThan(4000)
  // Each in several flushes, so that none holds the loop for long.
  const last = await rawMember(t, server.port, `board-${ROOMS - 1}`)
  await until(() => last.doc.getMap('shapes').size === 1500, 'the last board is whole', 30_000)
  expect((await taken()) - before).toBeGreaterThan(2 * ROOMS)
  expect(senders.some(({ isOver }) => isOver)).toBe(false)
}, 120_000)

test('[IN4] a long update whose predecessor never came is one event and no offence: asked for, and everybody has it', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const sender = await rawMember(t, server.port, 'board')
  const updates: Uint8Array[] = []
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => updates.push(update))
  const map = doc.getMap('m')
  map.set('first', 1)
  doc.transact(() => {
    for (let i = 0; i < 1000; i++) map.set(`shape ${i}`, 'x'.repeat(340))
  })
  expect(updates[1]!.length).toBeGreaterThan(340_000)
  // The sender has both, as a client has whose frame was lost on the way.
  for (const update of updates) Y.applyUpdate(sender.doc, update, sender)
  await until(async () => (await counted(server, 'ws_messages_received_total{type="sync"}')) >= 4, 'all have spoken')
  sender.sendUpdate(updates[1]!)
  await until(() => peer.doc.getMap('m').size === 1001, 'all of it arrives', 5000)
  expect(await counted(server, 'ws_resyncs_total{direction="in",cause="gap"}')).toBe(1)
  for (const reason of ['gap_overflow', 'gap_repeated']) {
    expect(await counted(server, `ws_message_errors_total{reason="${reason}"}`)).toBe(0)
  }
  expect(sender.isOver).toBe(false)
})

test('[LT3] a client over its share of the loop is slowed, and the rest of its updates comes later', async (t) => {
  const server = await startServer(t, { workMsPerSecond: 100, workBurstMs: 100 })
  const elsewhere = await probe(t, server, 'elsewhere')
  const watcher = await rawMember(t, server.port, 'board')
  const sender = await rawMember(t, server.port, 'board')
  const COUNT = 1200
  sender.sendUpdate(concurrentInserts(1, COUNT))
  sender.sendUpdate(concurrentInserts(2, COUNT))
  await until(
    async () => (await counted(server, 'loop_share_exceeded_total{outcome="slowed"}')) > 0,
    'it is slowed',
    20_000,
  )
  await elsewhere.edit()
  await until(() => watcher.doc.getArray('a').length === 2 * COUNT, 'all of it arrives', 60_000)
  expect(sender.isOver).toBe(false)
}, 120_000)
