/** What is sent to somebody who does not read, and lies below every queue of ours: HTTP answers and pongs. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

test('[MM2] two thousand requests on a socket that never reads are not answered into memory: the socket is ended', async (t) => {
  const server = await startServerProcess(t)
  const page = await (await fetch(server.httpUrl)).text()
  const script = /src="\.?(\/assets\/[^"]+\.js)"/.exec(page)![1]!
  const before = residentMb(server.child.pid!)
  for (const request of [`GET ${script}`, `HEAD ${script}`, 'GET /metrics']) {
    const socket = connect(server.port, '127.0.0.1').pause()
    t.onTestFinished(() => void socket.destroy())
    let isCut = false
    socket.on('error', () => {
      isCut = true
    })
    socket.write(`${request} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2000))
    // The reset is noticed when something more is written.
    await until(() => {
      if (!isCut) socket.write('G')
      return isCut
    }, `${request}: the socket is ended`)
  }
  expect(residentMb(server.child.pid!) - before).toBeLessThan(30)
  // One that reads in time gets all of it.
  expect(await (await fetch(`${server.httpUrl}${script}`)).text()).toMatch(/.{100000}/s)
})

test.for(['/healthz', '/metrics', '/admin/rooms', '/nothing'])(
  '[MM2] [LT1] ten thousand requests for %s that wait for no answer are not all answered in one turn: the socket is ended',
  async (path, t) => {
    const server = await startServer(t)
    const socket = connect(server.port, '127.0.0.1')
    t.onTestFinished(() => void socket.destroy())
    let answers = 0
    let isOver = false
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      answers += bytes.toString('latin1').split('HTTP/1.1 ').length - 1
    })
    socket.on('close', () => {
      isOver = true
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(10_000))
    await until(() => isOver, 'the socket is ended')
    expect(answers).toBeGreaterThan(0)
    expect(answers).toBeLessThan(200)
    // One at a time there is no end to them.
    const statuses = new Set<number>()
    for (let i = 0; i < 100; i++) {
      const answer = await fetch(`${server.httpUrl}${path}`)
      await answer.text()
      statuses.add(answer.status)
    }
    expect(statuses.size).toBe(1)
  },
)

test('[MM2] a client that asks for pongs and does not read them is evicted at the hard mark', async (t) => {
  const server = await startServer(t, { maxBufferedBytes: 262_144, maxFramesPerSecond: 1_000_000 })
  const member = await rawMember(t, server.port, 'board')
  member.socket.pause()
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 1)])
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping))
  let isCut = false
  member.socket.on('error', () => {
    isCut = true
  })
  // The kernel swallows some 4 MB first.
  for (let i = 0; i < 200 && !isCut; i++) {
    member.socket.write(pings)
    await new Promise((resolve) => setTimeout(resolve, 5))
    if ((await server.metric('ws_clients_dropped_total{reason="buffer_limit"}')) > 0) break
  }
  expect(await server.metric('ws_clients_dropped_total{reason="buffer_limit"}')).toBe(1)
})
