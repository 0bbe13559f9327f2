/** A PostgreSQL of a test's own, from Debian's package, in a directory of its own on a port of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

const HOME = '/usr/lib/postgresql'

/** Where the programs are; undefined: not installed (package `postgresql`), and in CI that is no excuse. */
function programs(): string | undefined {
  const versions = existsSync(HOME)
    ? readdirSync(HOME).filter((name) => existsSync(join(HOME, name, 'bin/initdb')))
    : []
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1)
  return newest === undefined ? undefined : join(HOME, newest, 'bin')
}

export const hasPostgres = programs() !== undefined || process.env.CI !== undefined
if (!hasPostgres) console.warn('skipped: PostgreSQL is missing (apt-get install postgresql)')

export class PostgresServer {
  readonly port: number
  readonly #directory: string
  readonly #bin: string
  /** PostgreSQL refuses to run as root: then it runs as the package's user. */
  readonly #as: readonly string[]
  #child: ChildProcess | undefined

  /** A new, running server. Whoever asked for it closes it. */
  static async start(): Promise<PostgresServer> {
    const bin = programs()
    if (bin === undefined) throw new Error('PostgreSQL is missing (apt-get install postgresql)')
    const directory = mkdtempSync(join(tmpdir(), 'y-weir-postgres-'))
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
      chownSync(directory, id('-u'), id('-g'))
    }
    chmodSync(directory, 0o700)
    const server = new PostgresServer(
      directory,
      bin,
      isRoot ? ['runuser', '-u', 'postgres', '--'] : [],
      await freePort(),
    )
    server.#run('initdb', '-A', 'trust', '-U', 'y_weir', '--no-sync', '-E', 'UTF8', '--locale=C', directory)
    await server.begin()
    return server
  }

  private constructor(directory: string, bin: string, as: readonly string[], port: number) {
    this.#directory = directory
    this.#bin = bin
    this.#as = as
    this.port = port
  }

  url(database = 'postgres'): string {
    return `postgres://y_weir@127.0.0.1:${this.port}/${database}`
  }

  /** An empty database; resolves with its URL. */
  async database(name: string): Promise<string> {
    const sql = postgres(this.url(), { max: 1, onnotice: () => {} })
    await sql.unsafe(`create database ${name}`)
    await sql.end()
    return this.url(name)
  }

  /** Starts it (again), where it was. */
  async begin(): Promise<void> {
    const [program, ...args] = [
      ...this.#as,
      ...[join(this.#bin, 'postgres'), '-D', this.#directory, '-p', `${this.port}`, '-k', this.#directory],
      // Processes are killed here, never the machine.
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off', '-c', 'max_connections=60'],
    ]
    this.#child = spawn(program!, args, { stdio: 'ignore', cwd: tmpdir() })
    await until(() => this.#isReady(), 'PostgreSQL answers', 20_000)
  }

  /** Ends it at once, as a crash would: what was committed is there when it begins again. */
  async crash(): Promise<void> {
    const gone = once(this.#child!, 'exit')
    this.#run('pg_ctl', 'stop', '-D', this.#directory, '-m', 'immediate')
    await gone
    this.#child = undefined
  }

  async close(): Promise<void> {
    if (this.#child !== undefined) await this.crash()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #isReady(): boolean {
    try {
      this.#run('pg_isready', '-h', '127.0.0.1', '-p', `${this.port}`, '-q')
      return true
    } catch {
      return false
    }
  }

  #run(program: string, ...args: readonly string[]): void {
    const [first, ...rest] = [...this.#as, join(this.#bin, program), ...args]
    execFileSync(first!, rest, { stdio: 'ignore', cwd: tmpdir() })
  }
}
