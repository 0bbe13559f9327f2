import { expect, test } from 'vitest'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const refused: readonly (readonly [string, string])[] = [
  ['empty', ''],
  ['empty, with a query', '?room=board'],
  ['513 bytes', 'a'.repeat(513)],
  ['257 letters of two bytes', '%C3%A9'.repeat(257)],
  ['a lone percent sign', '100%'],
  ['no hexadecimal digits', '%zz'],
  ['not UTF-8', '%ff%fe'],
  ['half a character', '%E2%82'],
]

test.for(refused)('[FR1] a room name that is %s is refused with 4400', async ([_what, path], t) => {
  const server = await startServer(t)
  const client = await rawClient(t, server.port, path)
  client.sendStep1()
  await until(() => client.isOver, 'the connection is over')
  expect(client.closeFrame).toEqual({ code: 4400, reason: 'bad room name' })
  expect(client.frames).toEqual([])
  expect(await server.metric('rooms_active')).toBe(0)
  expect(await server.metric('ws_closes_total{code="4400"}')).toBe(1)
})

const accepted: readonly (readonly [string, string])[] = [
  ['512 bytes', 'a'.repeat(512)],
  ['256 letters of two bytes', '%C3%A9'.repeat(256)],
  ['metrics', 'metrics'],
  ['healthz', 'healthz'],
  ['readyz', 'readyz'],
  ['admin/clients', 'admin/clients'],
  ['a file of the page', 'index.html'],
  ['slashes alone', '//'],
  ['__proto__', '__proto__'],
]

test.for(accepted)('[FR1] a room may be called %s', async ([_what, path], t) => {
  const server = await startServer(t)
  const a = await rawMember(t, server.port, path)
  const b = stockClient(t, server.url, path)
  await b.synced()
  b.doc.getMap('m').set('k', 1)
  await until(() => a.doc.getMap('m').get('k') === 1, 'they are in one room')
  expect((await fetch(`${server.httpUrl}/healthz`)).status).toBe(200)
})

test('[FR1] a name is decoded once, and its query is no part of it', async (t) => {
  const server = await startServer(t)
  const [plain, query, twice] = await Promise.all(
    ['a%2Fb', 'a/b?x=1', 'a%252Fb'].map((path) => rawMember(t, server.port, path)),
  )
  plain!.doc.getMap('m').set('k', 1)
  await until(() => query!.doc.getMap('m').get('k') === 1, 'the query is no part of the name')
  expect(await server.metric('rooms_active')).toBe(2)
  expect(twice!.doc.getMap('m').size).toBe(0)
})

test('[FR1] a stock client that is refused stops for good', async (t) => {
  const server = await startServer(t)
  const client = stockClient(t, server.url, 'x'.repeat(600))
  const closed = new Promise((resolve) => {
    client.provider.on('closed', resolve)
  })
  expect(await closed).toMatchObject({ code: 4400, reason: 'bad room name' })
  expect(client.provider.shouldConnect).toBe(false)
  expect(client.connections()).toBe(1)
})

test('[FR7] an empty room leaves memory, and coming back at any moment finds one room', async (t) => {
  const server = await startServer(t, { roomIdleMs: 50 })
  const stays = stockClient(t, server.url, 'stays')
  await stays.synced()
  // Around the moment at which the room goes: before, at it, after it.
  for (const waitMs of [0, 20, 45, 50, 55, 70, 100, 0, 50, 50]) {
    const a = await rawMember(t, server.port, 'board')
    const b = await rawMember(t, server.port, 'board')
    a.doc.getMap('m').set('k', waitMs)
    await until(() => b.doc.getMap('m').get('k') === waitMs, 'a and b are in one room')
    a.close()
    b.reset()
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  await until(async () => (await server.metric('rooms_active')) === 1, 'only the room with somebody in it is left')
})
