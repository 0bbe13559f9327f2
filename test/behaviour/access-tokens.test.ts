/** A token's way in, per claim and per place it may be handed over in; and that one that is refused leaves no trace. */

import { rmSync, writeFileSync } from 'node:fs'
import { connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import WebSocket from 'ws'
import * as sync from 'y-protocols/sync'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import {
  closedFor,
  fileScope,
  handmade,
  type KeyServer,
  keptLog,
  keyServer,
  noise,
  SECRET,
  SECRET_KEY,
  seconds,
  token,
} from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import {
  presenceMessage,
  type RawClient,
  rawClient,
  rawMember,
  syncMessage,
  upgradeRequest,
} from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const ROOM = 'team/board'
const scope = fileScope()
afterAll(scope.end)
const { log, written } = keptLog()
/** Every token of this file that meant something: none may turn up in what a server writes. */
const handedOut: string[] = []
/** Everything a server said to a client in words. */
const said: string[] = []

interface Keys {
  readonly rsa: CryptoKeyPair
  readonly strangerRsa: CryptoKeyPair
  readonly ec: CryptoKeyPair
  readonly pem: string
}
type CryptoKeyPair = Awaited<ReturnType<typeof generateKeyPair>>
let keys: Keys
let issuer: KeyServer
const servers = {} as { bySecret: TestServer; byKey: TestServer; byKeySet: TestServer }
const witnesses: (RawClient & { readonly doc: Y.Doc })[] = []

beforeAll(async () => {
  const [rsa, strangerRsa, ec] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('RS256'),
    generateKeyPair('ES256', { extractable: true }),
  ])
  keys = { rsa, strangerRsa, ec, pem: await exportSPKI(rsa.publicKey) }
  const publicKeyFile = join(tmpdir(), `y-weir-key-${process.pid}.pem`)
  writeFileSync(publicKeyFile, keys.pem)
  scope.onTestFinished(() => rmSync(publicKeyFile))
  issuer = await keyServer(scope)
  issuer.keys = [{ ...(await exportJWK(rsa.publicKey)), kid: 'known', alg: 'RS256' }]
  const start = (config: object) => startServer(scope, { adminToken: ADMIN_TOKEN, ...config }, log)
  servers.bySecret = await start({ authJwtSecret: SECRET })
  servers.byKey = await start({ authPublicKeyFile: publicKeyFile })
  servers.byKeySet = await start({ authJwksUrl: issuer.url })
  // Whoever watches a room sees what a refused client got done.
  for (const [server, good] of [
    [servers.bySecret, await note(token())],
    [servers.byKey, await note(token({}, { key: rsa.privateKey, header: { alg: 'RS256' } }))],
    [servers.byKeySet, await note(token({}, { key: rsa.privateKey, header: { alg: 'RS256', kid: 'known' } }))],
  ] as const) {
    const witness = await rawMember(scope, server.port, `${ROOM}?token=${good}`)
    witness.doc.getMap('m').set('owner', 'was here')
    await until(async () => (await board(server)) !== null, 'the board is there')
    witnesses.push(witness)
  }
})

async function note(made: string | Promise<string>): Promise<string> {
  const jwt = await made
  if (jwt.length > 20) handedOut.push(jwt)
  return jwt
}

