#!/usr/bin/env node
/** The process: environment → configuration → server; signals; exit codes. */
import pino from 'pino'
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
const log = pino({ level: config.logLevel })
const server = createServer(config, { log })

lastResort({ log, graceMs: config.shutdownGraceMs, close: () => server.close() })

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // After a fault that nothing caught, 1 is set already.
    void server.close().then(() => process.exit())
  })
}

process.on('SIGHUP', () => {
  server.reloadCertificate().then(
    (done) => log.info(done ? 'certificate reloaded' : 'SIGHUP: no certificate to reload'),
    (err: unknown) => log.error({ err }, 'certificate could not be reloaded: the old one stays'),
  )
})

try {
  await server.listen()
} catch (error) {
  if (error instanceof ConfigError) refuse(error)
  log.fatal({ err: error }, 'cannot start')
  process.exit(1)
}
