import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[IN2] a paste of 500 shapes, deleted, undone and redone, is complete with the others on the same sockets, beside an abuser', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  const author = stockClient(t, server.url, 'board')
  const abuser = await rawMember(t, server.port, 'elsewhere')
  await Promise.all([peer.synced(), author.synced()])
  const abuse = setInterval(() => {
    for (let i = 0; i < 20; i++) abuser.doc.getMap('m').set('k', i)
  }, 10)
  t.onTestFinished(() => clearInterval(abuse))

  const shapes = author.doc.getMap<Y.Map<unknown>>('shapes')
  const undo = new Y.UndoManager(shapes, { captureTimeout: 0 })
  const set = (from: number, to: number): void => {
    for (let i = from; i < to; i++) shapes.set(`s${i}`, new Y.Map(Object.entries({ pos: [i, i], kind: 'rectangle' })))
  }
  const started = performance.now()
  for (let i = 0; i < 10; i++) {
    set(i * 50, i * 50 + 50)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  author.doc.transact(() => {
    for (const key of [...shapes.keys()]) shapes.delete(key)
  })
  undo.undo()
  undo.redo()
  undo.undo()
  expect(shapes.size).toBe(500)
  const whole = author.doc.getMap('shapes').toJSON()
  await until(
    () => isDeepStrictEqual(peer.doc.getMap<Y.Map<unknown>>('shapes').toJSON(), whole),
    'all shapes are with the other',
    8000,
  )
  expect(performance.now() - started).toBeLessThan(8000)
  expect([author.connections(), peer.connections()]).toEqual([1, 1])
  expect(await server.metric('ws_rate_limit_exceeded_total')).toBeGreaterThan(0)
  expect(abuser.isOver).toBe(false)
}, 30_000)

test('[IN1] reconnecting buys nothing: the next connection from the address goes on with the budget the last one left', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 50, rateLimitRefillWindowMs: 60_000 })
  const first = await rawMember(t, server.port, 'board')
  for (let i = 0; i < 100; i++) first.doc.getMap('m').set('k', i)
  await until(async () => (await server.metric('ws_rate_limit_exceeded_total')) > 0, 'it is limited')
  first.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'it is gone')
  const before = await server.metric('ws_rate_limit_exceeded_total')
  const second = await rawMember(t, server.port, 'board').catch(() => null)
  second?.doc.getMap('m').set('k', 1)
  await until(async () => (await server.metric('ws_rate_limit_exceeded_total')) > before, 'it is limited at once')
})

test('[IN1] a question that draws a large reply costs more than a frame, and is put off, never dropped', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 60, rateLimitRefillWindowMs: 1000 })
  const author = await rawMember(t, server.port, 'board')
  author.doc.getText('t').insert(0, 'x'.repeat(600_000))
  const asker = await rawMember(t, server.port, 'board')
  await until(() => asker.doc.getText('t').length === 600_000, 'the board is there')
  const answers = (): number => asker.frames.filter(({ kind }) => kind === 'step2').length
  const before = answers()
  for (let i = 0; i < 20; i++) asker.sendStep1()
  await until(
    async () => (await server.metric('ws_rate_limit_exceeded_total')) > 0,
    'the questions are over the budget',
  )
  await until(() => answers() > before, 'an answer comes all the same')
  expect(asker.isOver).toBe(false)
})
