/** `y-weir serve`: settings → server; signals; exit codes. Importing it starts it. */
import pino from 'pino'
import { LineBudget } from './observe/line-budget.ts'
import { LogOutput } from './observe/log-output.ts'
import { lastResort } from './server/last-resort.ts'
import { ConfigError, createServer, readConfig } from './server.ts'

/** sysexits.h: EX_CONFIG, something is wrong with the settings. */
const EXIT_CONFIG = 78

function refuse({ mistakes }: ConfigError): never {
  for (const mistake of mistakes) console.error(`y-weir: ${mistake}`)
  process.exit(EXIT_CONFIG)
}

function configuration() {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (error instanceof ConfigError) refuse(error)
    throw error
  }
}

const config = configuration()
const output = LogOutput.of()
const lines = new LineBudget(config.maxLogLinesPerSecond)
const log = pino({ level: config.logLevel, hooks: lines.hooks() }, output)
const server = createServer(config, { log, linesDropped: () => output.dropped, linesLeftOut: () => lines.leftOut })

/** Of what is left of the grace, for a reader of the log that is slow, ms. */
const LAST_LINES_MS = 200
async function exit(code?: number): Promise<never> {
  await output.flushed(LAST_LINES_MS)
  // After a fault that nothing caught, 1 is set already.
  process.exit(code)
}

lastResort({ log, graceMs: config.shutdownGraceMs, close: () => server.close() })

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    void server.close().then(() => exit())
  })
}

process.on('SIGHUP', () => {
  server.reloadCertificate().then(
    (done) =>
      log.info({ event: 'certificate_reloaded' }, done ? 'certificate reloaded' : 'SIGHUP: no certificate to reload'),
    (err: unknown) =>
      log.error({ event: 'certificate_refused', err }, 'certificate could not be reloaded: the old one stays'),
  )
})

try {
  await server.listen()
} catch (error) {
  if (error instanceof ConfigError) refuse(error)
  log.fatal({ event: 'cannot_start', err: error }, 'cannot start')
  await exit(1)
}