async function admin(server: TestServer, path: string): Promise<Response> {
  return fetch(`${server.httpUrl}/admin/${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
}
async function board(server: TestServer): Promise<unknown> {
  const response = await admin(server, `rooms/${ROOM}?format=json`)
  return response.ok ? response.json() : null
}

/** What somebody without rights would like to get done, by every kind of frame. */
function wishes(name = 'intruder'): Uint8Array[] {
  const doc = new Y.Doc()
  doc.getMap('m').set(name, 1)
  const update = Y.encodeStateAsUpdate(doc)
  return [
    syncMessage((encoder) => sync.writeSyncStep1(encoder, doc)),
    syncMessage((encoder) => sync.writeUpdate(encoder, update)),
    syncMessage((encoder) => sync.writeSyncStep2(encoder, doc)),
    presenceMessage([[doc.clientID, 1, { name }]]),
    Uint8Array.of(3),
  ]
}

const SOURCES: Record<string, (jwt: string) => { path: string; headers?: Record<string, string> }> = {
  query: (jwt) => ({ path: `${ROOM}?token=${jwt}` }),
  header: (jwt) => ({ path: ROOM, headers: { Authorization: `Bearer ${jwt}` } }),
  subprotocol: (jwt) => ({ path: ROOM, headers: { 'Sec-WebSocket-Protocol': `y-weir, token.${jwt}` } }),
}

const IN = 'in'
interface Case {
  readonly what: string
  readonly server?: keyof typeof servers
  readonly make: () => string | Promise<string>
  /** The close code, or in. */
  readonly ends: number | typeof IN
}
const rs = (claims: object, header: object = {}): Promise<string> =>
  token({ ...claims }, { key: keys.rsa.privateKey, header: { alg: 'RS256', ...header } })
const GOOD = () => ({ sub: 'ann', exp: seconds(3600), rooms: ['*'], access: 'write' })

const CASES: readonly Case[] = [
  { what: 'a good one', make: () => token(), ends: IN },
  { what: 'expired by 1 s', make: () => token({ exp: seconds(-1) }), ends: 4401 },
  { what: 'expired by 120 s', make: () => token({ exp: seconds(-120) }), ends: 4401 },
  { what: 'that never expires', make: () => token({ exp: undefined }), ends: 4401 },
  { what: 'with an expiry in words', make: () => handmadeSigned({ ...GOOD(), exp: '2100-01-01' }), ends: 4401 },
  { what: 'not before 20 s from now: clocks differ', make: () => token({ nbf: seconds(20) }), ends: IN },
  { what: 'not before 60 s from now', make: () => token({ nbf: seconds(60) }), ends: 4401 },
  { what: 'issued 60 s from now', make: () => token({ iat: seconds(60) }), ends: 4401 },
  { what: 'for another room', make: () => token({ rooms: ['team/other', 'team'] }), ends: 4403 },
  { what: 'for a room that differs in case', make: () => token({ rooms: ['Team/board'] }), ends: 4403 },
  { what: 'for this room among others', make: () => token({ rooms: ['team/other', ROOM] }), ends: IN },
  { what: 'for a prefix', make: () => token({ rooms: ['team/*'] }), ends: IN },
  { what: 'for another prefix', make: () => token({ rooms: ['other/*'] }), ends: 4403 },
  { what: 'with a star in the middle', make: () => token({ rooms: ['team/*d'] }), ends: 4403 },
  { what: 'for no room', make: () => token({ rooms: undefined }), ends: 4403 },
  { what: 'for rooms that are no list of texts', make: () => token({ rooms: [{ name: ROOM }] }), ends: 4401 },
  { what: 'with an access nobody knows', make: () => token({ access: 'admin' }), ends: 4401 },
  { what: 'unsigned (alg: none)', make: () => handmade({ alg: 'none' }, GOOD()), ends: 4401 },
  { what: 'unsigned (alg: NoNe)', make: () => handmade({ alg: 'NoNe' }, GOOD(), 'AA'), ends: 4401 },
  { what: 'signed with another secret', make: () => token({}, { key: SECRET_KEY.map((b) => b ^ 1) }), ends: 4401 },
  { what: 'signed with a stronger hash', make: () => token({}, { header: { alg: 'HS512' } }), ends: 4401 },
  {
    what: 'whose claims were changed after signing',
    make: async () => {
      const [header, , signature] = (await token({ access: 'read' })).split('.')
      return `${header}.${Buffer.from(JSON.stringify(GOOD())).toString('base64url')}.${signature}`
    },
    ends: 4401,
  },
  { what: 'of 8 000 bytes', make: () => padded(8000), ends: IN },
  { what: 'of 8 200 bytes', make: () => padded(8200), ends: 4401 },
  { what: 'that is garbage', make: () => noise(200), ends: 4401 },
  { what: 'that is garbage in three parts', make: () => `${noise(30)}.${noise(90)}.${noise(32)}`, ends: 4401 },
  { what: 'of one letter', make: () => 'x', ends: 4401 },
  { what: 'of dots', make: () => '..', ends: 4401 },

  { what: 'a good one for a public key', server: 'byKey', make: () => rs({}), ends: IN },
  {
    what: 'with the public key used as an HMAC secret',
    server: 'byKey',
    make: () => token({}, { key: new TextEncoder().encode(keys.pem) }),
    ends: 4401,
  },
  {
    what: 'with the public key, trimmed, used as an HMAC secret',
    server: 'byKey',
    make: () => token({}, { key: new TextEncoder().encode(keys.pem.trim()) }),
    ends: 4401,
  },
  {
    what: 'of another type of key',
    server: 'byKey',
    make: () => token({}, { key: keys.ec.privateKey, header: { alg: 'ES256' } }),
    ends: 4401,
  },
  {
    what: 'that brings its own key',
    server: 'byKey',
    make: async () =>
      token(
        {},
        {
          key: keys.ec.privateKey,
          header: { alg: 'ES256', jwk: (await exportJWK(keys.ec.publicKey)) as never },
        },
      ),
    ends: 4401,
  },
  { what: 'unsigned, for a public key', server: 'byKey', make: () => handmade({ alg: 'none' }, GOOD()), ends: 4401 },

  { what: 'a good one for a key set', server: 'byKeySet', make: () => rs({}, { kid: 'known' }), ends: IN },
  {
    what: 'of a stranger under a known key id',
    server: 'byKeySet',
    make: () => token({}, { key: keys.strangerRsa.privateKey, header: { alg: 'RS256', kid: 'known' } }),
    ends: 4401,
  },
  {
    what: 'with an HMAC under a known key id',
    server: 'byKeySet',
    make: () => token({}, { header: { kid: 'known' } }),
    ends: 4401,
  },
  {
    what: 'with an unknown key id',
    server: 'byKeySet',
    make: () => rs({}, { kid: 'no such key' }),
    ends: 4401,
  },
]

/** The claims as given, signed: jose would refuse to write some of them. */
async function handmadeSigned(claims: object): Promise<string> {
  const { CompactSign } = await import('jose')
  return new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: 'HS256' }).sign(SECRET_KEY)
}
/** A good token of so many bytes. */
async function padded(bytes: number): Promise<string> {
  const bare = (await token({ pad: '' })).length
  const jwt = await token({ pad: 'p'.repeat(Math.floor(((bytes - bare) * 3) / 4)) })
  expect(Math.abs(jwt.length - bytes)).toBeLessThan(4)
  return jwt
}

const rows = CASES.flatMap((row) => Object.keys(SOURCES).map((source) => [row.what, source, row] as const))

/** The socket library answers 505 to a request line that the kernel hands over in two reads (pinned below), as it may a long one. */
const isLongLine = ([what, source]: (typeof rows)[number]): boolean => what.startsWith('of 8 ') && source === 'query'

for (const row of rows) {
  const title = `[AC1] [AC5] a token ${row[0]}, in the ${row[1]}`
  test(title, { retry: isLongLine(row) ? 5 : 0 }, () => comesTo(row[1], row[2]))
}

async function comesTo(source: string, { server: name, make, ends }: (typeof CASES)[number]): Promise<void> {
  const server = servers[name ?? 'bySecret']
  const jwt = await note(make())
  const { path, headers } = SOURCES[source]!(jwt)
  if (ends === IN) {
    const client = await rawMember(scope, server.port, path, { ...(headers && { headers }) })
    expect(client.doc.getMap('m').get('owner')).toBe('was here')
    expect(client.head.includes(jwt)).toBe(false)
    client.reset()
    return
  }
  const client = await rawClient(scope, server.port, path, { ...(headers && { headers }) })
  for (const wish of wishes()) client.send(wish)
  await until(() => client.isOver, 'it is closed')
  expect(client.status).toContain('101')
  expect(client.closeFrame?.code).toBe(ends)
  expect(client.frames).toEqual([])
  said.push(client.head, client.closeFrame!.reason)
}

test('[AC1] no token, an empty one, and one in the wrong place are refused', async (t) => {
  const jwt = await note(token())
  for (const [path, headers] of [
    [ROOM, {}],
    [`${ROOM}?token=`, {}],
    [ROOM, { Authorization: `Basic ${jwt}` }],
    [ROOM, { Cookie: `token=${jwt}` }],
    [ROOM, { 'Sec-WebSocket-Protocol': `y-weir, ${jwt}` }],
  ] as const) {
    const client = await rawClient(t, servers.bySecret.port, path, { headers })
    for (const wish of wishes()) client.send(wish)
    await until(() => client.isOver, 'it is closed')
    expect(client.closeFrame).toEqual({ code: 4401, reason: 'no or expired access' })
    expect(client.frames).toEqual([])
  }
})

test('[AC1] the first place that holds a token counts: a good one behind a bad one does not help', async (t) => {
  const [good, bad] = [await note(token()), await note(token({ exp: seconds(-1) }))]
  const client = await rawClient(t, servers.bySecret.port, `${ROOM}?token=${bad}`, {
    headers: { Authorization: `Bearer ${good}` },
  })
  await until(() => client.isOver, 'it is closed')
  expect(client.closeFrame?.code).toBe(4401)
})

/** What comes back when an upgrade arrives in pieces, as networks deliver it: status line and first frame. */
async function inPieces(t: TestContext, path: string, headers: Record<string, string> = {}): Promise<string> {
  const socket = connect(servers.bySecret.port, '127.0.0.1')
  t.onTestFinished(() => {
    socket.destroy()
  })
  socket.setNoDelay(true)
  let answer = ''
  let isOver = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isOver = true
  })
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
  })
  const head = upgradeRequest(servers.bySecret.port, path, headers)
  for (let at = 0; at < head.length && !isOver; at += SEGMENT_BYTES) {
    socket.write(head.subarray(at, at + SEGMENT_BYTES))
    // Each piece has to be read on its own.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(() => isOver || /\r\n\r\n\x82/.test(answer), 'it is answered')
  return answer
}
const SEGMENT_BYTES = 1448
/** A first frame that is no close frame: the server's SyncStep1. */
const WELCOMED = /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n\x82/

test('[AC5] a token of 8 KB in a header comes through in pieces; in the query one that fits into a packet', async (t) => {
  const long = await note(padded(8000))
  expect(await inPieces(t, ROOM, { Authorization: `Bearer ${long}` })).toMatch(WELCOMED)
  expect(await inPieces(t, ROOM, { 'Sec-WebSocket-Protocol': `y-weir, token.${long}` })).toMatch(WELCOMED)
  expect(await inPieces(t, `${ROOM}?token=${await note(padded(1200))}`)).toMatch(WELCOMED)
})

// uWebSockets answers 505 to a request line in two pieces (its issue 1776), before any of our code is asked. Fails when that is
// repaired: docs/security.md can then drop its advice about the query.
test.fails('[AC5] a token of 8 KB in the query comes through in pieces', async (t) => {
  expect(await inPieces(t, `${ROOM}?token=${await note(padded(8000))}`)).toMatch(WELCOMED)
})

test('[AC1] the subprotocol is answered as browsers demand, and never with the token', async (t) => {
  const jwt = await note(token())
  for (const [offer, answered] of [
    [['y-weir', `token.${jwt}`], 'y-weir'],
    [[`token.${jwt}`, 'y-weir'], 'y-weir'],
    [['custom', `token.${jwt}`], 'custom'],
  ] as const) {
    const socket = new WebSocket(`${servers.bySecret.url}/${ROOM}`, [...offer])
    t.onTestFinished(() => socket.terminate())
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    expect(socket.protocol).toBe(answered)
  }
  const bare = await rawMember(t, servers.bySecret.port, ROOM, {
    headers: { 'Sec-WebSocket-Protocol': `token.${jwt}` },
  })
  expect(bare.head.toLowerCase()).not.toContain('sec-websocket-protocol')
})

test('[AC1] a stock client comes in with its token in the query or in the subprotocols', async (t) => {
  const byQuery = stockClient(t, servers.bySecret.url, ROOM, { params: { token: await note(token()) } })
  await byQuery.synced()
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(servers.bySecret.url, ROOM, doc, {
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
    protocols: ['y-weir', `token.${await note(token())}`],
  })
  t.onTestFinished(() => provider.destroy())
  await until(() => provider.synced, 'it is synced')
  expect(doc.getMap('m').get('owner')).toBe('was here')
})

const STOPPED: readonly (readonly [string, () => string | Promise<string>, number])[] = [
  ['an expired token', () => token({ exp: seconds(-1) }), 4401],
  ['no token', () => '', 4401],
  ['a token for another room', () => token({ rooms: ['other'] }), 4403],
]
test.each(STOPPED)('[AC1] a stock client with %s stops for good', async (_what, make, code) => {
  const params = { token: await note(make()) }
  const client = stockClient(scope, servers.bySecret.url, ROOM, { params })
  client.doc.getMap('m').set('intruder', 1)
  client.awareness.setLocalStateField('user', 'intruder')
  const closed = closedFor(client)
  await until(() => closed() !== null, 'the provider gives up')
  expect(closed()).toMatchObject({ code })
  // Its second attempt would have come after 0.2 s.
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(client.connections()).toBe(1)
})

test('[AC1] while no key was ever had a stock client is told to come back, and gets in as soon as there is one', async (t) => {
  const port = await freePort()
  const server = await startServer(t, { authJwksUrl: `http://127.0.0.1:${port}/keys` }, log)
  const jwt = await note(rs({}, { kid: 'late' }))
  const client = stockClient(t, server.url, ROOM, { params: { token: jwt } })
  const closed = closedFor(client)
  await until(() => client.connections() >= 2, 'it returns')
  const raw = await rawClient(t, server.port, `${ROOM}?token=${jwt}`, {})
  for (const wish of wishes()) raw.send(wish)
  await until(() => raw.isOver, 'it is closed')
  expect(raw.closeFrame).toEqual({ code: 1013, reason: 'access cannot be checked now' })
  expect(raw.frames).toEqual([])
  const ready = await fetch(`${server.httpUrl}/readyz`)
  expect(ready.status).toBe(503)
  expect(await ready.text()).toContain('access keys')
  expect(await server.metric('rooms_active')).toBe(0)

  const late = await keyServer(t, port)
  late.keys = [{ ...(await exportJWK(keys.rsa.publicKey)), kid: 'late' }]
  await until(() => client.provider.synced, 'it is in', 15_000)
  expect(closed()).toBeNull()
  expect((await fetch(`${server.httpUrl}/readyz`)).status).toBe(200)
})

