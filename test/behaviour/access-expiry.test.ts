/** A live socket ends with its token: at its expiry, or when it is taken back. */
import { exportJWK, generateKeyPair } from 'jose'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import type { Config } from '../../src/server.ts'
import { closedFor, keyServer, SECRET, seconds, token } from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const start = (t: TestContext, config: Partial<Config> = {}): Promise<TestServer> =>
  startServer(t, { authJwtSecret: SECRET, adminToken: ADMIN_TOKEN, ...config })

async function revoke(server: TestServer, what: object): Promise<number> {
  const response = await fetch(`${server.httpUrl}/admin/revoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify(what),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { closed: number }).closed
}

test('[AC3] a socket ends at its expiry with 4401; what is drawn after it reaches nobody, and a stock client stops', async (t) => {
  const server = await start(t)
  const witness = await rawMember(t, server.port, `board?token=${await token()}`)
  const expiresAt = Date.now() + 2000
  const short = await token({ exp: expiresAt / 1000 })
  const stock = stockClient(t, server.url, 'board', { params: { token: short } })
  const raw = await rawMember(t, server.port, `board?token=${short}`)
  const reader = await rawMember(
    t,
    server.port,
    `board?token=${await token({ exp: expiresAt / 1000, access: 'read' })}`,
  )
  const closed = closedFor(stock)
  await stock.synced()
  // Both go on drawing whatever happens; each stroke says when it was drawn.
  const drawing = setInterval(() => {
    stock.doc.getMap('strokes').set(`stock ${Date.now()}`, Date.now())
    raw.doc.getMap('strokes').set(`raw ${Date.now()}`, Date.now())
  }, 10)
  t.onTestFinished(() => clearInterval(drawing))
  await until(() => closed() !== null && raw.isOver && reader.isOver, 'all three are closed')
  const late = Date.now() - expiresAt
  expect(closed()).toEqual({ code: 4401, reason: 'no or expired access' })
  expect([raw.closeFrame?.code, reader.closeFrame?.code]).toEqual([4401, 4401])
  expect(late).toBeGreaterThanOrEqual(0)
  expect(late).toBeLessThan(1000)
  await until(() => Date.now() > expiresAt + 1000, 'a second of drawing later')
  const strokes = [...witness.doc.getMap<number>('strokes').values()]
  expect(strokes.length).toBeGreaterThan(20)
  // A stroke drawn before the server's timer fired, in the same moment, is not after it.
  expect(Math.max(...strokes)).toBeLessThan(expiresAt + 100)
  expect(Math.max(...strokes)).toBeGreaterThan(expiresAt - 500)
  expect(stock.connections()).toBe(1)

  const again = await rawClient(t, server.port, `board?token=${short}`)
  await until(() => again.isOver, 'the old token is refused')
  expect(again.closeFrame?.code).toBe(4401)
  stock.provider.params = { token: await token() }
  stock.provider.connect()
  await until(() => stock.provider.synced, 'with a newer one it is back')
  expect(witness.isOver).toBe(false)
})

test.each([
  ['by subject', { subject: 'ann' }, ['ann in a', 'ann in b']],
  ['by room', { room: 'a' }, ['ann in a', 'bob in a']],
  ['by subject and room', { subject: 'ann', room: 'a' }, ['ann in a']],
] as const)('[AC3] access taken back %s ends those sockets within a second and no others', async (_how, what, ends) => {
  const t = { onTestFinished }
  const server = await start(t as TestContext)
  const issued = await Promise.all(
    (['ann', 'bob'] as const).flatMap((sub) =>
      ['a', 'b'].map(async (room) => ({ sub, room, jwt: await token({ sub }) })),
    ),
  )
  const clients = issued.map(({ sub, room, jwt }) => {
    const client = stockClient(t, server.url, room, { params: { token: jwt } })
    return { name: `${sub} in ${room}`, jwt, room, sub, client, closed: closedFor(client) }
  })
  await Promise.all(clients.map(({ client }) => client.synced()))
  const asked = performance.now()
  expect(await revoke(server, what)).toBe(ends.length)
  const gone = clients.filter(({ name }) => (ends as readonly string[]).includes(name))
  await until(() => gone.every(({ closed }) => closed() !== null), 'they are closed')
  expect(performance.now() - asked).toBeLessThan(1000)
  for (const { closed } of gone) expect(closed()).toMatchObject({ code: 4401 })

  for (const { jwt, room, sub } of gone) {
    const again = await rawClient(t, server.port, `${room}?token=${jwt}`)
    await until(() => again.isOver, 'the old token is refused')
    expect(again.closeFrame?.code).toBe(4401)
    await rawMember(t, server.port, `${room}?token=${await token({ sub, iat: seconds() })}`)
  }
  for (const other of clients.filter((one) => !gone.includes(one))) {
    expect([other.name, other.closed(), other.client.connections()]).toEqual([other.name, null, 1])
    await rawMember(t, server.port, `${other.room}?token=${other.jwt}`)
  }
})

test('[AC3] a token taken back while its key is being fetched does not get in', async (t) => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const slow = await keyServer(t)
  slow.delayMs = 700
  slow.keys = [await exportJWK(pair.publicKey)]
  const server = await startServer(t, { authJwksUrl: slow.url, adminToken: ADMIN_TOKEN })
  const signing = { key: pair.privateKey, header: { alg: 'ES256' } }
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map(async (sub) => {
      const client = await rawClient(t, server.port, `board?token=${await token({ sub }, signing)}`)
      client.join()
      return client
    }),
  )
  expect(await revoke(server, { subject: 'ann' })).toBe(0)
  await until(() => bob!.isSynced, 'the other one is in')
  await until(() => ann!.isOver, 'this one is not')
  expect(ann!.closeFrame?.code).toBe(4401)
  expect(ann!.frames).toEqual([])
})

test('[AC3] without keys, taking back a room ends who is in it, and they may come again', async (t) => {
  const server = await startServer(t, { adminToken: ADMIN_TOKEN })
  const client = stockClient(t, server.url, 'a')
  const elsewhere = stockClient(t, server.url, 'b')
  const closed = closedFor(client)
  await Promise.all([client.synced(), elsewhere.synced()])
  expect(await revoke(server, { room: 'a' })).toBe(1)
  await until(() => closed() !== null, 'it is closed')
  expect(closed()).toMatchObject({ code: 4401 })
  await rawMember(t, server.port, 'a')
  expect(elsewhere.connections()).toBe(1)
})
