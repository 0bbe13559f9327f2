import { createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { createServer } from '../../src/server.ts'
import { freePort } from '../support/free-port.ts'
import { startProcess, startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { stalledReader } from '../support/stalled-reader.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[OP1] /healthz and /readyz answer', async (t) => {
  const server = await startServer(t)
  for (const [path, body] of [
    ['healthz', 'ok'],
    ['readyz', 'ready'],
  ]) {
    const response = await fetch(`${server.httpUrl}/${path}`)
    expect([response.status, (await response.text()).trim()]).toEqual([200, body])
    expect((await fetch(`${server.httpUrl}/${path}`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${server.httpUrl}/${path}`, { method: 'POST' })).status).toBe(405)
  }
})

test('[OP1] while it stops, readiness is red, nobody gets in, and clients are closed with 1012', async (t) => {
  const server = await startServer(t, { shutdownGraceMs: 5000, closeGraceMs: 5000 })
  const stock = stockClient(t, server.url, 'board')
  await stock.synced()
  const slow = await stalledReader(t, server, stock, 140, 60_000)

  const closing = server.close()
  const ready = await fetch(`${server.httpUrl}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('shutting down')])
  expect((await fetch(`${server.httpUrl}/healthz`)).status).toBe(200)
  const late = await rawMemberStatus(server.port)
  expect(late).toMatch(/^HTTP\/1.1 503/)
  slow.resume()
  await closing
  await until(() => slow.isOver, 'the slow one is closed')
  expect(slow.closeFrame).toEqual({ code: 1012, reason: 'server restart' })
})

/** What an upgrade is answered with. */
function rawMemberStatus(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.once('error', reject)
    socket.once('data', (data) => {
      resolve(data.toString())
      socket.destroy()
    })
    socket.write(
      `GET /board HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
  })
}

test('[OP1] a client that does not read cannot hold the shutdown up beyond its deadline', async (t) => {
  const server = await startServer(t, { shutdownGraceMs: 1500, closeGraceMs: 60_000 })
  const stock = stockClient(t, server.url, 'board')
  await stock.synced()
  await stalledReader(t, server, stock, 140, 60_000)
  const began = performance.now()
  await server.close()
  expect(performance.now() - began).toBeLessThan(2500)
})

test('[OP1] [OP5] SIGTERM: clients are closed with 1012 and the process ends with 0 in time', async (t) => {
  const server = await startServerProcess(t, { SHUTDOWN_GRACE_MS: '4000' })
  const clients = await Promise.all(Array.from({ length: 40 }, (_, i) => rawMember(t, server.port, `board-${i % 5}`)))
  const closedAt: number[] = []
  for (const client of clients) client.socket.once('close', () => closedAt.push(performance.now()))
  const began = performance.now()
  server.child.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - began).toBeLessThan(4000)
  await until(() => clients.every(({ isOver }) => isOver), 'all are closed')
  expect(clients.map(({ closeFrame }) => closeFrame?.code)).toEqual(clients.map(() => 1012))
  // Spread, so that they do not all come back in the same instant.
  expect(Math.max(...closedAt) - Math.min(...closedAt)).toBeGreaterThan(20)
})

test('[OP1] SIGTERM twice, and SIGINT, are one shutdown', async (t) => {
  const server = await startServerProcess(t)
  const client = await rawMember(t, server.port, 'board')
  server.child.kill('SIGTERM')
  server.child.kill('SIGTERM')
  server.child.kill('SIGINT')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  expect(client.closeFrame?.code).toBe(1012)
  expect(server.output().match(/"shutting down"/g)).toHaveLength(1)
})

test('[OP4] wrong settings are all named at once, and the exit code is 78', async (t) => {
  const { exited, output } = startProcess(t, 'src/main.ts', {
    PORT: 'http',
    WS_MAX_QUEUED_MESSAGES: '-1',
    STORAGE: 'floppy',
    WS_IDLE_TIMEOUT_S: '5',
    TLS_CERT_FILE: '/etc/cert.pem',
  })
  expect(await exited).toEqual({ code: 78, signal: null })
  const named = output()
    .split('\n')
    .filter((line) => line !== '')
  expect(named).toHaveLength(5)
  for (const setting of ['PORT', 'WS_MAX_QUEUED_MESSAGES', 'STORAGE', 'WS_IDLE_TIMEOUT_S', 'TLS_CERT_FILE']) {
    expect(named.filter((line) => line.includes(`${setting} `))).toHaveLength(1)
  }
})

test('[OP5] a second server on the same port says so and does not start', async (t) => {
  // Named, not given by the system: the kernel never shares a port that it has picked itself.
  const first = await startServer(t, { port: await freePort() })
  const { exited, output } = startProcess(t, 'src/main.ts', { PORT: String(first.port), STORAGE: 'memory' })
  expect((await exited).code).toBe(1)
  expect(output()).toContain(`cannot listen on 127.0.0.1:${first.port}`)

  const here = createServer({ port: first.port, storage: 'memory', logLevel: 'silent' })
  await expect(here.listen()).rejects.toThrow(`cannot listen on 127.0.0.1:${first.port}`)
  await here.close()
  // The first one still gets all of its clients.
  const clients = await Promise.all(Array.from({ length: 5 }, () => rawMember(t, first.port, 'board')))
  expect(await first.metric('ws_active_sockets')).toBe(clients.length)
})

test('[OP5] close() leaves nothing running, nor does a server that cannot start, and the process ends by itself', async (t) => {
  const { exited, output } = startProcess(t, 'test/support/close-probe.ts')
  expect((await exited).code, output()).toBe(0)
  const report = JSON.parse(output().trim().split('\n').at(-1)!) as {
    started: number
    during: number
    left: []
    resources: string[]
  }
  expect(report.started).toBe(0)
  expect(report.during).toBeGreaterThan(0)
  expect(report.left).toEqual([])
  expect(report.resources.filter((name) => name === 'Timeout' || name.startsWith('TCP'))).toEqual([])
})

test('[OP5] close() before listen(), twice, and after it are harmless', async () => {
  const never = createServer({ port: 0, storage: 'memory', logLevel: 'silent' })
  await never.close()
  await never.close()
  const once = createServer({ port: 0, storage: 'memory', logLevel: 'silent' })
  const { port } = await once.listen()
  expect(await once.listen()).toEqual({ host: '127.0.0.1', port })
  await Promise.all([once.close(), once.close()])
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})
