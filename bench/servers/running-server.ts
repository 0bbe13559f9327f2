/** One server process, from its start to its end. Ended by its handle. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Address } from '../load/peer.ts'
import { within } from '../load/waiting.ts'
import { ADMIN_TOKEN, type ServerKind } from './catalogue.ts'
import type { Cores } from './cores.ts'
import { cpuMs, mainThreadMs, residentBytes } from './process-figures.ts'

const START_TIMEOUT_MS = 20_000
const STOP_TIMEOUT_MS = 3000
const COLLECT_TIMEOUT_MS = 30_000
const collectModule = new URL('./collect.mjs', import.meta.url).href
const projectRoot = fileURLToPath(new URL('../../', import.meta.url))

/** Servers that run now: ended with this process if nobody did before. */
const running = new Set<RunningServer>()
process.on('exit', () => {
  for (const server of running) server.kill()
})

export class RunningServer {
  readonly kind: ServerKind
  readonly address: Address
  readonly #child: ChildProcess
  readonly #directory: string
  #complaints = ''

  private constructor(kind: ServerKind, port: number, child: ChildProcess, directory: string) {
    this.kind = kind
    this.address = { port, dialect: kind.dialect }
    this.#child = child
    this.#directory = directory
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString()).slice(-2000)
    })
  }

  /** Starts a server on a free port; resolves when it takes connections. */
  static async start(kind: ServerKind, cores: Cores): Promise<RunningServer> {
    const port = await freePort()
    const directory = mkdtempSync(join(tmpdir(), 'y-weir-bench-'))
    const node = [process.execPath, '--expose-gc', '--import', collectModule, ...kind.args]
    const [command, ...args] = [...cores.serverPrefix, ...node]
    const child = spawn(command!, args, {
      cwd: projectRoot,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: directory,
        ...kind.env,
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const server = new RunningServer(kind, port, child, directory)
    running.add(server)
    try {
      await server.#listening(port)
    } catch (error) {
      await server.stop()
      throw error
    }
    return server
  }

  get pid(): number {
    return this.#child.pid!
  }
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
  /** CPU time used so far, ms. */
  cpuMs(): number {
    return cpuMs(this.pid)
  }
  mainThreadMs(): number {
    return mainThreadMs(this.pid)
  }
  residentBytes(): number {
    return residentBytes(this.pid)
  }
  /** Last words on stderr. */
  get complaints(): string {
    return this.#complaints.trim()
  }

  /** Collects the server's garbage; resolves to its own view of its memory. */
  async collect(): Promise<NodeJS.MemoryUsage> {
    const answer = new Promise<NodeJS.MemoryUsage>((resolve) => {
      this.#child.once('message', (usage) => resolve(usage as NodeJS.MemoryUsage))
    })
    this.#child.send('collect')
    return within(COLLECT_TIMEOUT_MS, 'a collection', answer)
  }

  /** y-weir's own answer on one of its HTTP paths. */
  async get(path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.address.port}${path}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      signal: AbortSignal.timeout(5000),
    })
    return response.text()
  }

  async stop(): Promise<void> {
    if (!this.hasExited) {
      const gone = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
      this.#child.kill('SIGTERM')
      await Promise.race([gone, sleep(STOP_TIMEOUT_MS)])
      if (!this.hasExited) {
        this.#child.kill('SIGKILL')
        await gone
      }
    }
    this.kill()
  }
  /** At once, and without waiting. */
  kill(): void {
    running.delete(this)
    if (!this.hasExited) this.#child.kill('SIGKILL')
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #listening(port: number): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!(await isOpen(port))) {
      if (this.hasExited) throw new Error(`${this.kind.label} did not start: ${this.complaints}`)
      if (performance.now() > deadline) throw new Error(`${this.kind.label} does not listen: ${this.complaints}`)
      await sleep(50)
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ host: '127.0.0.1', port })
    const answer = (open: boolean): void => {
      probe.destroy()
      resolve(open)
    }
    probe.on('connect', () => answer(true))
    probe.on('error', () => answer(false))
  })
}
