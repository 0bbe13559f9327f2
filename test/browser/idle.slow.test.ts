import { expect } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { inPage, lineIs, openBoard, test, useBrowser } from './browser.ts'

useBrowser()

test('an idle page keeps its one connection', async (t) => {
  const server = await startServer(t)
  const page = await openBoard(t, server.httpUrl, 'idle')
  await page.waitForTimeout(12_000)
  await lineIs(page, 'connected')
  const answered = await inPage(page, ({ connection }) => connection.meter.framesIn)
  expect(answered).toBeGreaterThan(2)
  expect(await server.metric('ws_active_sockets')).toBe(1)
  expect(await server.metric('ws_closes_total{code="1000"}')).toBe(0)
})
