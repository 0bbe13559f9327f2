import { expect, type TestContext, test } from 'vitest'
import type * as Y from 'yjs'
import { ADMIN_TOKEN, type ClientView, clientViews } from '../support/admin-view.ts'
import { pour, sameBoard } from '../support/boards.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const MiB = 1_048_576
/** `WS_MAX_BUFFERED_BYTES` and one frame (FC1). */
const HELD_BOUND = MiB + 65_536 + 16

/** Looks at what the server holds until it is told to stop. */
function watch(t: Pick<TestContext, 'onTestFinished'>, server: TestServer) {
  const states = new Set<ClientView['state']>()
  const seen = { maxHeld: 0, maxQueued: 0, looks: 0, states }
  let stopped = false
  t.onTestFinished(() => {
    stopped = true
  })
  void (async () => {
    while (!stopped) {
      for (const { heldBytes, queuedFrames, state } of await clientViews(server).catch(() => [])) {
        seen.maxHeld = Math.max(seen.maxHeld, heldBytes)
        seen.maxQueued = Math.max(seen.maxQueued, queuedFrames)
        states.add(state)
      }
      seen.looks++
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })()
  return seen
}

const start = (t: Pick<TestContext, 'onTestFinished'>) =>
  startServer(t, { adminToken: ADMIN_TOKEN, bufferSweepIntervalMs: 100 })

test('[FC4] [FC1] a reader stopped while 12 MB of edits pass has the same board within 5 s of reading on, in the same socket', async (t) => {
  const server = await start(t)
  const author = stockClient(t, server.url, 'board')
  const witness = stockClient(t, server.url, 'board')
  await Promise.all([author.synced(), witness.synced()])
  author.doc.getMap('m').set('old', 1)
  const reader = await rawMember(t, server.port, 'board', { record: false })
  await until(() => reader.doc.getMap('m').get('old') === 1, 'the reader is live')

  reader.pause()
  const seen = watch(t, server)
  pour(author.doc, 12 * MiB, 60_000)
  author.doc.getMap('m').delete('old')
  await until(() => sameBoard(author.doc, witness.doc), 'the witness has it all')
  await until(async () => (await server.metric('ws_buffered_bytes')) > 0, 'the server is left with a backlog')
  const before = reader.bytesRead

  const resumedAt = performance.now()
  reader.resume()
  await until(() => sameBoard(author.doc, reader.doc), 'the reader has it all', 5000)
  const tookMs = performance.now() - resumedAt
  expect(tookMs).toBeLessThan(5000)
  expect(reader.bytesRead - before).toBeGreaterThan(11 * MiB)
  expect({ isOver: reader.isOver, parked: reader.parked }).toEqual({ isOver: false, parked: 0 })
  expect(seen.maxHeld).toBeGreaterThan(0)
  expect(seen.maxHeld).toBeLessThanOrEqual(HELD_BOUND)
  expect(author.connections() + witness.connections()).toBe(2)

  // Live again, not only caught up.
  author.doc.getMap('m').set('new', 1)
  await until(() => reader.doc.getMap('m').get('new') === 1, 'the reader is live again', 1000)
  await until(async () => (await server.metric('ws_buffered_bytes')) === 0, 'nothing is held any more')
})

test('[FC4] [FR4] edits that land while a reader is holding, behind, or on its way back are neither lost nor early', async (t) => {
  const server = await start(t)
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const other = stockClient(t, server.url, 'board')
  await other.synced()
  const reader = await rawMember(t, server.port, 'board', { record: false })
  author.doc.getText('t').insert(0, 'some text that both of them edit')
  await until(() => other.doc.getText('t').length > 0 && reader.doc.getText('t').length > 0, 'all three are live')

  const seen = watch(t, server)
  // Rows stand in the order in which the clients came.
  const phase = async () => (await clientViews(server))[2]!.state
  const edit = edits(author.doc, other.doc)
  const editedIn = new Map<string, number>()
  const editIn = async (state: string) => {
    edit()
    editedIn.set(state, (editedIn.get(state) ?? 0) + 1)
    await until(() => sameBoard(author.doc, other.doc), 'the edit has passed the server')
  }
  // One frame a flush, each short enough to be held: the queue fills frame by frame, as it does in a busy room.
  const fillUntil = async (state: string) => {
    for (let frames = 0; (await phase()) !== state; frames++) {
      if (frames > 400) throw new Error(`24 MB and the reader is not ${state}`)
      pour(author.doc, 60_000, 60_000)
      await until(() => sameBoard(author.doc, other.doc), 'the frame has passed the server')
    }
  }

  reader.pause()
  await fillUntil('holding')
  await editIn('holding')
  expect(await phase()).toBe('holding')
  await fillUntil('behind')
  for (let i = 0; i < 8; i++) await editIn('behind')
  // It reads in sips; between two of them somebody edits, whatever the reader is owed at that moment.
  for (let sips = 0; sips < 200; sips++) {
    await reader.readSome(200_000)
    const state = await phase()
    await editIn(state === 'behind' ? 'recovering' : state)
    if (state === 'live') break
  }
  reader.resume()
  await until(() => sameBoard(author.doc, reader.doc), 'the reader has the same board', 5000)
  expect([...editedIn.keys()].sort()).toEqual(['behind', 'holding', 'live', 'recovering'])
  expect({ isOver: reader.isOver, parked: reader.parked }).toEqual({ isOver: false, parked: 0 })
  expect(seen.maxQueued).toBeGreaterThan(1)
  expect(seen.maxHeld).toBeLessThanOrEqual(HELD_BOUND)
})

/** Concurrent edits of two people to the same text, map and array; each call is one more, deletes among them. */
function edits(...authors: readonly Y.Doc[]): () => void {
  let n = 0
  return () => {
    const doc = authors[n % authors.length]!
    const text = doc.getText('t')
    const list = doc.getArray<number>('list')
    doc.transact(() => {
      text.insert(n % (text.length + 1), `<${n}>`)
      if (n % 3 === 0) text.delete(0, Math.min(3, text.length))
      doc.getMap('m').set(`k${n % 5}`, n)
      if (n % 7 === 0) doc.getMap('m').delete(`k${(n + 1) % 5}`)
      list.push([n])
      if (list.length > 20) list.delete(0, 5)
    })
    n++
  }
}
