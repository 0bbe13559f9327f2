/** TLS in the process: certificates are replaced while people draw, and a bad one replaces nothing. */
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net'
import { connect } from 'node:tls'
import pino from 'pino'
import { expect, type TestContext, test } from 'vitest'
import WebSocket from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { type Config, createServer as createWeir } from '../../src/server.ts'
import { SECRET, token } from '../support/access.ts'
import { type Certificate, certificates } from '../support/certificates.ts'
import { startServerProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Whoever made it is of no interest here: every certificate signs itself. */
const TRUSTING = { rejectUnauthorized: false } as const

class TrustingSocket extends WebSocket {
  constructor(address: string, protocols?: string[]) {
    super(address, protocols, TRUSTING)
    this.on('error', () => {})
  }
}

interface Page {
  readonly doc: Y.Doc
  readonly provider: WebsocketProvider
  readonly connections: () => number
}

async function page(t: TestContext, port: number): Promise<Page> {
  const doc = new Y.Doc()
  let count = 0
  const provider = new WebsocketProvider(`wss://127.0.0.1:${port}`, 'board', doc, {
    WebSocketPolyfill: TrustingSocket as never,
    disableBc: true,
  })
  provider.on('status', ({ status }) => {
    if (status === 'connected') count++
  })
  t.onTestFinished(() => provider.destroy())
  await until(() => provider.synced, 'the page is synced')
  return { doc, provider, connections: () => count }
}

/** The name in the certificate a new connection is shown. */
function shownName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ...TRUSTING }, () => {
      const { CN } = socket.getPeerCertificate().subject
      resolve(String(CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function fetchText(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, agent: false, ...TRUSTING }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })
}
const daysLeft = async (port: number): Promise<number> =>
  Number(/^tls_certificate_days_left (\S+)$/m.exec(await fetchText(port, '/metrics'))?.[1])

async function startWith(t: TestContext, { certFile, keyFile }: Certificate, config: Partial<Config> = {}) {
  const server = createWeir(
    { port: 0, storage: 'memory', shutdownGraceMs: 2000, tlsCertFile: certFile, tlsKeyFile: keyFile, ...config },
    { log: pino({ level: 'silent' }) },
  )
  const { port } = await server.listen()
  t.onTestFinished(() => server.close())
  return { server, port }
}
function replace(from: Certificate, to: Certificate): void {
  copyFileSync(from.certFile, to.certFile)
  copyFileSync(from.keyFile, to.keyFile)
}

test('[AC4] a reloaded certificate is for new connections; nobody is cut, and the metric counts its days', async (t) => {
  const { make } = certificates(t)
  const used = make('first', 10)
  const { server, port } = await startWith(t, used)
  const [a, b] = [await page(t, port), await page(t, port)]
  expect(await shownName(port)).toBe('first')
  expect(await daysLeft(port)).toBeGreaterThan(9.9)
  expect(await daysLeft(port)).toBeLessThanOrEqual(10)
  expect(await fetchText(port, '/healthz')).toBe('ok\n')

  let n = 0
  const drawing = setInterval(() => a.doc.getMap('m').set('n', ++n), 5)
  t.onTestFinished(() => clearInterval(drawing))
  replace(make('second', 90), used)
  expect(await server.reloadCertificate()).toBe(true)
  expect(await shownName(port)).toBe('second')
  expect(await daysLeft(port)).toBeGreaterThan(89)
  // One from before and one from after in the same room.
  const c = await page(t, port)
  const from = n
  await until(() => Number(c.doc.getMap('m').get('n')) > from + 20, 'strokes arrive at the new one')
  clearInterval(drawing)
  c.doc.getMap('m').set('from c', 1)
  await until(() => b.doc.getMap('m').get('from c') === 1, 'and from it')
  expect([a.connections(), b.connections(), c.connections()]).toEqual([1, 1, 1])

  for (let i = 0; i < 10; i++) {
    replace(make(`round-${i}`, 30), used)
    await server.reloadCertificate()
    expect(await shownName(port)).toBe(`round-${i}`)
  }
  a.doc.getMap('m').set('after', 1)
  await until(() => b.doc.getMap('m').get('after') === 1 && c.doc.getMap('m').get('after') === 1, 'all go on')
  expect([a.connections(), b.connections(), c.connections()]).toEqual([1, 1, 1])
})

