/** The configuration that docs/security.md recommends, run by the real nginx in front of the real server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, type TestContext, test } from 'vitest'
import WebSocket from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { SECRET, seconds, token } from '../support/access.ts'
import { ADMIN_TOKEN } from '../support/admin-view.ts'
import { certificates } from '../support/certificates.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

const NGINX = '/usr/sbin/nginx'
const isThere = existsSync(NGINX)
if (!isThere && process.env.CI) throw new Error(`${NGINX} is missing: apt-get install nginx-light`)
if (!isThere) console.warn(`skipped: ${NGINX} is missing (apt-get install nginx-light)`)

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

interface Proxy {
  readonly port: number
  readonly logs: () => string
}

/** deploy/nginx.conf with its ports, paths and upstream replaced, and nothing else. */
async function startNginx(t: TestContext, server: TestServer): Promise<Proxy> {
  const { directory, make } = certificates(t)
  const { certFile, keyFile } = make('proxy', 10)
  const [port, plainPort] = await freePorts(2)
  const deployed = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8')
  let site = deployed
  const replace = (from: string | RegExp, to: string): void => {
    expect(site, `deploy/nginx.conf still has ${from}`).toMatch(from)
    site = site.replace(from, to)
  }
  replace(/listen 443 ssl;\n\s*listen \[::\]:443 ssl;/, `listen 127.0.0.1:${port} ssl;`)
  replace(/listen 80;\n\s*listen \[::\]:80;/, `listen 127.0.0.1:${plainPort};`)
  replace(/ssl_certificate {5}\S+;/, `ssl_certificate ${certFile};`)
  replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${keyFile};`)
  replace('server 127.0.0.1:1234;', `server 127.0.0.1:${server.port};`)
  replace('/var/log/nginx/y-weir.access.log', join(directory, 'access.log'))
  replace('/var/log/nginx/y-weir.error.log', join(directory, 'error.log'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => {
    mkdirSync(join(directory, kind))
    return `${kind}_temp_path ${join(directory, kind)};`
  })
  const main = join(directory, 'nginx.conf')
  writeFileSync(join(directory, 'site.conf'), site)
  writeFileSync(
    main,
    `daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/main.log warn;\n` +
      `events { worker_connections 256; }\nhttp { ${paths.join(' ')}\ninclude ${directory}/site.conf; }\n`,
  )
  const child: ChildProcess = spawn(NGINX, ['-c', main, '-p', directory, '-e', join(directory, 'main.log')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  }
  const ended = once(child, 'close')
  t.onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ port: port!, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  const read = (name: string): string =>
    existsSync(join(directory, name)) ? readFileSync(join(directory, name), 'utf8') : ''
  await until(async () => child.exitCode !== null || (await answers()), 'nginx listens')
  expect(child.exitCode, `${output}${read('main.log')}`).toBeNull()
  return { port: port!, logs: () => ['access.log', 'error.log', 'main.log'].map(read).join('') + output }
}

class TrustingSocket extends WebSocket {
  constructor(address: string, protocols?: string[]) {
    super(address, protocols, { rejectUnauthorized: false })
    this.on('error', () => {})
  }
}

function through(
  t: TestContext,
  proxy: Proxy,
  room: string,
  jwt: string,
  options: object = { params: { token: jwt } },
) {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(`wss://127.0.0.1:${proxy.port}`, room, doc, {
    WebSocketPolyfill: TrustingSocket as never,
    disableBc: true,
    ...options,
  })
  let connections = 0
  let closed: { code: number; reason: string } | null = null
  const codes: number[] = []
  provider.on('status', ({ status }) => {
    if (status === 'connected') connections++
  })
  provider.on('closed', (event) => {
    closed = event
  })
  provider.on('connection-close', (event) => codes.push(event?.code ?? 0))
  t.onTestFinished(() => provider.destroy())
  return { doc, provider, connections: () => connections, closed: () => closed, codes }
}

/** One HTTPS request as written; the whole answer. */
function request(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(answer))
  })
}

