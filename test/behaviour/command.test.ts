/** `y-weir` as a person types it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, type TestContext, test } from 'vitest'
import { SETTINGS } from '../../src/settings/settings.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { programOf } from '../support/process.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function weir(t: TestContext, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...programOf('src/main.ts'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  t.onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk.toString()
  })
  const code = once(child, 'close').then(([exitCode]) => exitCode as number | null)
  return { child, said, code }
}

test('[OP4] --help has every setting, --version a number, and what is no flag is named', async (t) => {
  const help = weir(t, ['--help'])
  const version = weir(t, ['--version'])
  const wrong = weir(t, ['--prot', '80'])
  const mistaken = weir(t, ['--port', 'many', '--max-rooms=0'])
  expect(await help.code).toBe(0)
  for (const { env } of Object.values(SETTINGS)) {
    expect(help.said.out).toContain(`  --${env.toLowerCase().replaceAll('_', '-')}`)
  }
  expect([await version.code, version.said.out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
  expect([await wrong.code, wrong.said.err]).toEqual([64, expect.stringContaining('--prot')])
  expect([await mistaken.code, mistaken.said.err]).toEqual([78, expect.stringMatching(/PORT.*\n.*MAX_ROOMS/)])
})

test('[OP4] every setting is a flag, before the environment, and boards is there as well', async (t) => {
  const port = await freePort()
  const dataDir = dataDirectory(t)
  const server = weir(t, ['serve', '--port', `${port}`, `--data-dir=${dataDir}`], { PORT: '1' })
  await until(() => server.said.out.includes('"event":"listening"'), 'it listens', 20_000)
  const client = stockClient(t, `ws://127.0.0.1:${port}`, 'a board')
  await client.synced()
  client.doc.getMap('m').set('k', 1)
  await until(async () => {
    const list = weir(t, ['boards', 'list'], { DATA_DIR: dataDir })
    return (await list.code) === 0 && list.said.out.includes('"a board"')
  }, 'it is listed')
  server.child.kill('SIGTERM')
  expect(await server.code).toBe(0)
})

test('[FC6] stall reads nothing, and says how the server ended it', { timeout: 40_000 }, async (t) => {
  const server = await startServer(t, {
    maxCongestedMs: 2_000,
    bufferSweepIntervalMs: 100,
    closeGraceMs: 500,
    rateLimitMaxTokens: 100_000,
    inboundBytesPerSecond: 1 << 26,
  })
  const author = stockClient(t, server.url, 'room')
  await author.synced()
  const reader = weir(t, ['stall', `${server.url}/room`, '--seconds', '30'])
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'it is there')
  const drawing = setInterval(() => author.doc.getMap('m').set(`k${Math.random()}`, 'x'.repeat(60_000)), 5)
  t.onTestFinished(() => clearInterval(drawing))
  expect(await reader.code).toBe(0)
  expect(reader.said.out).toMatch(/(closed|cut) by the server after \d+ ms/)
  expect(await server.metric('ws_clients_dropped_total{reason="congested"}')).toBe(1)
})

test('stall says why it could not connect, and how it is used', async (t) => {
  const port = await freePort()
  const nobody = weir(t, ['stall', `ws://127.0.0.1:${port}/room`])
  const misused = weir(t, ['stall', 'room'])
  expect([await nobody.code, nobody.said.err]).toEqual([1, expect.stringContaining('ECONNREFUSED')])
  expect([await misused.code, misused.said.err]).toEqual([64, expect.stringContaining('y-weir stall <url>')])
})

test('stall reads at the pace it is told', { timeout: 40_000 }, async (t) => {
  const server = await startServer(t)
  const author = stockClient(t, server.url, 'room')
  await author.synced()
  author.doc.getArray('a').push(Array.from({ length: 20_000 }, (_, i) => `value ${i}`))
  const reader = weir(t, ['stall', `${server.url}/room`, '--seconds', '3', '--bytes-per-second', '20000'])
  expect(await reader.code).toBe(0)
  const read = [...reader.said.out.matchAll(/s: (\d+) bytes/g)].map(([, bytes]) => Number(bytes))
  expect(read.length).toBeGreaterThan(0)
  expect(read.at(-1)).toBeGreaterThan(10_000)
  expect(read.at(-1)).toBeLessThan(120_000)
  expect(reader.said.out).toContain('still connected')
})
