import { expect, test } from 'vitest'
import { startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[MM7] with 300 MB and many connections a message of 4 MB still arrives: its client is cut once and comes back to a place that takes it', async (t) => {
  const server = await startServerProcess(t, { MAX_MEMORY_BYTES: '300000000' })
  const others = await Promise.all([1, 2, 3].map(() => rawMember(t, server.port, 'board')))
  const sender = stockClient(t, server.url, 'board')
  await sender.synced()
  sender.doc.getMap('m').set('before', 1)
  await until(() => others.every(({ doc }) => doc.getMap('m').get('before') === 1), 'usual edits arrive')
  sender.doc.getMap('m').set('image', new Uint8Array(4_000_000))
  await until(() => others.every(({ doc }) => doc.getMap('m').has('image')), 'it arrives', 30_000)
  expect(await server.metric('ws_long_messages_cut_total')).toBe(1)
  expect(await server.metric('ws_closes_total{code="4413"}')).toBe(0)
  expect(others.every(({ isOver }) => !isOver)).toBe(true)
  expect(sender.connections()).toBe(2)
}, 60_000)
