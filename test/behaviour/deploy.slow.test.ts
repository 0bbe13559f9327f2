/** What deploy/ holds, tried as far as one machine without containers goes: the steps of the image by hand, rules, dashboard, units. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DEPLOY = join(ROOT, 'deploy')
const MB = 1e6

/** In CI nothing may be missing. */
function needs(t: TestContext, ...paths: readonly string[]): void {
  const missing = paths.filter((path) => !existsSync(path))
  if (missing.length > 0 && process.env.CI === undefined) t.skip(`not installed: ${missing.join(', ')}`)
}

function bytesOf(directory: string): number {
  return Number(execFileSync('du', ['-sb', directory], { encoding: 'utf8' }).split('\t')[0])
}

test('[OP1] what the image holds: assembled, small, run by another user on a tree it cannot write, probed, stopped', {
  timeout: 180_000,
}, async (t) => {
  const out = mkdtempSync(join(tmpdir(), 'y-weir-image-'))
  const data = mkdtempSync(join(tmpdir(), 'y-weir-data-'))
  t.onTestFinished(() => {
    for (const path of [out, data]) rmSync(path, { recursive: true, force: true })
  })
  await run('sh', [join(DEPLOY, 'assemble.sh'), out], { cwd: ROOT })
  // Beside a base of Node alone, 120 MB, it is what the image weighs.
  expect(bytesOf(out)).toBeLessThan(40 * MB)
  const binaries = execFileSync('find', [out, '-name', '*.node'], { encoding: 'utf8' }).trim().split('\n')
  expect(binaries.filter((path) => path.includes('uws_'))).toHaveLength(1)
  expect(existsSync(join(out, 'node_modules/vitest'))).toBe(false)

  const isRoot = process.getuid?.() === 0
  for (const path of [out, data]) chmodSync(path, 0o755)
  if (isRoot) execFileSync('chown', ['nobody', data])
  const port = await freePort()
  const env = { PATH: process.env.PATH!, PORT: `${port}`, DATA_DIR: join(data, 'boards'), HOME: '/nonexistent' }
  const as = isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '--no-new-privs'] : []
  const [program, ...args] = [...as, process.execPath, '--max-semi-space-size=4', join(out, 'dist/main.js')]
  const server = spawn(program!, args, { cwd: out, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.onTestFinished(() => void server.kill('SIGKILL'))
  server.stdout.resume()
  const probe = () =>
    run(process.execPath, [join(out, 'probe.mjs')], { env }).then(
      () => true,
      () => false,
    )
  expect(await probe()).toBe(false)
  await until(probe, 'the probe is content', 20_000)
  if (isRoot) expect(readFileSync(`/proc/${server.pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534/m)
  expect((await (await fetch(`http://127.0.0.1:${port}/`)).text()).toLowerCase()).toContain('<!doctype html>')
  const client = stockClient(t, `ws://127.0.0.1:${port}`, 'room')
  await client.synced()
  client.doc.getMap('m').set('k', 1)
  await until(
    async () => /storage_commits_total [1-9]/.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    'it is stored',
  )
  server.kill('SIGTERM')
  expect((await once(server, 'exit'))[0]).toBe(0)
})

test('[OP3] the alert rules are valid, and each fires when it should and not before', async (t) => {
  needs(t, '/usr/bin/promtool')
  const cwd = join(DEPLOY, 'prometheus')
  await run('promtool', ['check', 'rules', 'alerts.yml'], { cwd })
  await run('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd })
  const names = (file: string, pattern: RegExp) =>
    [...readFileSync(join(cwd, file), 'utf8').matchAll(pattern)].map(([, name]) => name!)
  const tried = new Set(names('alerts.test.yml', /alertname: (\w+)/g))
  expect(names('alerts.yml', /- alert: (\w+)/g).filter((name) => !tried.has(name))).toEqual([])
})

test('the units are what systemd understands, and give nothing away', async (t) => {
  needs(t, '/usr/bin/systemd-analyze')
  const directory = mkdtempSync(join(tmpdir(), 'y-weir-units-'))
  t.onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const name of readdirSync(join(DEPLOY, 'systemd'))) {
    // Where node is here, so that only the unit can be wrong; and one of many.
    const unit = readFileSync(join(DEPLOY, 'systemd', name), 'utf8').replaceAll('/usr/bin/node', process.execPath)
    const file = join(directory, name.replace('@', '@1'))
    writeFileSync(file, unit)
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file]).catch(
      (error) => error as { stderr: string },
    )
    expect(stderr.split('\n').filter((line) => line.includes('y-weir') && !line.includes('/opt/y-weir'))).toEqual([])
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', file])
    expect(Number(/level for \S+: ([\d.]+)/.exec(stdout)![1])).toBeLessThan(2.5)
  }
})

interface Answer {
  readonly status: string
  readonly data: {
    readonly result: readonly { readonly value: readonly [number, string]; readonly metric: Record<string, string> }[]
  }
}

/** A real Prometheus with the rules of deploy/, scraping one server every 250 ms. */
async function prometheus(t: TestContext, target: number, change: (rules: string) => string) {
  const directory = mkdtempSync(join(tmpdir(), 'y-weir-prometheus-'))
  const port = await freePort()
  const config = readFileSync(join(DEPLOY, 'prometheus/prometheus.yml'), 'utf8')
    .replaceAll('15s', '250ms')
    .replace('y-weir:1234', `127.0.0.1:${target}`)
  writeFileSync(join(directory, 'prometheus.yml'), config)
  writeFileSync(join(directory, 'alerts.yml'), change(readFileSync(join(DEPLOY, 'prometheus/alerts.yml'), 'utf8')))
  const args = [`--config.file=${join(directory, 'prometheus.yml')}`, `--storage.tsdb.path=${join(directory, 'data')}`]
  const child = spawn('/usr/bin/prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  t.onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    'Prometheus is ready',
    20_000,
  )
  return {
    /** The results of a query, and how many there are. */
    async query(expression: string): Promise<Answer['data']['result']> {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
      const answer = (await response.json()) as Answer & { error?: string }
      if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`)
      return answer.data.result
    },
    async alerts(): Promise<string[]> {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] }
      }
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
    },
  }
}

test('[OP2] [FC6] a real Prometheus sees one slow client: drops, buffer and eviction are read back, the alert fires, every panel has its answer', {
  timeout: 120_000,
}, async (t) => {
  needs(t, '/usr/bin/prometheus')
  const server = await startServer(t, {
    maxCongestedMs: 3_000,
    bufferSweepIntervalMs: 250,
    inboundBytesPerSecond: 1 << 28,
    rateLimitMaxTokens: 1_000_000,
  })
  // As they are, but for how long they wait: nobody sits here for ten minutes.
  const prom = await prometheus(t, server.port, (rules) =>
    rules.replaceAll(/for: \d+[mh]/g, 'for: 500ms').replaceAll('[5m]', '[20s]'),
  )
  const author = stockClient(t, server.url, 'room')
  await author.synced()
  const first = async (expression: string) => Number((await prom.query(expression))[0]?.value[1] ?? 0)
  await until(async () => (await first('up{job="y-weir"}')) === 1, 'it is scraped')

  for (let i = 0; i < 4; i++) (await rawMember(t, server.port, 'room')).pause()
  let isOver = false
  const drawing = (async () => {
    for (let i = 0; !isOver; i++) {
      author.doc.getMap('m').set(`k${i % 40}`, 'x'.repeat(60_000))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  await until(async () => (await first('sum(ws_backpressure_drops_total)')) > 0, 'drops are read back', 30_000)
  await until(async () => (await first('max_over_time(ws_buffered_bytes[1m])')) > 100_000, 'so is what is held', 30_000)
  await until(async () => (await first('sum(ws_clients_dropped_total)')) === 4, 'and the evictions', 30_000)
  await until(async () => (await prom.alerts()).includes('YWeirEvictions'), 'the alert fires', 30_000)
  expect(await prom.alerts()).not.toContain('YWeirDown')
  isOver = true
  await drawing

  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dashboards/y-weir.json'), 'utf8')) as {
    panels: { type: string; title: string; targets?: { expr: string }[] }[]
  }
  expect(panels.filter(({ type }) => type === 'row').length).toBeGreaterThanOrEqual(6)
  const silent: string[] = []
  for (const { title, targets } of panels) {
    for (const { expr } of targets ?? []) {
      const expression = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')
      if ((await prom.query(expression)).length === 0) silent.push(`${title}: ${expression}`)
    }
  }
  expect(silent).toEqual([])
})
