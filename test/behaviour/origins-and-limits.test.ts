/** Whose pages may connect, how many may be connected, and that a refusal does not become a loop. */
import { expect, type TestContext, test } from 'vitest'
import { closedFor, SECRET, token } from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { type RawClient, rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** How an upgrade with these headers ends: a close code, or in. */
async function knock(
  t: TestContext,
  server: TestServer,
  headers: Record<string, string>,
  path = 'board',
): Promise<number | 'in'> {
  const client = await rawClient(t, server.port, path, { headers })
  client.sendStep1()
  await until(() => client.isOver || client.frames.some(({ kind }) => kind === 'step2'), 'it is in or closed')
  return client.closeFrame?.code ?? 'in'
}

test('[AC4] without keys only pages of the same host and of this machine may connect', async (t) => {
  const server = await startServer(t)
  for (const [origin, host, ends] of [
    ['http://localhost:5173', '', 'in'],
    ['http://127.0.0.1:8080', '', 'in'],
    ['http://[::1]:3000', '', 'in'],
    ['https://board.example.com', 'board.example.com:1234', 'in'],
    ['https://BOARD.example.com:8443', 'board.example.com', 'in'],
    ['https://evil.example', '', 4403],
    ['https://evil.example', 'board.example.com', 4403],
    ['https://board.example.com.evil.example', 'board.example.com', 4403],
    ['https://localhost.evil.example', '', 4403],
    ['http://127.0.0.1.evil.example', '', 4403],
    ['null', '', 4403],
    ['file://', '', 4403],
    ['chrome-extension://abcdefgh', '', 4403],
  ] as const) {
    const headers = { Origin: origin, ...(host !== '' && { Host: host }) }
    expect([origin, host, await knock(t, server, headers)]).toEqual([origin, host, ends])
  }
  // No page at all: a program can claim any origin, so nothing is gained by refusing it.
  expect(await knock(t, server, {})).toBe('in')
  // A proxy's word counts only where there is one.
  expect(await knock(t, server, { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example' })).toBe(4403)
})

test('[AC4] with keys any page may connect that has a token, unless ALLOWED_ORIGINS says which', async (t) => {
  const path = `board?token=${await token()}`
  const open = await startServer(t, { authJwtSecret: SECRET })
  expect(await knock(t, open, { Origin: 'https://anywhere.example' }, path)).toBe('in')
  expect(await knock(t, open, { Origin: 'https://anywhere.example' })).toBe(4401)

  const fenced = await startServer(t, {
    authJwtSecret: SECRET,
    allowedOrigins: 'https://board.example.com, https://*.apps.example.com:8443',
  })
  for (const [origin, ends] of [
    ['https://board.example.com', 'in'],
    ['https://board.example.com:443', 'in'],
    ['https://x.apps.example.com:8443', 'in'],
    ['https://apps.example.com:8443', 4403],
    ['http://board.example.com', 4403],
    ['https://anywhere.example', 4403],
    ['http://localhost:5173', 4403],
    ['null', 4403],
  ] as const) {
    expect([origin, await knock(t, fenced, { Origin: origin }, path)]).toEqual([origin, ends])
  }
  expect(await knock(t, fenced, {}, path)).toBe('in')
})

test('[AC4] [OP4] a mistake in ALLOWED_ORIGINS is named at start instead of shutting everybody out', async (t) => {
  await expect(startServer(t, { allowedOrigins: 'https://good.example, board.example.com' })).rejects.toThrow(
    /ALLOWED_ORIGINS.*board\.example\.com/,
  )
})

test('[AC4] MAX_CONNECTIONS: one more is told that the server is full, comes back without a hurry, and gets the next free place', async (t) => {
  const server = await startServer(t, { maxConnections: 3 })
  const inside = await Promise.all(['a', 'b', 'c'].map((room) => rawMember(t, server.port, room)))
  const refused = await rawClient(t, server.port, 'd')
  await until(() => refused.isOver, 'it is closed')
  expect(refused.closeFrame).toEqual({ code: 1013, reason: 'server full' })
  expect(refused.frames).toEqual([])

  const waiting = stockClient(t, server.url, 'd')
  const closed = closedFor(waiting)
  await new Promise((resolve) => setTimeout(resolve, 4000))
  // 0.2, 0.4, 0.8, 1.6, 2.5 s: the provider counts an accepted and closed connection as a failed one.
  expect(waiting.connections()).toBeGreaterThanOrEqual(2)
  expect(waiting.connections()).toBeLessThanOrEqual(6)
  expect(closed()).toBeNull()
  expect(await server.metric('rooms_active')).toBe(3)
  inside[0]!.close()
  await until(() => waiting.provider.synced, 'it is in')
  expect(inside.slice(1).map(({ isOver }) => isOver)).toEqual([false, false])
})

test('[AC4] a place is given back however a client ends', async (t) => {
  const server = await startServer(t, {
    maxConnections: 2,
    authJwtSecret: SECRET,
    maxMessageBytes: 100_000,
    maxDocBytes: 100_000,
  })
  const jwt = await token()
  const endings: ((client: RawClient) => void)[] = [
    (client) => client.close(),
    (client) => client.reset(),
    (client) => client.socket.end(),
    (client) => client.send(new Uint8Array(300_000)),
  ]
  for (const [i, end] of [...endings, ...endings].entries()) {
    // A room each: whoever was cut for its size is told so at its next join.
    const client = await rawMember(t, server.port, `room-${i}?token=${jwt}`)
    end(client)
    await until(async () => (await server.metric('ws_active_sockets')) === 0, 'it is gone')
  }
  for (let i = 0; i < 5; i++) expect(await knock(t, server, {})).toBe(4401)
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'they are gone')
  await Promise.all([1, 2].map(() => rawMember(t, server.port, `board?token=${jwt}`)))
  expect(await knock(t, server, {}, `board?token=${jwt}`)).toBe(1013)
})

test('[AC4] MAX_CONNECTIONS_PER_IP counts clients behind a trusted proxy by what the proxy says, IPv6 by /64', async (t) => {
  const server = await startServer(t, { maxConnectionsPerIp: 2, trustedProxyHops: 1, adminToken: ADMIN_TOKEN })
  const from = (forwarded: string) => knock(t, server, { 'X-Forwarded-For': forwarded })
  expect([await from('203.0.113.5'), await from('203.0.113.5'), await from('203.0.113.5')]).toEqual(['in', 'in', 1013])
  // What the client itself puts in front changes nothing.
  expect(await from('198.51.100.1, 203.0.113.5')).toBe(1013)
  expect(await from('203.0.113.6')).toBe('in')
  expect(await from('::ffff:203.0.113.5')).toBe(1013)
  expect([await from('2001:db8:0:1::1'), await from('2001:db8:0:1:ffff::2'), await from('2001:db8:0:1::3')]).toEqual([
    'in',
    'in',
    1013,
  ])
  expect(await from('2001:db8:0:2::1')).toBe('in')
  // Whoever comes past the proxy is one address too.
  expect([await knock(t, server, {}), await knock(t, server, {}), await knock(t, server, {})]).toEqual([
    'in',
    'in',
    1013,
  ])
  const response = await fetch(`${server.httpUrl}/admin/clients`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const { clients } = (await response.json()) as { clients: { address: string; state: string }[] }
  const addresses = clients.filter(({ state }) => state === 'live').map(({ address }) => address)
  expect(addresses.sort()).toEqual([
    '127.0.0.1',
    '127.0.0.1',
    '2001:db8:0:1::1',
    '2001:db8:0:1:ffff::2',
    '2001:db8:0:2::1',
    '203.0.113.5',
    '203.0.113.5',
    '203.0.113.6',
  ])

  const direct = await startServer(t, { maxConnectionsPerIp: 2 })
  const claims = ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((address) => ({ 'X-Forwarded-For': address }))
  const ends = []
  for (const headers of claims) ends.push(await knock(t, direct, headers))
  expect(ends).toEqual(['in', 'in', 1013])
})

test('[AC4] MAX_ROOMS: another room has to wait, members of those that are open do not', async (t) => {
  const server = await startServer(t, { maxRooms: 2, roomIdleMs: 100 })
  const [a] = await Promise.all(['a', 'b'].map((room) => rawMember(t, server.port, room)))
  const refused = await rawClient(t, server.port, 'c')
  await until(() => refused.isOver, 'it is closed')
  expect(refused.closeFrame).toEqual({ code: 1013, reason: 'server full' })
  expect(await knock(t, server, {}, 'b')).toBe('in')
  const waiting = stockClient(t, server.url, 'c')
  await until(() => waiting.connections() >= 2, 'it returns')
  a!.close()
  await until(() => waiting.provider.synced, 'it is in')
  expect(waiting.connections()).toBeLessThanOrEqual(6)
})
