/** What whoever runs a server at LOG_LEVEL=warn is told of clients that meet a limit. */
import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, test } from 'vitest'
import WebSocket from 'ws'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[IN1] [AC4] a limited client and a refused origin are seen at LOG_LEVEL=warn, with who it is', async (t) => {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>)
      done()
    },
  })
  const log = pino({ level: 'warn' }, stream)
  const server = await startServer(t, { rateLimitMaxTokens: 20, allowedOrigins: 'tauri://localhost' }, log)
  const told = (event: string) => lines.find((line) => line.event === event)

  const stranger = new WebSocket(`${server.url}/room`, { origin: 'https://elsewhere.example' })
  stranger.on('error', () => {})
  t.onTestFinished(() => stranger.terminate())
  await until(() => told('origin_refused') !== undefined, 'the refused origin is told')
  expect(told('origin_refused')).toMatchObject({ level: 40, origin: 'https://elsewhere.example' })

  const app = new WebSocket(`${server.url}/room`, { origin: 'tauri://localhost' })
  t.onTestFinished(() => app.terminate())
  await new Promise((resolve) => app.on('open', resolve))

  const eager = stockClient(t, server.url, 'room')
  await eager.synced()
  for (let i = 0; i < 100; i++) eager.doc.getMap('m').set('k', i)
  await until(() => told('rate_limited') !== undefined, 'the limited client is told')
  expect(told('rate_limited')).toMatchObject({ level: 40, room: 'room', address: '127.0.0.1' })
})
