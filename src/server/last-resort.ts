/**
 * What no boundary caught. Nobody knows what it left half done, so the process does not go on: clients are closed with 1012 and
 * come back to another, everything told is stored, and it exits with 1 for whoever starts it again.
 */
import type { Logger } from 'pino'

export interface LastResortParts {
  readonly log: Pick<Logger, 'fatal'>
  /** `SHUTDOWN_GRACE_MS` */
  readonly graceMs: number
  /** Stops in order, within the grace. */
  close(): Promise<void>
}

/** Beyond the grace: stopping may itself be what is broken. */
const MARGIN_MS = 500

/** Listens for what is thrown or rejected and reaches the process. The second such thing ends it at once. */
export function lastResort({ log, graceMs, close }: LastResortParts): void {
  const exit = (): never => process.exit(1)
  const failed = (err: unknown, what: string): void => {
    const isFirst = process.exitCode !== 1
    process.exitCode = 1
    log.fatal({ event: 'last_resort', err }, isFirst ? `${what}: stopping` : `${what} while stopping: the end`)
    if (!isFirst) exit()
    setTimeout(exit, graceMs + MARGIN_MS).unref()
    close().then(exit, exit)
  }
  process.on('uncaughtException', (error) => failed(error, 'uncaught exception'))
  process.on('unhandledRejection', (reason) => failed(reason, 'unhandled rejection'))
}
