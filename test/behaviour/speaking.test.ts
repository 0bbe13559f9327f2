import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import * as Y from 'yjs'
import { sameBoard } from '../support/boards.ts'
import { noticesOf } from '../support/notices.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { steady } from '../support/steady.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const LIMITED = 'ws_rate_limit_exceeded_total'
const SUPERSEDED = 'ws_presence_superseded_total'

async function pair(t: TestContext, server: TestServer) {
  const author = stockClient(t, server.url, 'board')
  const peer = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), peer.synced()])
  return { author, peer }
}

/** How late each key that is a number of `map` arrives at `doc`, ms, by the times in `sentAt`. */
function latenesses(doc: Y.Doc, sentAt: readonly number[]): number[] {
  const late: number[] = []
  doc.getMap('m').observe((event) => {
    for (const key of event.keysChanged) late.push(performance.now() - sentAt[Number(key)]!)
  })
  return late
}

test('[SP1] a pointer that reports at 144 Hz keeps no edit of its user: each is with the others within 2 s', {
  timeout: 20_000,
}, async (t) => {
  const server = await startServer(t, { presencePerSecond: 30 })
  const { author, peer } = await pair(t, server)
  const sentAt: number[] = []
  const late = latenesses(peer.doc, sentAt)
  await steady(5_000, [
    { hz: 144, work: (n) => author.awareness.setLocalStateField('cursor', { n }) },
    {
      hz: 1,
      work: (i) => {
        sentAt.push(performance.now())
        author.doc.getMap('m').set(String(i), i)
      },
    },
  ])
  await until(() => late.length === sentAt.length, 'every edit arrives', 2_000)
  expect(Math.max(...late)).toBeLessThan(2_000)
  const where = () => peer.awareness.getStates().get(author.doc.clientID)?.cursor?.n
  await until(() => where() === author.awareness.getLocalState()?.cursor.n, 'where the pointer stopped is seen', 1_000)
  expect(await server.metric(LIMITED)).toBe(0)
  expect(await server.metric(SUPERSEDED)).toBeGreaterThan(0)
  expect(author.connections()).toBe(1)
})

test('[SP1] of presence over the budget the newest state of each id counts, and no document frame pays for it', async (t) => {
  const server = await startServer(t, {
    presencePerSecond: 10,
    rateLimitMaxTokens: 20,
    rateLimitRefillWindowMs: 600_000,
  })
  const witness = await rawMember(t, server.port, 'board')
  const mover = await rawMember(t, server.port, 'board')
  mover.sendPresence([7, 1, { x: 0 }])
  for (let x = 1; x <= 100; x++) {
    mover.sendPresence([7, x + 1, { x }])
    // A sibling tab's broadcast, passed on by this connection.
    if (x % 10 === 0) mover.sendPresence([8, x, { tab: x }])
  }
  const seen = (id: number) => witness.presence().get(id)?.state
  await until(() => (seen(7) as { x: number })?.x === 100, 'the last place of one', 2_000)
  await until(() => (seen(8) as { tab: number })?.tab === 100, 'and of the other', 2_000)
  expect(await server.metric(SUPERSEDED)).toBeGreaterThan(80)
  for (let i = 0; i < 10; i++) mover.doc.getMap('m').set('k', i)
  await until(() => witness.doc.getMap('m').get('k') === 9, 'edits pass')
  expect(await server.metric(LIMITED)).toBe(0)
})

test('[SP1] "who is here?" over the budget is answered late and once', async (t) => {
  const server = await startServer(t, { presencePerSecond: 2 })
  const other = await rawMember(t, server.port, 'board')
  other.sendPresence([9, 1, { name: 'here' }])
  const client = await rawMember(t, server.port, 'board')
  await until(() => client.presence().has(9), 'it is told once')
  for (let i = 0; i < 50; i++) client.send(Uint8Array.of(3))
  await until(async () => (await server.metric(SUPERSEDED)) >= 45, 'most are superseded')
  client.frames.length = 0
  await until(() => client.presence().has(9), 'the newest is answered', 2_000)
  expect(client.isOver).toBe(false)
})

