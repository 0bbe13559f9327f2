/** The library's entry. What a server is made of, and how it is connected, stands in server/start. */
import pino, { type Logger } from 'pino'
import { LineBudget } from './observe/line-budget.ts'
import { type Running, start } from './server/start.ts'
import { complete } from './settings/config.ts'
import type { Config } from './settings/settings.ts'
import { openStorage } from './storage/open-storage.ts'

export { ConfigError, readConfig } from './settings/config.ts'
export type { Config } from './settings/settings.ts'
export type { Storage } from './storage/storage.ts'

export interface Server {
  /** Opens the store and listens. Rejects with what is wrong: the port is taken, the store belongs to another process. */
  listen(): Promise<{ readonly host: string; readonly port: number }>
  /** Reads the certificate files again, for new connections; nobody is cut. False without TLS; rejects for bad files. */
  reloadCertificate(): Promise<boolean>
  /**
   * Stops in order: readiness red, no new upgrades, clients closed with 1012 spread over a window, everything stored. At most
   * `shutdownGraceMs`; calling it again gives the same promise. Nothing is left running afterwards.
   */
  close(): Promise<void>
}

export interface ServerOptions {
  /** pino's default at `logLevel`, within `maxLogLinesPerSecond`, without one. */
  readonly log?: Logger
  /** Log lines that could not be written so far: for `log_lines_dropped_total`. */
  readonly linesDropped?: () => number
  /** Log lines that were left out so far as too many of their kind: for `log_lines_left_out_total`. */
  readonly linesLeftOut?: () => number
  /**
   * Opens where boards are kept, in place of what the settings name, which it is handed. Called by `listen()`;
   * the server closes the store that it gives. A rejection is what `listen()` rejects with.
   */
  readonly openStorage?: typeof openStorage
}

/** A server with the given settings; the rest are defaults. Throws `ConfigError` naming every mistake. */
export function createServer(given: Partial<Config> = {}, options: ServerOptions = {}): Server {
  const config = complete(given)
  const lines = new LineBudget(config.maxLogLinesPerSecond)
  const log = options.log ?? pino({ level: config.logLevel, hooks: lines.hooks() })
  let running: Promise<Running> | null = null
  let closing: Promise<void> | null = null
  return {
    async listen() {
      running ??= start(config, log, {
        openStorage,
        linesDropped: () => 0,
        linesLeftOut: () => lines.leftOut,
        ...options,
      })
      const { port } = await running
      return { host: config.host, port }
    },
    async reloadCertificate() {
      const server = await running
      return server?.reload() ?? false
    },
    close() {
      closing ??= (running ?? Promise.resolve(null)).then(
        (server) => server?.close(),
        () => undefined,
      )
      return closing
    },
  }
}