test('[AC1] keys rotate without a wait, and made-up key ids do not make the key server work', async (t) => {
  const keySet = await keyServer(t)
  const jwk = async (pair: CryptoKeyPair, kid: string) => ({ ...(await exportJWK(pair.publicKey)), kid })
  keySet.keys = [await jwk(keys.rsa, 'old')]
  const server = await startServer(t, { authJwksUrl: keySet.url }, log)
  await rawMember(t, server.port, `${ROOM}?token=${await note(rs({}, { kid: 'old' }))}`)
  expect(keySet.requests).toBe(1)

  keySet.keys = [await jwk(keys.ec, 'new')]
  const rotated = await note(token({}, { key: keys.ec.privateKey, header: { alg: 'ES256', kid: 'new' } }))
  await rawMember(t, server.port, `${ROOM}?token=${rotated}`)
  expect(keySet.requests).toBe(2)

  const codes = new Set<number>()
  for (let i = 0; i < 12; i++) {
    const client = await rawClient(t, server.port, `${ROOM}?token=${await note(rs({}, { kid: `made up ${i}` }))}`)
    await until(() => client.isOver, 'it is closed')
    codes.add(client.closeFrame!.code)
  }
  expect(codes).toEqual(new Set([4401, 1013]))
  expect(keySet.requests).toBeLessThanOrEqual(6)
  await rawMember(t, server.port, `${ROOM}?token=${rotated}`)
})

