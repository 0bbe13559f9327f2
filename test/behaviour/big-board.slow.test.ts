import { isDeepStrictEqual } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { bigBoard, contentOf, isLevel } from '../support/big-board.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { canMakeNamespaces, thinLink } from '../support/thin-link.ts'
import { until } from '../support/until.ts'

/** Delays of small edits between two clients of another room, until stopped; sorted, ms. */
async function probing(t: TestContext, server: TestServer): Promise<() => number[]> {
  const probe = stockClient(t, server.url, 'elsewhere')
  const echo = stockClient(t, server.url, 'elsewhere')
  await Promise.all([probe.synced(), echo.synced()])
  const delays: number[] = []
  let sent = 0
  echo.doc.getMap('m').observe(() => delays.push(performance.now() - sent))
  const timer = setInterval(() => {
    sent = performance.now()
    probe.doc.getMap('m').set('n', sent)
  }, 100)
  t.onTestFinished(() => clearInterval(timer))
  return () => delays.splice(0).sort((a, b) => a - b)
}
const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? 0

test.runIf(canMakeNamespaces())(
  '[FC8] a 20 MB board loads over 1 Mbit/s with a stock client: no reconnect, synced last, nothing is ever parked',
  async (t) => {
    const limits = { maxDocBytes: 64 << 20, maxMessageBytes: 64 << 20 }
    const server = await startServer(t, { host: '0.0.0.0', ...limits })
    const board = bigBoard(20_000_000)
    const author = stockClient(t, server.url, 'board', { doc: board })
    await author.synced()
    const first = await rawMember(t, server.port, 'board', { record: false })
    await until(() => isDeepStrictEqual(contentOf(first.doc), contentOf(board)), 'the board is on the server', 60_000)
    first.reset()
    const link = thinLink(t, '1mbit')
    const thin = link.run('thin-client.ts', [`ws://${link.serverAddress}:${server.port}`, 'board'])
    let edits = 0
    const editing = setInterval(() => author.doc.getMap('meanwhile').set(`e${edits % 500}`, edits++), 200)
    t.onTestFinished(() => clearInterval(editing))
    await until(() => thin.said.length > 0, 'the thin client is synced', 280_000)
    clearInterval(editing)
    expect(thin.said[0]).toMatchObject({ event: 'synced', connections: 1, closes: 0, parked: 0 })
    expect(thin.said[0]!.updatesBeforeSync).toBeGreaterThan(100)
    await until(
      async () => {
        thin.tell('state')
        await new Promise((resolve) => setTimeout(resolve, 500))
        return isLevel(thin, author.doc)
      },
      'the edits made meanwhile are there',
      20_000,
    )
    expect(thin.said.at(-1)).toMatchObject({ connections: 1, parked: 0 })
  },
  360_000,
)

test.runIf(canMakeNamespaces())(
  '[FC4] [FC2] a reader at 64 KB/s in a room of bursts of 600 KB converges, is closed at most once, and nobody else notices',
  async (t) => {
    const server = await startServer(t, { host: '0.0.0.0' })
    const author = stockClient(t, server.url, 'board', { doc: bigBoard(2_000_000) })
    await author.synced()
    const delays = await probing(t, server)
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    const calm = p99(delays())
    const link = thinLink(t, '512kbit')
    const thin = link.run('thin-client.ts', [`ws://${link.serverAddress}:${server.port}`, 'board'])
    for (let burst = 0; burst < 12; burst++) {
      for (let i = 0; i < 60; i++) author.doc.getMap('bursts').set(`b${i}`, `${burst}`.repeat(10_000))
      await new Promise((resolve) => setTimeout(resolve, 5000))
    }
    const busy = p99(delays())
    await until(
      async () => {
        thin.tell('state')
        await new Promise((resolve) => setTimeout(resolve, 500))
        return isLevel(thin, author.doc)
      },
      'the thin reader has everything',
      120_000,
    )
    expect(thin.said.at(-1)!.closes).toBeLessThanOrEqual(1)
    expect(author.connections()).toBe(1)
    // Loose: the figure belongs to the benchmark, this only catches disasters.
    expect(busy).toBeLessThan(calm * 3 + 100)
  },
  300_000,
)
