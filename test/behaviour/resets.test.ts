import { expect, test } from 'vitest'
import { startServerProcess } from '../support/process.ts'
import { type RawClient, rawClient, rawMember } from '../support/raw-client.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const SOCKETS = 500
const AT_ONCE = 25

// Every stock provider and every process that is started listens for the end of this one.
process.setMaxListeners(0)

test('[OP5] 500 sockets reset 0-30 ms after the upgrade, in the middle of anything, leave nothing behind', async (t) => {
  // A process of its own: what it throws is not swallowed by the test runner, and it is as concurrent as it is in life.
  const server = await startServerProcess(t, { ROOM_IDLE_MS: '100', MAX_CONNECTIONS_PER_IP: '1000' })
  const metric = async (name: string): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    )
  }
  const author = stockClient(t, `ws://127.0.0.1:${server.port}`, 'board')
  const witness = await rawMember(t, server.port, 'board')
  await author.synced()
  author.doc.getText('t').insert(0, 'x'.repeat(20_000))
  let n = 0
  const drawing = setInterval(() => author.doc.getMap('m').set(`k${n % 20}`, n++), 20)
  t.onTestFinished(() => clearInterval(drawing))
  const before = { sockets: await metric('ws_active_sockets'), rooms: await metric('rooms_active') }
  expect(before).toEqual({ sockets: 2, rooms: 1 })

  let opened = 0
  const visit = async (i: number): Promise<void> => {
    const client = await rawClient(t, server.port, i % 3 === 0 ? `other-${i % 40}` : 'board', { record: false })
    if (client.isUpgraded) opened++
    const doing = DOINGS[i % DOINGS.length]!
    doing(client, i)
    const delayMs = (i * 7) % 31
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    client.reset()
  }
  for (let i = 0; i < SOCKETS; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => visit(i + k)))

  expect(opened).toBe(SOCKETS)
  await until(async () => (await metric('ws_active_sockets')) === before.sockets, 'all sockets are gone')
  await until(async () => (await metric('rooms_active')) === before.rooms, 'all other rooms are gone')
  clearInterval(drawing)
  author.doc.getMap('m').set('last', n)
  await until(() => witness.doc.getMap('m').get('last') === n, 'the room goes on')
  await until(() => author.awareness.getStates().size === 1, 'nobody is left in the list')
  expect(witness.parked).toBe(0)
  expect(author.connections()).toBe(1)
  // pino's levels: 50 is error.
  expect(
    server
      .output()
      .split('\n')
      .filter((line) => /"level":[56]0/.test(line) || /^\s+at /.test(line)),
  ).toEqual([])
  expect(server.child.exitCode).toBeNull()
})

/** What a client was doing when it was reset. */
const DOINGS: readonly ((client: RawClient, i: number) => void)[] = [
  () => {},
  (client) => {
    client.join()
  },
  (client, i) => {
    client.join()
    client.sendPresence([10_000 + i, 1, { name: `n${i}` }])
  },
  (client, i) => {
    client
      .join()
      .getMap('m')
      .set(`from ${i % 7}`, i)
  },
  (client) => {
    client.join()
    client.pause()
  },
  (client) => {
    // The beginning of a frame of 100 bytes, and no more.
    client.socket.write(Uint8Array.of(0x82, 0x80 | 100, 1, 2, 3, 4, 0, 0))
  },
  (client) => {
    for (let i = 0; i < 6; i++) client.send(Uint8Array.of(9))
  },
  (client) => {
    client.close()
  },
]
