/** What the log says at start: where, with which boards, and a warning wherever it is more open or smaller than it looks. */
import type { Logger } from 'pino'
import type { Authorizer } from '../access/authorizer.ts'
import { isLoopbackAddress } from '../access/client-address.ts'
import { adjustedSettings } from '../settings/adjusted-settings.ts'
import type { Config } from '../settings/settings.ts'
import type { Places } from './places.ts'

export function announce(
  config: Config,
  log: Logger,
  { authorizer, places, port }: { readonly authorizer: Authorizer; readonly places: Places; readonly port: number },
): void {
  const { host, storage } = config
  log.info(
    { event: 'listening', host, port, storage, boards: whereBoardsAre(config), open: authorizer.open },
    'listening',
  )
  for (const sentence of adjustedSettings(config)) log.info({ event: 'setting_adjusted' }, sentence)
  for (const warning of authorizer.warnings) log.warn({ event: 'keys_warning' }, warning)
  if (storage === 'memory')
    log.warn({ event: 'boards_not_kept' }, 'STORAGE=memory: a board is thrown away when its room empties')
  if (authorizer.open && !isLoopbackAddress(host) && host !== 'localhost') {
    log.warn(
      { event: 'open_to_all', host },
      'no access keys are set and the server listens beyond loopback: everybody who reaches it can read and change every board',
    )
  }
  if (config.maxMessageBytes < config.maxDocBytes) {
    log.warn(
      { event: 'messages_too_short' },
      'WS_MAX_MESSAGE_BYTES is below MAX_DOC_BYTES: a client may be unable to bring a whole board back',
    )
  }
  const { maxConnections } = places.limits
  if (maxConnections < config.maxConnections) {
    log.warn(
      {
        event: 'connections_cut',
        maxConnections,
        setting: config.maxConnections,
        descriptors: places.descriptors?.limit,
      },
      'MAX_CONNECTIONS is cut to what the limit of open files allows (ulimit -n)',
    )
  }
}

/** For the log: a database's address without what is secret in it. */
function whereBoardsAre({ storage, dataDir, databaseUrl }: Config): string | undefined {
  if (storage === 'lmdb') return dataDir
  if (storage !== 'postgres') return undefined
  const { host, pathname } = new URL(databaseUrl)
  return `${host}${pathname}`
}