test.skipIf(!isThere)(
  '[AC1] [AC4] the nginx configuration of deploy/ carries stock clients, addresses, close codes and no token',
  // What a client sends in the moment in which its socket ends can cost it the close frame: TCP then resets.
  { retry: 2 },
  async (t) => {
    const server = await startServer(t, {
      authJwtSecret: SECRET,
      adminToken: ADMIN_TOKEN,
      trustedProxyHops: 1,
      // Ended sockets count until the system has their descriptors back.
      maxConnectionsPerIp: 12,
    })
    const proxy = await startNginx(t, server)
    const tokens: string[] = []
    const issue = async (claims: Record<string, unknown> = {}) => {
      const jwt = await token(claims)
      tokens.push(jwt)
      return jwt
    }

    // Two clients, one with the token in the query and one in the subprotocols; a name with a slash stays one room.
    const a = through(t, proxy, 'team/board', await issue())
    const jwt = await issue({ pad: 'p'.repeat(5500) })
    const b = through(t, proxy, 'team%2Fboard', '', { protocols: ['y-weir', `token.${jwt}`] })
    await until(() => a.provider.synced && b.provider.synced, 'both are synced')
    a.doc.getMap('m').set('big', 'x'.repeat(300_000))
    a.provider.awareness.setLocalStateField('name', 'a')
    await until(() => String(b.doc.getMap('m').get('big')).length === 300_000, 'the edit arrives')
    await until(() => b.provider.awareness.getStates().get(a.doc.clientID)?.name === 'a', 'so does the cursor')

    // The client's own address, which nginx wrote; what the client claims is gone.
    const claiming = new WebSocket(`wss://127.0.0.1:${proxy.port}/team/board`, {
      rejectUnauthorized: false,
      headers: { Authorization: `Bearer ${await issue()}`, 'X-Forwarded-For': '203.0.113.99' },
    })
    t.onTestFinished(() => claiming.terminate())
    await once(claiming, 'open')
    const clients = await fetch(`${server.httpUrl}/admin/clients`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    const rows = ((await clients.json()) as { clients: { address: string; room: string }[] }).clients
    expect(rows.map(({ address, room }) => [address, room])).toEqual(Array(3).fill(['127.0.0.1', 'team/board']))

    // A token of nearly 8 KB in the query: longer than one packet, and nginx hands it on in one piece.
    const long = through(t, proxy, 'team/board', await issue({ pad: 'p'.repeat(5500) }))
    await until(() => long.provider.synced, 'a long token passes')

    const refusals = [
      { client: through(t, proxy, 'team/board', await issue({ exp: seconds(-1) })), code: 4401 },
      { client: through(t, proxy, 'team/board', await issue({ rooms: ['other'] })), code: 4403 },
    ]
    await until(() => refusals.every(({ client }) => client.closed() !== null), 'they stop')
    for (const { client, code } of refusals) expect([client.closed()!.code, client.connections()]).toEqual([code, 1])

    // A close that is meant to be followed by a return.
    const sent = await fetch(`${server.httpUrl}/admin/rooms/team%2Fboard/close`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    expect(await sent.json()).toEqual({ closed: 4 })
    await until(() => a.connections() === 2 && a.provider.synced && b.provider.synced, 'they are back')
    expect([a.codes, b.codes]).toEqual([[1012], [1012]])

    // The page, and what is for operators: from this machine it is open, and asks for its own token.
    const page = await request(proxy.port, `GET / HTTP/1.1\r\nHost: board.example.com\r\nConnection: close\r\n\r\n`)
    expect(page).toMatch(/^HTTP\/1\.1 200/)
    expect(page.toLowerCase()).toContain('x-content-type-options: nosniff')
    expect(page.toLowerCase()).toContain("default-src 'none'")
    const admin = await request(proxy.port, `GET /admin/rooms HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(admin).toMatch(/^HTTP\/1\.1 401/)

    // A server that is away: a message nginx would repeat the request line in, were it not told to be silent.
    await server.close()
    const away = await request(
      proxy.port,
      `GET /team/board?token=${tokens[0]} HTTP/1.1\r\nHost: x\r\nReferer: https://x/?token=${tokens[0]}\r\nConnection: close\r\n\r\n`,
    )
    expect(away).toMatch(/^HTTP\/1\.1 502/)

    const logs = proxy.logs()
    expect(logs).toContain('/team/board 101')
    expect(logs).toContain('/team/board 502')
    for (const one of tokens) {
      for (const piece of [one, ...one.split('.')].filter((part) => part.length > 40)) expect(logs).not.toContain(piece)
    }
  },
)