test('[AC4] files that cannot be used are named, and the old certificate stays', async (t) => {
  const { make } = certificates(t)
  const used = make('good', 10)
  const other = make('other', 20)
  const { server, port } = await startWith(t, used)
  const a = await page(t, port)
  const days = await daysLeft(port)
  for (const [what, spoil] of [
    ['another key', () => copyFileSync(other.keyFile, used.keyFile)],
    ['another certificate', () => copyFileSync(other.certFile, used.certFile)],
    ['no certificate', () => writeFileSync(used.certFile, 'not a certificate\n')],
    ['half a key', () => writeFileSync(used.keyFile, '-----BEGIN PRIVATE KEY-----\nMIGH')],
  ] as const) {
    const kept = make('good', 10)
    replace(kept, used)
    spoil()
    await expect(server.reloadCertificate(), what).rejects.toThrow(/good\.(pem|key)/)
    expect(await shownName(port)).toBe('good')
  }
  expect(Math.abs((await daysLeft(port)) - days)).toBeLessThan(0.1)
  expect(a.connections()).toBe(1)
  replace(other, used)
  expect(await server.reloadCertificate()).toBe(true)
  expect(await shownName(port)).toBe('other')
})

test('[OP4] a server whose certificate cannot be used does not start, and says why', async (t) => {
  const { make } = certificates(t)
  const [one, other] = [make('one', 10), make('other', 10)]
  await expect(startWith(t, { certFile: one.certFile, keyFile: other.keyFile })).rejects.toThrow(
    /other\.key is not the key of .*one\.pem/,
  )
  await expect(startWith(t, { certFile: '/nowhere.pem', keyFile: one.keyFile })).rejects.toThrow(/nowhere\.pem/)
})

test('[AC4] plain HTTP on the TLS port, and a handshake that never ends, harm nobody', async (t) => {
  const { make } = certificates(t)
  const { port } = await startWith(t, make('good', 10))
  const a = await page(t, port)
  const plain = connectPlain(port, '127.0.0.1')
  let isOver = false
  plain.on('error', () => {})
  plain.on('close', () => {
    isOver = true
  })
  plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const silent = connectPlain(port, '127.0.0.1')
  t.onTestFinished(() => {
    silent.destroy()
  })
  await until(() => isOver, 'it is cut')
  const b = await page(t, port)
  a.doc.getMap('m').set('k', 1)
  await until(() => b.doc.getMap('m').get('k') === 1, 'the others go on')
})

test('[AC5] over TLS a token of 8 KB in the query comes through packets of any size', async (t) => {
  const { make } = certificates(t)
  const { port } = await startWith(t, make('good', 10), { authJwtSecret: SECRET })
  // A network in small: what passes is cut into packets that are read one by one.
  const network = createServer((near) => {
    const far = connectPlain(port, '127.0.0.1')
    far.setNoDelay(true)
    let sending = Promise.resolve()
    near.on('data', (chunk) => {
      for (let at = 0; at < chunk.length; at += 1448) {
        sending = sending.then(() => {
          far.write(chunk.subarray(at, at + 1448))
          return new Promise((resolve) => setTimeout(resolve, 10))
        })
      }
    })
    far.on('data', (chunk) => near.write(chunk))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    network.close()
  })
  const jwt = await token({ pad: 'p'.repeat(5700) })
  expect(jwt.length).toBeGreaterThan(7700)
  const socket = new WebSocket(
    `wss://127.0.0.1:${(network.address() as AddressInfo).port}/board?token=${jwt}`,
    TRUSTING,
  )
  t.onTestFinished(() => socket.terminate())
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject).once('close', reject))
})

