/** However the server was started, and whatever becomes of its output: it serves, and stops in order when it is told to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, type TestContext, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { programOf } from '../support/process.ts'
import { metricOf } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SERVER = [process.execPath, ...programOf('src/main.ts')].map((part) => `'${part}'`).join(' ')

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly httpUrl: string
  readonly output: () => string
  readonly exited: Promise<number | null>
}

/** A shell command that becomes a server, once it answers. */
async function run(t: TestContext, command: string): Promise<Running> {
  const port = await freePort()
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: `${port}`, STORAGE: 'memory' }
  const child = spawn('bash', ['-c', command], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  t.onTestFinished(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // All of the group are gone.
    }
  })
  const httpUrl = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${httpUrl}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(answers, 'the server answers', 20_000)
  return { child, port, httpUrl, output: () => output, exited }
}
/** The server's own process id, from its first line. */
async function pidOf({ output }: Running): Promise<number> {
  await until(() => /"pid":\d+/.test(output()), 'it has said who it is')
  return Number(/"pid":(\d+)/.exec(output())![1])
}
/** A process is there, whoever's it is. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('[OP1] SIGTERM to npm start stops the server in order, and npm with it', { timeout: 60_000 }, async (t) => {
  // Without its scripts around it: they build, which the tests have done.
  const server = await run(t, 'exec npm start --ignore-scripts')
  const client = stockClient(t, `ws://127.0.0.1:${server.port}`, 'room')
  await client.synced()
  const pid = await pidOf(server)
  const closes: number[] = []
  client.provider.on('connection-close', (event: { code: number } | null) => closes.push(event?.code ?? 0))
  server.child.kill('SIGTERM')
  await server.exited
  await until(() => !isThere(pid), 'the server is gone')
  expect(closes).toContain(1012)
  await until(() => server.output().includes('"event":"stopped"'), 'it has said so')
})

for (const [what, command, isCounted] of [
  // Node opens /dev/null in its place.
  ['is closed', `exec ${SERVER} >&-`, false],
  ['is full', `exec ${SERVER} >/dev/full`, true],
  // The shell goes on as the server; who reads its lines ends after the first.
  ['has a reader that is gone', `exec ${SERVER} > >(head -n 1)`, true],
] as const) {
  test(`[OP1] standard output ${what}: it serves, ${isCounted ? 'counts what nobody saw, ' : ''}and stops with 0`, async (t) => {
    const server = await run(t, command)
    const client = stockClient(t, `ws://127.0.0.1:${server.port}`, 'room')
    await client.synced()
    for (let i = 0; i < 3; i++) {
      server.child.kill('SIGHUP')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const dropped = () => metricOf(server.httpUrl, 'log_lines_dropped_total')
    if (isCounted) await until(async () => (await dropped()) > 0, 'lines are counted')
    server.child.kill('SIGTERM')
    expect(await server.exited).toBe(0)
  })
}

const SCRIPT = '/usr/bin/script'
test('[OP1] the terminal is gone: it goes on, and stops in order', async (t) => {
  if (!existsSync(SCRIPT)) t.skip('script is not installed (package `bsdutils`)')
  const server = await run(t, `exec ${SCRIPT} -qfc "${SERVER.replaceAll("'", '')}" /dev/null`)
  const pid = await pidOf(server)
  server.child.kill('SIGKILL')
  await server.exited
  const client = stockClient(t, `ws://127.0.0.1:${server.port}`, 'room')
  await client.synced()
  await until(async () => (await metricOf(server.httpUrl, 'log_lines_dropped_total')) > 0, 'lines are counted')
  process.kill(pid, 'SIGTERM')
  await until(() => !isThere(pid), 'the server is gone')
})

test('[OP1] a kind of line that comes without end is written so often a second, and the rest is counted', async (t) => {
  const server = await run(t, `LOG_MAX_LINES_PER_S=1 exec ${SERVER}`)
  const started = performance.now()
  const leftOut = () => metricOf(server.httpUrl, 'log_lines_left_out_total')
  const oneMore = async () => {
    server.child.kill('SIGHUP')
    return (await leftOut()) > 3
  }
  await until(oneMore, 'lines are left out')
  const lines = server.output().match(/"event":"certificate_reloaded"/g) ?? []
  expect(lines.length).toBeGreaterThanOrEqual(10)
  expect(lines.length).toBeLessThanOrEqual(11 + (performance.now() - started) / 1000)
})