test('[AC1] frames wait while a slow key server is asked: those of a good token count, those of a bad one never', async (t) => {
  const slow = await keyServer(t)
  slow.delayMs = 2500
  slow.keys = [{ ...(await exportJWK(keys.rsa.publicKey)), kid: 'known' }]
  const server = await startServer(t, { authJwksUrl: slow.url, adminToken: ADMIN_TOKEN }, log)
  const visit = async (jwt: string | Promise<string>, mark: string): Promise<RawClient> => {
    const client = await rawClient(t, server.port, `${ROOM}?token=${await note(jwt)}`)
    for (const wish of wishes(mark)) client.send(wish)
    return client
  }
  const bad = await Promise.all([
    visit(rs({ exp: seconds(-1) }, { kid: 'known' }), 'expired'),
    visit(rs({ rooms: ['other'] }, { kid: 'known' }), 'elsewhere'),
    visit(token({}, { header: { kid: 'known' } }), 'forged'),
    visit(rs({ access: 'read' }, { kid: 'known' }), 'reader'),
  ])
  const good = await visit(rs({}, { kid: 'known' }), 'good')
  expect([good, ...bad].map(({ isOver }) => isOver)).toEqual([false, false, false, false, false])
  expect(await server.metric('rooms_active')).toBe(0)
  await until(() => bad.slice(0, 3).every(({ isOver }) => isOver), 'the bad ones are closed')
  expect(bad.map(({ closeFrame }) => closeFrame?.code)).toEqual([4401, 4403, 4401, undefined])
  expect(bad.slice(0, 3).flatMap(({ frames }) => frames)).toEqual([])
  await until(() => good.frames.some(({ kind }) => kind === 'step2'), 'the good one is answered')
  await until(async () => JSON.stringify(await board(server)) === '{"m":{"good":1}}', 'its edit counts, and no other')
  const witness = await rawMember(t, server.port, `${ROOM}?token=${await note(rs({}, { kid: 'known' }))}`)
  await until(() => witness.presence().size === 2, 'presence comes, of those who are in')
  const names = [...witness.presence().values()].map(({ state }) => (state as { name: string }).name)
  expect(names.sort()).toEqual(['good', 'reader'])
})

