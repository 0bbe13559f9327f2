/** What the server says over HTTP, asked as a browser, an operator and somebody with bad intentions would. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { fileScope, SECRET, token } from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const scope = fileScope()
afterAll(scope.end)
let server: TestServer
beforeAll(async () => {
  server = await startServer(scope, { adminToken: ADMIN_TOKEN, metricsToken: 'metrics-token' })
})

interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/** One request exactly as written: `fetch` would tidy the path up first. */
function ask(port: number, lines: string, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', reject)
    // The server keeps connections; what is complete is told by its length, or by a little silence after a HEAD.
    const read = (): void => {
      const end = answer.indexOf('\r\n\r\n')
      if (end < 0) return
      const [status, ...rest] = answer.slice(0, end).split('\r\n')
      const headers = Object.fromEntries(
        rest.map((line) => [line.split(': ')[0]!.toLowerCase(), line.split(': ').slice(1).join(': ')]),
      )
      const text = answer.slice(end + 4)
      const isHead = lines.startsWith('HEAD')
      if (!isHead && text.length < Number(headers['content-length'] ?? 0)) return
      const done = (): void => {
        socket.destroy()
        resolve({ status: Number(status!.split(' ')[1]), headers, body: answer.slice(end + 4) })
      }
      if (isHead) setTimeout(done, 50)
      else done()
    }
    socket.on('data', read)
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(answer.slice(0, 80))}`)))
    socket.write(
      `${lines}\r\nHost: 127.0.0.1:${port}\r\n${body === '' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`,
    )
  })
}
const admin = (path: string, init: RequestInit = {}, bearer = ADMIN_TOKEN): Promise<Response> =>
  fetch(`${server.httpUrl}/admin${path}`, { ...init, headers: { authorization: `Bearer ${bearer}`, ...init.headers } })

test('[AC4] every answer forbids guessing types and telling other sites the address', async () => {
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
    ['GET', '/metrics'],
    ['GET', '/admin/rooms'],
    ['GET', '/no/such/page?token=x'],
    ['POST', '/'],
    ['DELETE', '/healthz'],
    ['PATCH', '/readyz'],
    ['HEAD', '/'],
  ] as const) {
    const { status, headers } = await ask(server.port, `${method} ${path} HTTP/1.1`)
    expect([method, path, headers['x-content-type-options'], headers['referrer-policy']]).toEqual([
      method,
      path,
      'nosniff',
      'no-referrer',
    ])
    expect(status).toBeLessThan(500)
  }
})

test('[AC4] the page may load and run nothing but its own files, and nobody may frame it', async () => {
  const page = await fetch(server.httpUrl)
  // Built by `npm run build`, which goes before the tests.
  expect(page.status, 'the page is built').toBe(200)
  const policy = page.headers.get('content-security-policy')!
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    expect(policy).toContain(rule)
  }
  expect(policy).not.toMatch(/unsafe-(inline|eval)|\*/)
  const html = await page.text()
  const scripts = [...html.matchAll(/<script\b[^>]*>([^<]*)/g)]
  expect(scripts.length).toBeGreaterThan(0)
  for (const [tag, inline] of scripts) {
    expect(inline!.trim(), 'no inline scripts').toBe('')
    const path = /src="([^"]+)"/.exec(tag)![1]!
    const script = await fetch(new URL(path, server.httpUrl))
    expect(script.headers.get('content-type')).toMatch(/^text\/javascript/)
    expect(script.headers.get('x-content-type-options')).toBe('nosniff')
  }
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/)
})

test('[AC4] no path leads out of the page', async () => {
  for (const path of [
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/%2e%2e%2fpackage.json',
    '/..%5cpackage.json',
    '/assets/../../package.json',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/%252e%252e/%252e%252e/package.json',
    '/./../../../../../../etc/passwd',
    '//etc/passwd',
    '/file:///etc/passwd',
    '/assets/',
    '/assets',
    '/%00',
    '/index.html%00.js',
    '/index.html/..',
    '/%',
    '/%c0%ae%c0%ae/package.json',
    '/.git/config',
    '/main.js',
    '/demo/index.html',
    '/constructor',
    '/__proto__',
  ]) {
    const { status, body } = await ask(server.port, `GET ${path} HTTP/1.1`)
    expect([path, status]).toEqual([path, 404])
    expect(body).not.toMatch(/y-weir"|root:/)
  }
  expect((await ask(server.port, 'GET /index.html HTTP/1.1')).status).toBe(200)
})

test('[AC4] HEAD is answered as GET, without the body', async () => {
  for (const path of ['/', '/healthz', '/readyz', '/nothing']) {
    const [head, got] = [
      await ask(server.port, `HEAD ${path} HTTP/1.1`),
      await ask(server.port, `GET ${path} HTTP/1.1`),
    ]
    expect([path, head.status, head.body]).toEqual([path, got.status, ''])
    expect(head.headers['content-length']).toBe(got.headers['content-length'])
    expect(head.headers['content-type']).toBe(got.headers['content-type'])
  }
})

test('[AC4] /metrics asks for its token, in any place but the address', async () => {
  const open = await startServer(scope)
  expect((await fetch(`${open.httpUrl}/metrics`)).status).toBe(200)
  const refused = await fetch(`${server.httpUrl}/metrics`)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain('Bearer')
  expect(await refused.text()).not.toContain('ws_active_sockets')

  const guarded = await startServer(scope, { metricsToken: 'secret', adminToken: ADMIN_TOKEN })
  for (const [authorization, query, status] of [
    ['Bearer secret', '', 200],
    ['bearer secret', '', 200],
    ['Bearer wrong', '', 401],
    ['Bearer secre', '', 401],
    ['Bearer secrets', '', 401],
    ['Basic secret', '', 401],
    [`Bearer ${ADMIN_TOKEN}`, '', 401],
    ['', '?token=secret', 401],
  ] as const) {
    const answer = await fetch(`${guarded.httpUrl}/metrics${query}`, {
      headers: authorization === '' ? {} : { authorization },
    })
    expect([authorization, query, answer.status]).toEqual([authorization, query, status])
  }
  expect((await fetch(`${guarded.httpUrl}/healthz`)).status).toBe(200)
})

test('[AC4] without ADMIN_TOKEN there are no admin pages; with it, 401 for any other token whatever the path', async () => {
  const off = await startServer(scope, { authJwtSecret: SECRET })
  const jwt = await token()
  for (const path of ['', '/', '/rooms', '/clients', '/rooms/board', '/nothing']) {
    for (const bearer of ['', 'undefined', 'null', jwt]) {
      const answer = await fetch(`${off.httpUrl}/admin${path}`, { headers: { authorization: `Bearer ${bearer}` } })
      expect(answer.status).toBe(404)
    }
    expect((await fetch(`${server.httpUrl}/admin${path}`)).status).toBe(401)
    expect((await admin(path, {}, 'wrong')).status).toBe(401)
  }
  for (const [method, path] of [
    ['POST', '/revoke'],
    ['POST', '/rooms/board/close'],
    ['DELETE', '/rooms/board'],
  ] as const) {
    expect((await admin(path, { method }, 'wrong')).status).toBe(401)
  }
  expect((await admin('/rooms')).status).toBe(200)
})

test('rooms and clients are listed as they are', async (t) => {
  const mine = await startServer(t, { adminToken: ADMIN_TOKEN, authJwtSecret: SECRET })
  const get = async (path: string) =>
    (await fetch(`${mine.httpUrl}/admin${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })).json()
  expect(await get('/rooms')).toEqual({ rooms: [] })
  expect(await get('/clients')).toEqual({ total: 0, clients: [] })
  // One after the other: they are listed in the order in which they came in.
  const writer = stockClient(t, mine.url, 'a/b', { params: { token: await token({ sub: 'ann' }) } })
  await writer.synced()
  const reader = stockClient(t, mine.url, 'a/b', { params: { token: await token({ sub: 'bob', access: 'read' }) } })
  await reader.synced()
  await rawMember(t, mine.port, `other?token=${await token({ sub: undefined })}`)
  writer.doc.getMap('m').set('k', 1)
  writer.awareness.setLocalStateField('name', 'ann')
  await until(() => reader.awareness.getStates().size === 2, 'both are present')
  await until(() => reader.doc.getMap('m').get('k') === 1, 'the edit arrives')

  expect(await get('/rooms')).toEqual({
    rooms: [
      { room: 'a/b', members: 2, presence: 2, authors: 1 },
      { room: 'other', members: 1, presence: 0, authors: 0 },
    ],
  })
  const { total, clients } = (await get('/clients?room=a%2Fb')) as { total: number; clients: object[] }
  expect(total).toBe(2)
  const row = {
    room: 'a/b',
    address: '127.0.0.1',
    state: 'live',
    queuedFrames: 0,
    heldBytes: 0,
    drops: 0,
    resyncs: 0,
    limited: false,
    degraded: false,
  }
  expect(clients).toEqual([
    expect.objectContaining({ ...row, subject: 'ann', access: 'write' }),
    expect.objectContaining({ ...row, subject: 'bob', access: 'read' }),
  ])
  for (const client of clients) expect((client as { connectedSeconds: number }).connectedSeconds).toBeLessThan(20)
  expect(await get('/clients?limit=1')).toMatchObject({ total: 3, clients: [{}] })
})

