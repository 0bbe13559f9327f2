import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { dataDirectory } from '../support/data-directory.ts'
import { manyAuthors } from '../support/many-authors.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** So that what is tried is not the rate budget. */
const FAST = { rateLimitMaxTokens: 100_000, inboundBytesPerSecond: 64 << 20 }

test('[HI2] a stroke that is set again for every point of it leaves a board as large as its strokes', async (t) => {
  // A hundredth of the defaults: the sum of all that was ever set passes bytes and weight many times.
  const server = await startServer(t, { ...FAST, maxDocBytes: 160_000 })
  const peer = stockClient(t, server.url, 'board')
  const author = stockClient(t, server.url, 'board')
  await Promise.all([peer.synced(), author.synced()])
  const map = author.doc.getMap<{ points: object[] }>('strokes')
  for (let stroke = 0; stroke < 8; stroke++) {
    const points: object[] = []
    for (let i = 0; i < 300; i++) {
      points.push({ x: i, y: stroke })
      map.set(`stroke ${stroke}`, { points: [...points] })
    }
    const isThere = () =>
      (peer.doc.getMap<{ points: object[] }>('strokes').get(`stroke ${stroke}`)?.points.length ?? 0) === 300
    await until(isThere, 'the stroke is with the other')
  }
  expect([author.connections(), peer.connections()]).toEqual([1, 1])
  expect(await server.metric('ws_message_errors_total{reason="board_too_large"}')).toBe(0)
})

test('[HI2] a board that is over a limit takes edits again by itself once it was made smaller', async (t) => {
  const server = await startServer(t, { ...FAST, maxDocBytes: 20_000 })
  const member = await rawMember(t, server.port, 'board')
  const keeper = stockClient(t, server.url, 'board')
  await keeper.synced()
  const own = member.doc!
  // 168 000 bytes of weight, of 160 000 allowed, in 10 000 bytes of board; each update is fine by itself.
  for (const key of ['a', 'b', 'c'])
    own.getMap('m').set(
      key,
      Array.from({ length: 1000 }, () => []),
    )
  await until(() => keeper.doc.getMap('m').size === 3, 'all of it arrived: nothing was measured yet')
  await until(() => {
    if (!member.isOver) own.getMap('m').set('more', 1)
    return member.isOver
  }, 'the next writer is refused')
  expect(member.closeFrame).toEqual({ code: 4413, reason: 'board too large' })
  keeper.doc.getMap('m').delete('a')
  await until(async () => {
    const next = await rawMember(t, server.port, 'board')
    const key = `after ${next.doc!.clientID}`
    next.doc!.getMap('m').set(key, 1)
    await until(() => next.isOver || keeper.doc.getMap('m').has(key), 'it is taken or refused')
    return !next.isOver
  }, 'it takes edits again')
  expect(keeper.connections()).toBe(1)
})

test('[HI3] an update of 66 000 authors is refused with a reason, and the board goes on', async (t) => {
  const server = await startServer(t, FAST)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const crowd = await rawMember(t, server.port, 'board')
  crowd.sendUpdate(manyAuthors(66_000))
  await until(() => crowd.isOver, 'it is closed')
  expect(crowd.closeFrame).toEqual({ code: 4413, reason: 'board too large' })
  expect(await server.metric('ws_message_errors_total{reason="board_too_large"}')).toBe(1)
  const other = stockClient(t, server.url, 'board')
  await other.synced()
  other.doc.getMap('m').set('edit', 1)
  await until(() => peer.doc.getMap('m').get('edit') === 1, 'edits go on')
  expect(peer.doc.store.clients.size).toBe(1)
})

