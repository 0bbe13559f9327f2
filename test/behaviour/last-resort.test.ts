import { expect, type TestContext, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { type ServerProcess, startServerProcess } from '../support/process.ts'
import { rawMember } from '../support/raw-client.ts'
import { stalledReader } from '../support/stalled-reader.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const GRACE_MS = 4_000
const faulty = (t: TestContext, env: Record<string, string>): Promise<ServerProcess> =>
  startServerProcess(t, env, { file: 'test/support/faulty-process.ts' })

for (const [signal, what] of [
  ['SIGUSR2', 'uncaught exception'],
  ['SIGCONT', 'unhandled rejection'],
] as const) {
  test(`[RB4] an ${what}: clients are closed with 1012, what they drew is stored, exit 1 within the grace`, async (t) => {
    const env = { STORAGE: 'lmdb', DATA_DIR: dataDirectory(t), SHUTDOWN_GRACE_MS: String(GRACE_MS) }
    const server = await faulty(t, env)
    const author = stockClient(t, server.url, 'board')
    await author.synced()
    const closes: number[] = []
    author.socket().on('close', (code) => closes.push(code))
    for (let i = 0; i < 100; i++) author.doc.getArray('items').push([i])
    await until(async () => (await server.metric('ws_messages_received_total{type="sync"}')) >= 102, 'all have arrived')
    const began = performance.now()
    server.child.kill(signal)
    expect(await server.exited).toEqual({ code: 1, signal: null })
    expect(performance.now() - began).toBeLessThan(GRACE_MS + 1_000)
    expect(closes).toEqual([1012])
    expect(server.output()).toContain(`${what}: stopping`)
    author.provider.destroy()
    const next = await startServerProcess(t, env)
    const { doc } = await rawMember(t, next.port, 'board')
    expect(doc.getArray('items').length).toBe(100)
  }, 60_000)
}

test('[RB4] a second one while stopping ends the process at once', async (t) => {
  const patience = { SHUTDOWN_GRACE_MS: '20000', WS_CLOSE_GRACE_MS: '60000', WS_MAX_CONGESTED_MS: '0' }
  const server = await faulty(t, patience)
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  // Stopping takes its whole grace for a reader that does not read.
  await stalledReader(t, server, author, 100, 90_000)
  const began = performance.now()
  server.child.kill('SIGUSR2')
  await until(() => server.output().includes('uncaught exception: stopping'), 'it stops')
  server.child.kill('SIGUSR2')
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.output()).toContain('while stopping: the end')
  expect(performance.now() - began).toBeLessThan(10_000)
}, 60_000)
