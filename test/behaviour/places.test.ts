/** Descriptors are counted for as long as the system holds them, and refusals are cheap for ever. */
import { readdirSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { startServerProcess } from '../support/process.ts'
import { rawMember, upgradeRequest } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

/** Not by fetch, which waits for ever when a connection is cut before its request was written. */
const isHealthy = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/healthz', agent: false, timeout: 2000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })

for (const [what, path, then] of [
  ['that bear no room name', 'x'.repeat(600), ''],
  ['that are members first and say goodbye', 'other', 'goodbye'],
] as const) {
  test(`[MM4] with 300 descriptors and 400 half-open upgrades ${what}, the process lives, /healthz answers, members go on`, async (t) => {
    const server = await startServerProcess(t, {}, { maxDescriptors: 300 })
    await until(() => /MAX_CONNECTIONS is cut/.test(server.output()), 'the log says what holds')
    const [author, reader] = await Promise.all([1, 2].map(() => rawMember(t, server.port, 'board')))
    const sockets: Socket[] = []
    t.onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    let most = 0
    for (let i = 0; i < 400; i++) {
      // Never closes its side, whatever the server says.
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      sockets.push(socket)
      socket.write(upgradeRequest(server.port, path))
      socket.once('data', () => {
        if (then === 'goodbye') socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]))
      })
      if (i % 20 !== 0) continue
      await new Promise((resolve) => setTimeout(resolve, 10))
      most = Math.max(most, readdirSync(`/proc/${server.child.pid}/fd`).length)
      author!.doc.getMap('m').set('i', i)
    }
    expect(most).toBeLessThan(300)
    await until(() => isHealthy(server.port), '/healthz answers')
    expect(reader!.isOver || author!.isOver).toBe(false)
    await until(() => reader!.doc.getMap('m').get('i') === 380, 'members go on')
    expect(await server.metric('process_open_fds')).toBeLessThan(300)
    expect(server.output()).not.toMatch(/"level":[56]0/)
  })
}

/** Comes back 100 ms after it was closed, at an HTTP error with a back-off to 2.5 s, as stock clients before 3.1 do. */
function oldClient(port: number, path: string) {
  const seen = { frames: 0, http: 0 }
  let isOn = true
  let failed = 0
  const go = (): void => {
    if (!isOn) return
    const socket = connect(port, '127.0.0.1')
    let status = ''
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      status ||= bytes.toString('latin1', 9, 12)
      // The close frame: answered and closed, as a browser would.
      if (status === '101' && bytes.includes(0x88)) socket.end()
    })
    socket.on('close', () => {
      if (status === '101') seen.frames++
      else seen.http++
      failed = status === '101' ? 0 : failed + 1
      setTimeout(go, failed === 0 ? 100 : Math.min(2500, 100 * 2 ** failed))
    })
    socket.write(upgradeRequest(port, path))
  }
  go()
  return {
    seen,
    stop: () => {
      isOn = false
    },
  }
}

test('[MM5] an old client that comes back for ever is answered before the upgrade soon, and then once in 2.5 s', async (t) => {
  const server = await startServer(t)
  const client = oldClient(server.port, 'x'.repeat(600))
  t.onTestFinished(client.stop)
  // Eight close frames, for those that understand one, in about a second.
  await until(() => client.seen.http >= 2, 'it is turned away')
  expect(client.seen.frames).toBeLessThanOrEqual(8)
  const before = { ...client.seen }
  await new Promise((resolve) => setTimeout(resolve, 5000))
  expect(client.seen.frames + client.seen.http - before.frames - before.http).toBeLessThanOrEqual(5)
  expect(await server.metric('ws_refusals_total{answer="close_frame"}')).toBe(client.seen.frames)
  expect(await server.metric('ws_refusals_total{answer="http"}')).toBeGreaterThanOrEqual(client.seen.http)
  // Others of the same address are not answered for it.
  await rawMember(t, server.port, 'board')
})
