import { expect, test } from 'vitest'
import { announce, FREE_FRAMES, type FreeFrame } from '../support/free-frames.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const TOO_MANY = { code: 1013, reason: 'too many frames' }
const floods = (server: TestServer, scope: string) => server.metric(`ws_floods_total{scope="${scope}"}`)

async function framesRead(server: TestServer): Promise<number> {
  const text = await (await fetch(`${server.httpUrl}/metrics`)).text()
  const samples = text.match(/^ws_messages_received_total\{.*$/gm) ?? []
  return samples.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)
}

test.for(Object.keys(FREE_FRAMES) as FreeFrame[])(
  '[SP5] %s without end close their sender, and what else it had sent in that moment is not read',
  async (kind, t) => {
    // A thousand at once.
    const server = await startServer(t, { maxFramesPerSecond: 100 })
    const peer = stockClient(t, server.url, 'another')
    const friend = stockClient(t, server.url, 'another')
    await Promise.all([peer.synced(), friend.synced()])
    const flooder = await rawMember(t, server.port, 'board')
    flooder.socket.write(announce())
    const before = await framesRead(server)
    flooder.socket.write(Buffer.concat(Array.from({ length: 20_000 }, () => FREE_FRAMES[kind])))
    await until(() => flooder.isOver, 'it is closed')
    expect(flooder.closeFrame).toEqual(TOO_MANY)
    expect(await floods(server, 'connection')).toBe(1)
    expect((await framesRead(server)) - before).toBeLessThan(1_500)
    peer.doc.getMap('m').set('k', 1)
    await until(() => friend.doc.getMap('m').get('k') === 1, 'others go on', 1_000)
    expect([peer.connections(), friend.connections()]).toEqual([1, 1])
  },
)

test('[SP5] text frames without end: the same', async (t) => {
  const server = await startServer(t)
  const flooder = await rawClient(t, server.port, 'board')
  for (let i = 0; i < 1000; i++) flooder.sendText('a')
  await until(() => flooder.isOver, 'it is closed')
  expect(flooder.closeFrame).toEqual({ code: 4422, reason: 'malformed input' })
  expect(await server.metric('ws_messages_received_total{type="text"}')).toBeLessThanOrEqual(1000)
})

test('[SP5] many connections of one address that together send too much are closed; who sends little from there is not', async (t) => {
  // 1 500 at once for an address, of which each may have sent 25.
  const server = await startServer(t, { maxFramesPerSecond: 100 })
  const innocent = stockClient(t, server.url, 'board')
  const friend = stockClient(t, server.url, 'board')
  await Promise.all([innocent.synced(), friend.synced()])
  const crowd = await Promise.all(Array.from({ length: 20 }, () => rawClient(t, server.port, 'attacked')))
  for (const { socket } of crowd) socket.write(Buffer.concat(Array.from({ length: 200 }, () => FREE_FRAMES.pongs)))
  await until(() => crowd.some(({ isOver }) => isOver), 'some are closed')
  // The close frames of those that come after the first are kept back; who goes on meanwhile is cut.
  expect(crowd.flatMap(({ closeFrame }) => closeFrame ?? [])[0]).toEqual(TOO_MANY)
  expect(await floods(server, 'connection')).toBe(0)
  expect(await floods(server, 'address')).toBeGreaterThan(5)
  for (let i = 0; i < 10; i++) innocent.doc.getMap('m').set('k', i)
  await until(() => friend.doc.getMap('m').get('k') === 9, 'the innocent goes on', 1_000)
  expect(innocent.connections()).toBe(1)
})

test('[SP5] pings, pongs and text frames are counted as received', async (t) => {
  const server = await startServer(t)
  const client = await rawMember(t, server.port, 'board')
  client.sendPing()
  client.socket.write(FREE_FRAMES.pongs)
  client.socket.write(FREE_FRAMES.pongs)
  client.sendText('a')
  await until(async () => (await server.metric('ws_messages_received_total{type="text"}')) === 1, 'all are read')
  expect(await server.metric('ws_messages_received_total{type="ping"}')).toBe(1)
  expect(await server.metric('ws_messages_received_total{type="pong"}')).toBe(2)
})
