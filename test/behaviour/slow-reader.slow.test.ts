import { expect, test } from 'vitest'
import { ADMIN_TOKEN, clientViews } from '../support/admin-view.ts'
import { pour, sameBoard } from '../support/boards.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const MiB = 1_048_576
const MAX_CONGESTED_MS = 3000

test('[FC6] a reader that is slow but never stops is not evicted for its age, however long it stays behind', async (t) => {
  const server = await startServer(t, {
    adminToken: ADMIN_TOKEN,
    maxCongestedMs: MAX_CONGESTED_MS,
    maxDocBytes: 64 * MiB,
    maxMessageBytes: 64 * MiB,
    rateLimitMaxTokens: 10_000,
  })
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  const reader = await rawMember(t, server.port, 'board', { record: false })
  pour(author.doc, 32 * MiB, 60_000)
  // The rows stand in the order in which the clients came.
  const state = async () => (await clientViews(server))[1]!.state
  await until(async () => (await state()) === 'behind', 'the reader is behind')

  // Three times as long as it may be stuck. The kernel tells the server of what was read in steps of a megabyte or two.
  const began = performance.now()
  while (performance.now() - began < 3 * MAX_CONGESTED_MS) {
    await reader.readSome(700_000)
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(await state()).toBe('behind')
  }
  expect(await server.metric('ws_clients_dropped_total{reason="congested"}')).toBe(0)
  reader.resume()
  await until(() => sameBoard(author.doc, reader.doc), 'it has the board')
  expect(reader.isOver).toBe(false)
})
