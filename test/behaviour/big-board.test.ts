import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { bigBoard, contentOf, isLevel } from '../support/big-board.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { canMakeNamespaces, thinLink } from '../support/thin-link.ts'
import { until } from '../support/until.ts'

test.runIf(canMakeNamespaces())(
  '[FC8] a 2 MB board loads over 4 Mbit/s with a stock client: one socket, synced last, nothing parked, edits meanwhile included',
  async (t) => {
    const link = thinLink(t, '4mbit')
    const server = await startServer(t, { host: '0.0.0.0' })
    const author = stockClient(t, server.url, 'board', { doc: bigBoard(2_000_000) })
    await author.synced()
    await rawMember(t, server.port, 'board').then((member) => member.close())
    const thin = link.run('thin-client.ts', [`ws://${link.serverAddress}:${server.port}`, 'board'])
    let edits = 0
    const editing = setInterval(() => {
      if (edits < 50) author.doc.getMap('meanwhile').set(`e${edits++}`, edits)
    }, 50)
    t.onTestFinished(() => clearInterval(editing))
    await until(() => thin.said.length > 0, 'the thin client is synced', 45_000)
    expect(thin.said[0]).toMatchObject({ event: 'synced', connections: 1, closes: 0, parked: 0 })
    // It came in parts: the last made it synced, those before had been applied already.
    expect(thin.said[0]!.updatesBeforeSync).toBeGreaterThan(10)
    await until(() => edits === 50, 'all edits are made')
    await until(
      async () => {
        thin.tell('state')
        await new Promise((resolve) => setTimeout(resolve, 100))
        return isLevel(thin, author.doc)
      },
      'the thin client has everything',
      10_000,
    )
    expect(thin.said.at(-1)).toMatchObject({ connections: 1, parked: 0 })
  },
  70_000,
)

test('[FC8] [FR6] forty cold joins of a 1 MB board at once: all synced, and another room goes on', async (t) => {
  const server = await startServer(t)
  const author = stockClient(t, server.url, 'board', { doc: bigBoard(1_000_000) })
  const probe = stockClient(t, server.url, 'elsewhere')
  const echo = stockClient(t, server.url, 'elsewhere')
  await Promise.all([author.synced(), probe.synced(), echo.synced()])
  const first = await rawMember(t, server.port, 'board')
  await until(() => isDeepStrictEqual(contentOf(first.doc), contentOf(author.doc)), 'the board is on the server')
  const joiners = await Promise.all(Array.from({ length: 40 }, () => rawMember(t, server.port, 'board')))
  let worst = 0
  for (let i = 0; i < 10; i++) {
    const sent = performance.now()
    probe.doc.getMap('m').set('n', i)
    await until(() => echo.doc.getMap('m').get('n') === i, 'the probe’s edit passes')
    worst = Math.max(worst, performance.now() - sent)
  }
  const want = contentOf(author.doc)
  for (const joiner of joiners) {
    expect(contentOf(joiner.doc)).toEqual(want)
    expect(joiner.parked).toBe(0)
    joiner.reset()
  }
  expect(worst).toBeLessThan(2000)
}, 60_000)