test('a board is given as an update and as JSON', async (t) => {
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  author.doc.getMap('shapes').set('a', { x: 1 })
  author.doc.getText('title').insert(0, 'hello')
  const json = { shapes: { a: { x: 1 } }, title: 'hello' }
  const asJson = async (): Promise<unknown> => {
    const response = await admin('/rooms/board?format=json')
    return response.ok ? response.json() : null
  }
  await until(async () => JSON.stringify(await asJson()) === JSON.stringify(json), 'it has all of it')
  expect(await (await admin('/rooms/board', { headers: { accept: 'application/json' } })).json()).toEqual(json)
  const answer = await admin('/rooms/board')
  expect(answer.headers.get('content-type')).toBe('application/octet-stream')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const copy = new Y.Doc()
  Y.applyUpdate(copy, new Uint8Array(await answer.arrayBuffer()))
  expect(copy.getMap('shapes').toJSON()).toEqual(json.shapes)
  expect(copy.getText('title').toString()).toBe('hello')
  expect(Y.encodeStateVector(copy)).toEqual(Y.encodeStateVector(author.doc))
  for (const path of ['/rooms/nothing', '/rooms/nothing?format=json']) expect((await admin(path)).status).toBe(404)
  expect((await admin('/rooms/board?format=pdf')).status).toBe(400)
  expect((await admin('/rooms/%E0%A4%A')).status).toBe(400)
  expect((await admin(`/rooms/${'x'.repeat(513)}`)).status).toBe(400)
  expect(author.connections()).toBe(1)
})

