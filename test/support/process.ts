import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'vitest'
import { metricOf } from './start-server.ts'
import { until } from './until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Started {
  readonly child: ChildProcess
  /** Everything written to standard output and standard error so far. */
  readonly output: () => string
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
}

export interface ProcessOptions {
  /** `ulimit -n`, soft and hard. */
  readonly maxDescriptors?: number
  /** What is run in place of `src/main.ts`. */
  readonly file?: string
}

/**
 * What runs a file of `src`: its build where there is one as new as the source, as after `npm test`'s own build; else the source
 * itself, which takes a second longer to start.
 */
export function programOf(file: string): string[] {
  const built = join(ROOT, file.replace(/^src\/(.*)\.ts$/, 'dist/$1.js'))
  const isBuilt =
    file.startsWith('src/') && (statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= newestSource()
  return isBuilt ? [built] : ['--import', 'tsx', file]
}
function newestSource(): number {
  const src = join(ROOT, 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  return Math.max(...files.map((file) => statSync(join(src, file)).mtimeMs))
}

/**
 * A TypeScript file of this repository as a process of its own, killed when the test is over. It sees only `env` and what
 * every process needs.
 */
export function startProcess(
  t: Pick<TestContext, 'onTestFinished'>,
  file: string,
  env: Record<string, string> = {},
  { maxDescriptors }: ProcessOptions = {},
): Started {
  // As a loader and not as a command, and the shell replaced: signals then reach the process itself.
  const command = [process.execPath, ...programOf(file)]
  const limited = ['bash', '-c', `ulimit -n ${maxDescriptors}; exec "$@"`, 'bash', ...command]
  const [program, ...args] = maxDescriptors === undefined ? command : limited
  const child = spawn(program!, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  t.onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, output: () => output, exited }
}

export interface ServerProcess extends Started {
  readonly port: number
  /** `ws://127.0.0.1:port` */
  readonly url: string
  /** `http://127.0.0.1:port` */
  readonly httpUrl: string
  /** One sample of the metrics page; 0 when it is not there. */
  metric(sample: string): Promise<number>
  /** `kill -9`, and waits for the end. */
  kill(): Promise<void>
}

/** The server's process on a free port, as `npm start` runs it, once it listens. */
export async function startServerProcess(
  t: Pick<TestContext, 'onTestFinished'>,
  env: Record<string, string> = {},
  options: ProcessOptions = {},
): Promise<ServerProcess> {
  const started = startProcess(t, options.file ?? 'src/main.ts', { PORT: '0', STORAGE: 'memory', ...env }, options)
  let isOver = false
  void started.exited.then(() => {
    isOver = true
  })
  const port = () => /"port":(\d+).*"listening"/.exec(started.output())?.[1]
  await until(() => isOver || port() !== undefined, 'the server listens', 20_000)
  if (isOver) throw new Error(`the server ended:\n${started.output()}`)
  const httpUrl = `http://127.0.0.1:${port()}`
  return {
    ...started,
    port: Number(port()),
    url: `ws://127.0.0.1:${port()}`,
    httpUrl,
    metric: (sample) => metricOf(httpUrl, sample),
    kill: async () => {
      started.child.kill('SIGKILL')
      await started.exited
    },
  }
}