test('[HI3] on a board of as many authors as it may have those go on; another one reads, and is told when it writes', async (t) => {
  const server = await startServer(t, { ...FAST, maxDocAuthors: 1000 })
  const known = await rawMember(t, server.port, 'board')
  known.doc!.getMap('m').set('first', 1)
  known.sendUpdate(manyAuthors(999))
  const newcomer = stockClient(t, server.url, 'board')
  await newcomer.synced()
  await until(() => newcomer.doc.store.clients.size === 1000, 'the board is full')
  known.doc!.getMap('m').set('second', 2)
  await until(() => newcomer.doc.getMap('m').get('second') === 2, 'who is known goes on')
  let closed: { code: number; reason: string } | null = null
  newcomer.provider.on('closed', (event: { code: number; reason: string }) => {
    closed = event
  })
  newcomer.doc.getMap('m').set('third', 3)
  await until(() => closed !== null, 'it is told')
  expect(closed).toMatchObject({ code: 4413, reason: 'board too large' })
  expect([known.isOver, known.doc!.getMap('m').has('third')]).toEqual([false, false])
})

test('[HI3] a SyncStep1 that names twice what a board may hold is answered, one more is told why not', async (t) => {
  const server = await startServer(t, { ...FAST, maxDocAuthors: 1000 })
  const vectorOf = (authors: number) =>
    Y.encodeStateVector(new Map(Array.from({ length: authors }, (_, i) => [i + 1, 5])))
  const asking = await rawClient(t, server.port, 'board')
  asking.sendStep1(vectorOf(2000))
  await until(() => asking.frames.some(({ kind }) => kind === 'step2'), 'it is answered')
  asking.sendStep1(vectorOf(2001))
  await until(() => asking.isOver, 'it is closed')
  expect(asking.closeFrame).toEqual({ code: 4413, reason: 'board too large' })
})

test('[FC9] a reader that stopped under updates of 32 KB at 100 a second counts as dropping, and its updates as as late as they were', async (t) => {
  const server = await startServer(t, FAST)
  const reader = await rawMember(t, server.port, 'board')
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const text = () => Math.random().toString(36).repeat(2900).slice(0, 32_000)
  const map = author.doc.getMap('m')
  map.set('shape', text())
  await until(() => reader.doc!.getMap('m').has('shape'), 'it reads')
  reader.pause()
  // The kernel swallows some megabytes first.
  let edits = 0
  const drawing = setInterval(() => map.set(`shape ${edits++ % 4}`, text()), 10)
  t.onTestFinished(() => clearInterval(drawing))
  await until(async () => (await server.metric('ws_backpressure_drops_total')) > 5, 'it counts as dropping', 20_000)
  clearInterval(drawing)
  const late = async () =>
    (await server.metric('ws_delivery_delay_seconds_count')) -
    (await server.metric('ws_delivery_delay_seconds_bucket{le="1"}'))
  const before = await late()
  await new Promise((resolve) => setTimeout(resolve, 1200))
  reader.resume()
  await until(
    () => [0, 1, 2, 3].every((i) => reader.doc!.getMap('m').get(`shape ${i}`) === map.get(`shape ${i}`)),
    'level',
  )
  await until(async () => (await late()) > before, 'it was more than a second late')
})

test('[HI3] [AC6] who names the authors of a deleted board is told that, however many it names', async (t) => {
  const dataDir = dataDirectory(t)
  const server = await startServer(t, { ...FAST, storage: 'lmdb', dataDir, adminToken: 'secret', maxDocAuthors: 100 })
  const author = await rawMember(t, server.port, 'board')
  author.doc!.getMap('m').set('old', 1)
  await until(async () => (await server.metric('storage_commits_total')) > 0, 'it is stored')
  const headers = { authorization: 'Bearer secret' }
  const answer = await fetch(`${server.httpUrl}/admin/rooms/board`, { method: 'DELETE', headers })
  expect(await answer.json()).toEqual({ deleted: true, closed: 1 })
  const vector = new Map(Array.from({ length: 500 }, (_, i) => [i + 1, 5]))
  const stranger = await rawClient(t, server.port, 'board')
  stranger.sendStep1(Y.encodeStateVector(vector))
  await until(() => stranger.isOver, 'the stranger is closed')
  expect(stranger.closeFrame).toEqual({ code: 4413, reason: 'board too large' })
  const back = await rawClient(t, server.port, 'board')
  back.sendStep1(Y.encodeStateVector(vector.set(author.doc!.clientID, 1)))
  await until(() => back.isOver, 'who had the board is closed')
  expect(back.closeFrame).toEqual({ code: 4410, reason: 'board deleted' })
})