test('closing a room sends its clients away for a moment, and no others', async (t) => {
  const [a, b] = [stockClient(t, server.url, 'close/me'), stockClient(t, server.url, 'elsewhere')]
  await Promise.all([a.synced(), b.synced()])
  const codes: number[] = []
  a.provider.on('connection-close', (event) => codes.push(event?.code ?? 0))
  expect(await (await admin('/rooms/close%2Fme/close', { method: 'POST' })).json()).toEqual({ closed: 1 })
  await until(() => a.connections() === 2 && a.provider.synced, 'it is back')
  expect(codes).toEqual([1012])
  expect(b.connections()).toBe(1)
  expect((await admin('/rooms/nobody-here/close', { method: 'POST' })).status).toBe(404)
  expect((await admin('/rooms/close%2Fme/close')).status).toBe(404)
})

test('[AC4] requests that are too long or wrong are turned away', async () => {
  const post = (body: string) => admin('/revoke', { method: 'POST', body })
  expect((await post(JSON.stringify({ subject: 'a'.repeat(70_000) }))).status).toBe(413)
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"user":"a"}',
    '{"subject":1}',
    '{"subject":"a","x":1}',
    '{"room":""}',
  ]) {
    expect([body, (await post(body)).status]).toEqual([body, 400])
  }
  for (const [method, path] of [
    ['PUT', '/rooms'],
    ['GET', '/revoke'],
    ['POST', '/clients'],
    ['PUT', '/rooms/board'],
  ] as const) {
    const answer = await admin(path, { method })
    expect([path, answer.status]).toEqual([path, 405])
    expect(answer.headers.get('allow')).toBeTruthy()
  }
  expect((await ask(server.port, `GET /${'x'.repeat(20_000)} HTTP/1.1`)).status).toBeGreaterThanOrEqual(404)
})

test('[AC4] a request that never ends is cut, however slowly it goes on, and so is a connection that waits', async (t) => {
  const authorization = `Authorization: Bearer ${ADMIN_TOKEN}\r\n`
  const beginnings = [
    '',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Header: ',
    `POST /admin/revoke HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: 1000\r\n\r\n`,
    'POST /admin/revoke HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  ]
  let open = 0
  for (const [i, beginning] of beginnings.entries()) {
    const socket = connect(server.port, '127.0.0.1')
    open++
    socket.on('error', () => {})
    socket.on('close', () => open--)
    socket.resume()
    socket.write(beginning)
    // Those with something to come send it a letter at a time.
    const trickle = setInterval(() => i > 0 && i < 4 && socket.writable && socket.write('y'), 500)
    t.onTestFinished(() => {
      clearInterval(trickle)
      socket.destroy()
    })
  }
  await until(() => open === 0, 'all are cut', 18_000)
  expect((await fetch(`${server.httpUrl}/healthz`)).status).toBe(200)
}, 30_000)
