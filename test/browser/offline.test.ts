import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { agree, drag, inPage, lineIs, openBoard, shapesOf, test, untilInPage, useBrowser } from './browser.ts'
import { lineSwitch } from './line-switch.ts'

useBrowser()

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

test('drawing goes on offline, survives a reload while offline, and arrives on return', async (t) => {
  const server = await startServer(t)
  const line = await lineSwitch(t, server.port)
  const a = await openBoard(t, line.httpUrl, 'offline')
  const b = await openBoard(t, server.httpUrl, 'offline')
  await a.keyboard.press('p')
  await drag(a, [400, 200], [600, 240])
  await agree(a, b, 1)

  line.cut()
  await lineIs(a, 'offline')
  await drag(a, [400, 300], [600, 340])
  await b.keyboard.press('p')
  await drag(b, [400, 400], [600, 440])
  expect(await a.textContent('.pill-label')).toMatch(/^Offline · \d+ changes not sent yet$/)

  a.on('dialog', (dialog) => void dialog.accept())
  await a.reload()
  await untilInPage(a, (y) => y.board.shapes.size === 2)
  await lineIs(a, 'offline', 'connecting')
  expect(await inPage(a, (y) => y.connection.unsent.count.value)).toBeGreaterThan(0)
  await a.keyboard.press('p')
  await drag(a, [400, 500], [600, 540])

  line.restore()
  await lineIs(a, 'connected')
  await agree(a, b, 4)
  await untilInPage(a, (y) => y.connection.unsent.count.value === 0)
  expect(a.complaints).toEqual([])
})

test('a network that is silently gone is told within 5 s, with the changes that may be lost on it', async (t) => {
  const server = await startServer(t)
  const line = await lineSwitch(t, server.port)
  const a = await openBoard(t, line.httpUrl, 'silent')
  await a.keyboard.press('p')
  line.freeze()
  const gone = performance.now()
  await drag(a, [400, 300], [600, 340])
  await lineIs(a, 'offline', 'connecting')
  expect(performance.now() - gone).toBeLessThan(5_500)
  await untilInPage(a, (y) => y.connection.unsent.count.value > 0)
  line.restore()
  await lineIs(a, 'connected')
  const b = await openBoard(t, server.httpUrl, 'silent')
  await agree(a, b, 1)
})

test('leaving with unsent changes asks first, with everything sent it does not', async (t) => {
  const server = await startServer(t)
  const line = await lineSwitch(t, server.port)
  const a = await openBoard(t, line.httpUrl, 'leaving')
  const asked: string[] = []
  a.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  await a.keyboard.press('p')
  await drag(a, [400, 300], [600, 340])
  await a.reload()
  expect(asked).toEqual([])
  await lineIs(a, 'connected')
  line.cut()
  await lineIs(a, 'offline')
  await a.keyboard.press('p')
  await drag(a, [400, 400], [600, 440])
  await a.reload()
  expect(asked).toEqual(['beforeunload'])
})

test('the server restarts under both windows: told as such, and what was drawn meanwhile is there afterwards', async (t) => {
  // A port of its own choice would be closed to the second server for a minute (TIME_WAIT without SO_REUSEADDR).
  const first = await startServer(t, { port: await freePort() })
  const a = await openBoard(t, first.httpUrl, 'restart')
  const b = await openBoard(t, first.httpUrl, 'restart')
  await a.keyboard.press('p')
  await b.keyboard.press('p')
  await drag(a, [400, 200], [600, 240])
  await agree(a, b, 1)
  await first.close()
  await lineIs(a, 'restarting', 'offline')
  await lineIs(b, 'restarting', 'offline')
  await drag(a, [400, 300], [600, 340])
  await drag(b, [400, 400], [600, 440])
  await startServer(t, { port: first.port })
  await lineIs(a, 'connected')
  await lineIs(b, 'connected')
  await agree(a, b, 3)
  const c = await openBoard(t, first.httpUrl, 'restart')
  await agree(a, c, 3)
  expect(await shapesOf(b)).toHaveLength(3)
})