test('[AC1] [AC4] whoever is refused makes no room and leaves nothing', async () => {
  for (let i = 0; i < 5; i++) {
    const path = `made-up-${i}?token=${await note(token({ rooms: [] }))}`
    const client = await rawClient(scope, servers.bySecret.port, path)
    for (const wish of wishes()) client.send(wish)
    await until(() => client.isOver, 'it is closed')
    expect(client.closeFrame?.code).toBe(4403)
  }
  for (const [i, server] of Object.values(servers).entries()) {
    await until(async () => (await server.metric('ws_active_sockets')) === 1, 'only the witness is there')
    const { rooms } = (await (await admin(server, 'rooms')).json()) as { rooms: { room: string }[] }
    expect(rooms.map(({ room }) => room)).toEqual([ROOM])
    expect(await board(server)).toEqual({ m: { owner: 'was here' } })
    const witness = witnesses[i]!
    expect(witness.doc.getMap('m').toJSON()).toEqual({ owner: 'was here' })
    expect(witness.presence().size).toBe(0)
    expect(witness.isOver).toBe(false)
  }
})

test('[AC1] no token is in a log, a metric, an admin page, an HTTP answer or a close reason', async () => {
  const jwt = handedOut[0]!
  for (const server of Object.values(servers)) {
    for (const path of [
      `/${ROOM}?token=${jwt}`,
      `/metrics?token=${jwt}`,
      `/admin/rooms/${ROOM}?token=${jwt}&format=x`,
    ]) {
      const response = await fetch(`${server.httpUrl}${path}`, { headers: { authorization: `Bearer ${jwt}` } })
      said.push(await response.text(), JSON.stringify([...response.headers]))
    }
    for (const path of ['clients', 'rooms']) said.push(await (await admin(server, path)).text())
    said.push(await (await fetch(`${server.httpUrl}/metrics`)).text())
  }
  const everything = `${written()}${said.join('\n')}`
  // The search means something: the log is there, and of the refusals every tenth.
  expect(written().match(/"msg":"refused"/g)?.length).toBeGreaterThan(10)
  expect(handedOut.length).toBeGreaterThan(80)
  expect(everything).not.toContain(SECRET)
  for (const token of handedOut) {
    const [, payload, signature] = token.split('.')
    for (const piece of [token, payload, signature]) {
      if (piece !== undefined && piece.length > 20 && everything.includes(piece)) {
        const at = everything.indexOf(piece)
        expect.fail(`a token was written: ${everything.slice(Math.max(0, at - 200), at + 50)}`)
      }
    }
  }
})

async function freePort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
