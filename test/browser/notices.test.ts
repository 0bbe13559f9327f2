import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, type TestContext } from 'vitest'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { startServer } from '../support/start-server.ts'
import { drag, inPage, lineIs, openBoard, test, useBrowser } from './browser.ts'

useBrowser()

/** Pages from the real server, sockets of its own: a board that is empty, and notices as the test wants them. */
async function noticingServer(t: TestContext) {
  const real = await startServer(t)
  const http = createServer((incoming, response) => {
    incoming.pipe(
      request(`${real.httpUrl}${incoming.url}`, { headers: incoming.headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }),
    )
  })
  const sockets = new WebSocketServer({ server: http })
  let current: WebSocket | null = null
  let asked = ''
  sockets.on('connection', (socket, upgrade) => {
    current = socket
    asked = upgrade.url!
    // An empty SyncStep2: that is all it takes to be synced.
    socket.send(Uint8Array.of(0, 1, 2, 0, 0))
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0 && data[1] === 0) socket.send(Uint8Array.of(0, 1, 2, 0, 0))
      if (data[0] === 3) socket.send(Uint8Array.of(1, 1, 0))
    })
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  t.onTestFinished(() => {
    sockets.close()
    http.closeAllConnections()
    http.close()
  })
  return {
    httpUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: () => asked,
    notice(kind: string) {
      const text = Buffer.from(JSON.stringify({ kind }))
      current!.send(Buffer.concat([Buffer.of(100, text.length), text]))
    },
  }
}

test('[FC10] notices are asked for and shown: behind, limited, slowed, and their ends', async (t) => {
  const server = await noticingServer(t)
  const page = await openBoard(t, server.httpUrl, 'notices')
  expect(server.asked()).toContain('notices=1')
  for (const [begin, state, end] of [
    ['behind', 'behind', 'caught_up'],
    ['limited', 'limited', 'limit-lifted'],
    ['degraded', 'slowed', 'degraded-lifted'],
  ] as const) {
    server.notice(begin)
    await lineIs(page, state)
    server.notice(end)
    await lineIs(page, 'connected')
  }
  server.notice('from the future')
  await page.waitForTimeout(100)
  expect(page.complaints).toEqual([])
})

test('[AC2] a read-only board is told once, its tools are locked, the cursor still moves', async (t) => {
  const server = await noticingServer(t)
  const page = await openBoard(t, server.httpUrl, 'reading')
  server.notice('read-only')
  await lineIs(page, 'read-only')
  expect(await page.isDisabled('.tool[data-tool="pen"]')).toBe(true)
  await page.keyboard.press('p')
  await drag(page, [400, 300], [600, 340])
  expect(await inPage(page, ({ board }) => board.shapes.size)).toBe(0)
})

test('[AC2] a board that becomes read-only under one’s hands keeps what was written, and says what it does not take', async (t) => {
  const server = await noticingServer(t)
  const page = await openBoard(t, server.httpUrl, 'revoked')
  await page.keyboard.press('n')
  await page.mouse.click(600, 300)
  await page.keyboard.type('so far')
  server.notice('read-only')
  await lineIs(page, 'read-only')
  expect(await page.isVisible('.text-editor')).toBe(false)
  expect(await inPage(page, ({ board }) => board.ordered().map(({ text }) => text))).toEqual(['so far'])
  await page.keyboard.press('Control+c')
  await page.keyboard.press('Control+v')
  await page.waitForSelector('.toast:has-text("Nothing can be added to this board.")')
  expect(await inPage(page, ({ board }) => board.shapes.size)).toBe(1)
})
