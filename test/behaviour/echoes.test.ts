import { expect, test } from 'vitest'
import { startServer } from '../support/start-server.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

// Every stock provider listens for the end of the process.
process.setMaxListeners(0)

test('[IN3] 25 idle clients that echo every cursor, and 5 that move theirs for 10 s: nobody is limited', {
  timeout: 40_000,
}, async (t) => {
  const server = await startServer(t)
  const clients = Array.from({ length: 30 }, () => stockClient(t, server.url, 'board'))
  await Promise.all(clients.map((client) => client.synced()))
  const movers = clients.slice(0, 5)
  const idle = clients.slice(5)
  for (const [i, { awareness }] of clients.entries()) awareness.setLocalState({ name: `n${i}` })

  let moves = 0
  const began = performance.now()
  const moving = setInterval(() => {
    // 25 a second by the clock, however busy the machine is.
    for (const due = (performance.now() - began) / 40; moves < due; moves++) {
      for (const { awareness } of movers) awareness.setLocalStateField('cursor', { x: moves, y: moves * 2 })
    }
  }, 20)
  t.onTestFinished(() => clearInterval(moving))
  await until(() => performance.now() - began >= 10_000, 'ten seconds of it', 11_000)
  clearInterval(moving)
  const sees = (client: StockClient) =>
    movers.every(({ doc }) => client.awareness.getStates().get(doc.clientID)?.cursor?.x === moves - 1)
  await until(() => idle.every(sees), 'everybody sees where every cursor stopped', 2000)

  expect(moves).toBeGreaterThanOrEqual(240)
  // Each of the 25 sends back what it is told: without that, nothing was shown here.
  const echoes = await server.metric('ws_presence_echoes_total')
  expect(echoes).toBeGreaterThan(25 * 100)
  expect(await server.metric('ws_rate_limit_exceeded_total')).toBe(0)
  expect(await server.metric('ws_presence_refused_total{reason="not_owner"}')).toBe(0)
  expect(clients.every(({ connections }) => connections() === 1)).toBe(true)
})