test('[SP2] what was dropped is asked for within 2 s of the first drop, whatever the client sends meanwhile', async (t) => {
  // A bucket that never recovers within the test.
  const server = await startServer(t, { rateLimitMaxTokens: 10, rateLimitRefillWindowMs: 600_000 })
  // Not as a stock client: it answers nothing, and asks all the while.
  const client = await rawClient(t, server.port, 'board')
  const doc = new Y.Doc()
  const frames: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => frames.push(Uint8Array.from([0, 2, update.length, ...update])))
  const edit = (i: number) => {
    doc.getMap('m').set('k', i)
    client.send(frames.pop()!)
  }
  const asked = () => client.frames.find(({ kind }) => kind === 'step1')
  const answer = () => client.send(Uint8Array.of(0, 1, 2, 0, 0))
  await until(() => asked() !== undefined, 'the first question')
  answer()
  for (let round = 0; round < 2; round++) {
    client.frames.length = 0
    const limited = await server.metric(LIMITED)
    while ((await server.metric(LIMITED)) === limited) edit(0)
    const droppedAt = performance.now()
    const flood = setInterval(() => {
      edit(1)
      client.sendPresence([5, Math.round(performance.now()), { x: 1 }])
      client.sendStep1()
    }, 8)
    t.onTestFinished(() => clearInterval(flood))
    await until(() => asked() !== undefined, 'the server asks', 3_000)
    expect(asked()!.at - droppedAt).toBeLessThan(2_000)
    clearInterval(flood)
    answer()
  }
  expect(client.isOver).toBe(false)
})

test('[SP2] 120 edits and 120 cursors a second far over the budget, and then the tab is closed: nothing older than 3 s is lost', {
  timeout: 20_000,
}, async (t) => {
  const server = await startServer(t, {
    rateLimitMaxTokens: 100,
    rateLimitRefillWindowMs: 5_000,
    presencePerSecond: 60,
  })
  const { author, peer } = await pair(t, server)
  const list = author.doc.getArray<number>('times')
  await steady(6_000, [
    { hz: 120, work: () => list.push([performance.now()]) },
    { hz: 120, work: (n) => author.awareness.setLocalStateField('cursor', { n }) },
  ])
  const closedAt = performance.now()
  author.provider.shouldConnect = false
  author.socket().terminate()
  await until(async () => (await server.metric('ws_active_sockets')) === 1, 'it is gone')
  await sleep(300)
  expect(await server.metric(LIMITED)).toBeGreaterThan(100)
  const arrived = peer.doc.getArray<number>('times').toArray()
  const lost = list.toArray().slice(arrived.length)
  expect(closedAt - (lost[0] ?? closedAt)).toBeLessThan(3_000)
  expect(peer.connections()).toBe(1)
})

test('[SP3] presence that asks too much is refused, counted and told, is no offence, and the document goes on', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const client = await rawMember(t, server.port, 'board?notices=1')
  const tooMuch: readonly (readonly [string, number, unknown])[] = [
    ['state_size', 1, 'x'.repeat(20_000)],
    ['nesting', 1, '['.repeat(101) + ']'.repeat(101)],
    ['clock', 2 ** 53 - 1, {}],
  ]
  for (const [reason, clock, state] of tooMuch) {
    for (let i = 0; i < 10; i++) client.sendPresence([44, clock, state])
    await until(
      async () => (await server.metric(`ws_presence_refused_total{reason="${reason}"}`)) === 10,
      `${reason} is counted`,
    )
  }
  await until(() => noticesOf(client).length > 0, 'it is told')
  // Once in five seconds.
  expect(noticesOf(client)).toEqual([{ kind: 'presence-refused', reason: 'state_size' }])
  client.sendPresence([44, 1, { name: 'small' }])
  await until(() => peer.awareness.getStates().get(44)?.name === 'small', 'a small one is shown')
  client.doc.getMap('m').set('k', 1)
  await until(() => peer.doc.getMap('m').get('k') === 1, 'its edits arrive')
  expect(sameBoard(client.doc, peer.doc)).toBe(true)
  expect(client.isOver).toBe(false)
})