test('[AC4] connections are counted right however they end: none is left over, and the cap holds', async (t) => {
  const { make } = certificates(t)
  const used = make('good', 10)
  const server = await startServerProcess(
    t,
    { TLS_CERT_FILE: used.certFile, TLS_KEY_FILE: used.keyFile },
    { maxDescriptors: 100 },
  )
  const { port } = server
  const descriptors = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length
  const before = descriptors()
  const over = (socket: { once(event: 'close', listener: () => void): unknown }) =>
    new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const ignoring = <T extends { on(event: 'error', listener: () => void): unknown }>(socket: T): T => {
    socket.on('error', () => {})
    return socket
  }
  const endings: (() => Promise<unknown>)[] = [
    // No TLS at all, no word, half a hello and a reset.
    () => {
      const socket = ignoring(connectPlain(port, '127.0.0.1'))
      socket.resume()
      socket.write('GET / HTTP/1.1\r\n\r\n')
      return over(socket)
    },
    () => {
      const socket = ignoring(connectPlain(port, '127.0.0.1', () => socket.destroy()))
      return over(socket)
    },
    () => {
      const socket = ignoring(connectPlain(port, '127.0.0.1', () => socket.resetAndDestroy()))
      socket.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1))
      return over(socket)
    },
    // Done before anything was asked, and after an answer.
    () => {
      const socket = ignoring(connect({ port, host: '127.0.0.1', ...TRUSTING }, () => socket.destroy()))
      return over(socket)
    },
    () => fetchText(port, '/healthz'),
    // Sockets that end politely, and by a reset.
    () => {
      const socket = new TrustingSocket(`wss://127.0.0.1:${port}/board`)
      socket.once('open', () => socket.close())
      return over(socket)
    },
    () => {
      const socket = new TrustingSocket(`wss://127.0.0.1:${port}/board`)
      socket.once('open', () => socket.terminate())
      return over(socket)
    },
  ]
  for (let round = 0; round < 20; round++) await Promise.all(endings.map((end) => end()))
  await until(() => descriptors() <= before, 'all descriptors are given back')

  // Counted too high, these would find no place; too low, those after them would get one that is not there.
  const sockets = Array.from({ length: 30 }, () => new TrustingSocket(`wss://127.0.0.1:${port}/board`))
  t.onTestFinished(() => {
    for (const socket of sockets) socket.terminate()
  })
  await until(() => sockets.every(({ readyState }) => readyState === WebSocket.OPEN), 'all are in')
  const pressing = Array.from({ length: 200 }, () => ignoring(connectPlain(port, '127.0.0.1')))
  for (const socket of pressing) socket.resume()
  t.onTestFinished(() => {
    for (const socket of pressing) socket.destroy()
  })
  await until(() => pressing.filter(({ destroyed }) => destroyed).length > 140, 'those too many are cut')
  // 16 stay free of clients, of which the listening socket has one.
  expect(descriptors()).toBeLessThanOrEqual(100 - 15)
  expect(sockets.every(({ readyState }) => readyState === WebSocket.OPEN)).toBe(true)
})

test('[AC4] SIGHUP reloads the certificate of the running process; bad files are logged and change nothing', async (t) => {
  const { make } = certificates(t)
  const used = make('first', 10)
  const server = await startServerProcess(t, { TLS_CERT_FILE: used.certFile, TLS_KEY_FILE: used.keyFile })
  const a = await page(t, server.port)
  replace(make('second', 90), used)
  server.child.kill('SIGHUP')
  await until(() => server.output().includes('certificate reloaded'), 'it is reloaded')
  expect(await shownName(server.port)).toBe('second')

  writeFileSync(used.certFile, 'not a certificate\n')
  server.child.kill('SIGHUP')
  await until(() => server.output().includes('certificate could not be reloaded: the old one stays'), 'it is logged')
  expect(await shownName(server.port)).toBe('second')
  const b = await page(t, server.port)
  a.doc.getMap('m').set('k', 1)
  await until(() => b.doc.getMap('m').get('k') === 1, 'people go on')
  expect(a.connections()).toBe(1)
  expect(server.child.exitCode).toBeNull()
  expect(server.output()).not.toContain('PRIVATE KEY')
})

test('[AC4] SIGHUP without TLS is no end', async (t) => {
  const server = await startServerProcess(t)
  server.child.kill('SIGHUP')
  await until(() => server.output().includes('no certificate to reload'), 'it is logged')
  expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200)
})
