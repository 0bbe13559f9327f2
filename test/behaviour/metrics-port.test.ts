import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { startServer } from '../support/start-server.ts'

/** What is answered to exactly these bytes, until the connection is closed. */
function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

test('[OP2] metrics on a port of their own: there alone, behind their token, and the rest as on the other', async (t) => {
  const metricsPort = await freePort()
  const server = await startServer(t, { metricsPort, metricsToken: 'secret' })
  const there = `http://127.0.0.1:${metricsPort}`
  expect((await fetch(`${server.httpUrl}/metrics`)).status).toBe(404)
  expect((await fetch(`${there}/metrics`)).status).toBe(401)
  const page = await fetch(`${there}/metrics`, { headers: { authorization: 'Bearer secret' } })
  expect([page.status, (await page.text()).includes('ws_active_sockets 0')]).toEqual([200, true])
  expect((await fetch(`${there}/readyz`)).status).toBe(200)
  expect((await fetch(`${server.httpUrl}/readyz`)).status).toBe(200)
  for (const path of ['/', '/admin/rooms', '/room']) expect((await fetch(`${there}${path}`)).status).toBe(404)
  expect((await fetch(`${there}/healthz`, { method: 'POST' })).status).toBe(405)
})

test('[OP1] it answers HTTP/1.0 checks, HEAD, OPTIONS, and requests with hundreds of headers', async (t) => {
  const metricsPort = await freePort()
  const server = await startServer(t, { metricsPort })
  expect(await ask(metricsPort, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok/)
  const head = await ask(metricsPort, 'HEAD /healthz HTTP/1.0\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head.endsWith('\r\n\r\n')).toBe(true)
  const headers = Array.from({ length: 300 }, (_, i) => `x-${i}: ${i}\r\n`).join('')
  expect(await ask(metricsPort, `GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`)).toMatch(
    /^HTTP\/1\.1 200 OK/,
  )
  for (const url of [server.httpUrl, `http://127.0.0.1:${metricsPort}`]) {
    const options = await fetch(`${url}/healthz`, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  }
})

test('[OP5] where that port is taken the server does not start, and leaves nothing behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port: metricsPort } = taken.address() as { port: number }
  const port = await freePort()
  await expect(startServer(t, { port, metricsPort })).rejects.toThrow(/EADDRINUSE/)
  await startServer(t, { port })
})
