import { spawnSync } from 'node:child_process'
import { expect, type TestContext, test } from 'vitest'
import { readMetrics } from '../support/metrics-check.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** Names that other people's dashboards rely on. */
const PROMISED = [
  'ws_active_sockets',
  'rooms_active',
  'ws_messages_received_total',
  'ws_messages_sent_total',
  'ws_messages_dropped_total',
  'ws_backpressure_drops_total',
  'ws_clients_dropped_total',
  'ws_rate_limit_exceeded_total',
  'ws_message_errors_total',
  'ws_buffered_bytes',
  'ws_queue_depth_max',
  'ws_oldest_unsent_seconds',
  'ws_resyncs_total',
  'ws_closes_total',
  'ws_delivery_delay_seconds',
  'room_flush_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'nodejs_eventloop_lag_seconds',
]

const page = async (server: TestServer): Promise<string> => {
  const response = await fetch(`${server.httpUrl}/metrics`)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return response.text()
}

/** Something of everything: rooms, people, edits, presence, refusals, mistakes, closes of several kinds. */
async function traffic(t: Pick<TestContext, 'onTestFinished'>, server: TestServer): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: 12 }, (_, i) => rawMember(t, server.port, `room "${i % 4}" \\ ${i}`.replaceAll(' ', '%20'))),
  )
  for (const [i, client] of clients.entries()) {
    client.doc.getMap('m').set('k', i)
    client.sendPresence([1000 + i, 1, { name: `user ${i}` }])
    client.send(Uint8Array.of(40 + i, 1, 2))
    client.sendText('text')
  }
  const stock = stockClient(t, server.url, 'room')
  await stock.synced()
  const refused = await rawClient(t, server.port, '%zz')
  await until(() => refused.isOver, 'one is refused')
  for (const [i, client] of clients.entries()) {
    if (i % 3 === 0) client.close(4000 + i)
    else if (i % 3 === 1) client.close(1000)
    else client.reset()
  }
  await until(async () => (await server.metric('ws_active_sockets')) === 1, 'they have left')
}

test('[OP3] promtool has nothing to say about the page', async (t) => {
  if (spawnSync('promtool', ['--version']).error !== undefined) {
    if (process.env.CI) throw new Error('promtool is missing: install the package `prometheus`')
    t.skip('promtool is not installed (package `prometheus`)')
  }
  const server = await startServer(t)
  await traffic(t, server)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await page(server) })
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' })
})

test('[OP3] no series stands there twice, every family is described, and histograms add up', async (t) => {
  const server = await startServer(t)
  await traffic(t, server)
  const { mistakes, families, samples } = readMetrics(await page(server))
  expect(mistakes).toEqual([])
  expect(families).toEqual(expect.arrayContaining(PROMISED))
  expect(families.some((name) => name.startsWith('storage_'))).toBe(true)
  // The check above saw histograms that have counted something.
  const count = (name: string) => samples.find((sample) => sample.name === name)?.value
  expect(count('ws_delivery_delay_seconds_count')).toBeGreaterThan(0)
  expect(count('room_flush_seconds_count')).toBeGreaterThan(0)
})

test('[OP2] the number of series does not depend on users, rooms, codes or types', async (t) => {
  const server = await startServer(t)
  const before = readMetrics(await page(server))
  await traffic(t, server)
  const after = readMetrics(await page(server))
  expect(after.series).toEqual(before.series)
  const other = after.samples.find(
    ({ name, labels }) => name === 'ws_closes_total' && labels.some(([, value]) => value === 'other'),
  )
  expect(other?.value).toBeGreaterThanOrEqual(4)
})

test('[OP2] the figures say what happened', async (t) => {
  const server = await startServer(t, { bufferSweepIntervalMs: 100 })
  const a = await rawMember(t, server.port, 'one')
  const b = await rawMember(t, server.port, 'one')
  await rawMember(t, server.port, 'two')
  expect(await server.metric('ws_active_sockets')).toBe(3)
  expect(await server.metric('rooms_active')).toBe(2)
  const [received, sent] = await Promise.all([
    server.metric('ws_messages_received_total{type="sync"}'),
    server.metric('ws_messages_sent_total{type="sync"}'),
  ])
  a.doc.getMap('m').set('k', 1)
  await until(() => b.doc.getMap('m').get('k') === 1, 'b has it')
  expect(await server.metric('ws_messages_received_total{type="sync"}')).toBe(received + 1)
  await until(async () => (await server.metric('ws_messages_sent_total{type="sync"}')) === sent + 1, 'one was sent')
  a.close()
  b.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 1, 'two have left')
  expect(await server.metric('ws_closes_total{code="1000"}')).toBe(1)
  expect(await server.metric('ws_closes_total{code="1006"}')).toBe(1)
})

test('[OP3] a page behind a token is for those who have it', async (t) => {
  const server = await startServer(t, { metricsToken: 'scrape' })
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${server.httpUrl}/metrics`, { headers })).status
  expect(await status({})).toBe(401)
  expect(await status({ authorization: 'Bearer wrong' })).toBe(401)
  expect(await status({ authorization: 'Bearer scrape' })).toBe(200)
})

const wrong: readonly (readonly [string, string, RegExp])[] = [
  ['a series twice', '# HELP a b\n# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 2\n', /twice/],
  ['no HELP', '# TYPE a gauge\na 1\n', /no HELP/],
  ['no TYPE', '# HELP a b\na 1\n', /no TYPE/],
  [
    'a family in two places',
    '# HELP a b\n# TYPE a gauge\na 1\n# HELP b b\n# TYPE b gauge\nb 1\na{x="1"} 1\n',
    /two places/,
  ],
  ['a broken label', '# HELP a b\n# TYPE a gauge\na{x="1} 1\n', /no sample/],
  ['a counter without _total', '# HELP a b\n# TYPE a counter\na 1\n', /_total/],
  ['no number', '# HELP a b\n# TYPE a gauge\na NaN\n', /not a number/],
  ['an unfinished line', '# HELP a b\n# TYPE a gauge\na 1', /does not end/],
  ['buckets that fall', histogram([3, 2, 2], 2), /cumulative/],
  ['a count that is not +Inf', histogram([1, 2, 2], 3), /_count/],
  ['no bucket +Inf', histogram([1, 2], 2), /\+Inf/],
]

function histogram(values: readonly number[], count: number): string {
  const lines = values.map((value, i) => `h_bucket{le="${['1', '2', '+Inf'][i]}"} ${value}`)
  return `# HELP h b\n# TYPE h histogram\n${lines.join('\n')}\nh_sum 1\nh_count ${count}\n`
}

test.for(wrong)('[OP3] the check of the page finds %s', ([_what, text, mistake]) => {
  expect(readMetrics(text).mistakes.join('\n')).toMatch(mistake)
})

test('[OP3] the check of the page is content with a right one', () => {
  expect(readMetrics(histogram([1, 2, 2], 2)).mistakes).toEqual([])
})
