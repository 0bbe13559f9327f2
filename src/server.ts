/**
 * The composition root, and the library's entry: everything is made and connected here, and nowhere else.
 *   createServer(config) ─▶ { listen, close }
 */
import { fileURLToPath } from 'node:url'
import pino, { type Logger } from 'pino'
import { type Authorizer, createAuthorizer } from './access/authorizer.ts'
import { isLoopbackAddress } from './access/client-address.ts'
import { parseAllowedOrigins } from './access/origin-check.ts'
import { adjustedSettings } from './settings/adjusted-settings.ts'
import { adminFacts } from './server/admin-facts.ts'
import { countDescriptors, readDescriptors } from './budget/descriptor-limit.ts'
import { Lingering } from './budget/lingering.ts'
import { LoopTime } from './budget/loop-time.ts'
import type { MemoryGuard } from './budget/memory-guard.ts'
import { MessageRoom } from './budget/message-room.ts'
import { Shares } from './budget/share.ts'
import { singleNode } from './cluster/single-node.ts'
import { type Config, ConfigError, complete } from './settings/config.ts'
import { createRoutes } from './http/routes.ts'
import { loadStaticFiles } from './http/static-files.ts'
import { Absent } from './inbound/absent.ts'
import { createConnectionLimits } from './inbound/connection-limits.ts'
import { FrameFlood } from './inbound/frame-flood.ts'
import { KeptBudgets } from './inbound/kept-budgets.ts'
import { LateWrites } from './inbound/late-writes.ts'
import { MESSAGE_ERRORS } from './inbound/message-errors.ts'
import { Oversized } from './inbound/oversized.ts'
import { Rates } from './inbound/rate-limiter.ts'
import { Reception } from './inbound/reception.ts'
import { SecondChances } from './inbound/second-chances.ts'
import { guardMemory, memoryFigures } from './server/memory.ts'
import { Boundary } from './observe/boundary.ts'
import { every } from './observe/clock.ts'
import { EveryTenth } from './observe/every-tenth.ts'
import { Metrics } from './observe/metrics.ts'
import { metricsText } from './observe/metrics-text.ts'
import { ProcessWatch } from './observe/process-watch.ts'
import { seldom } from './observe/seldom.ts'
import { DrainScheduler } from './outbound/drain-scheduler.ts'
import { clampSoft } from './outbound/flow-policy.ts'
import type { OutboxSettings } from './outbound/outbox.ts'
import { CLOSE } from './protocol/close-reasons.ts'
import { RoomRegistry } from './room/room-registry.ts'
import { shutDown } from './server/shutdown.ts'
import { openStorage } from './storage/open-storage.ts'
import { StorageMetrics } from './storage/storage-metrics.ts'
import { writeStorageMetrics } from './storage/storage-metrics-text.ts'
import { Endpoint } from './uws/endpoint.ts'
import { httpRoute, UnreadAnswers } from './uws/http-route.ts'
import { type SocketRouteOptions, socketRoute } from './uws/socket-route.ts'
import { readTlsFiles } from './uws/tls-files.ts'

export { type Config, ConfigError, readConfig } from './settings/config.ts'
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

/** The page as `npm run build` leaves it: beside this file in `dist/`, and in `dist/` seen from `src/`. */
const PAGE_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.includes('/src/') ? '../dist/demo' : './demo', import.meta.url),
)
/** What uWS takes beyond our own limit, so that a too long message can be answered with a close code (IN7). */
const OVERSIZE_MARGIN = 65_536
/** Entries in one presence frame: an echo of a join in a room of thousands still passes. */
const MAX_PRESENCE_ENTRIES = 4096
/** uWS's own bound on a socket's buffer: never reached, whatever single struct is on its way. */
const BACKSTOP_FACTOR = 4

export interface ServerOptions {
  /** pino's default at `logLevel` without one. */
  readonly log?: Logger
  /**
   * Opens where boards are kept, in place of what the settings name, which it is handed. Called by `listen()`;
   * the server closes the store that it gives. A rejection is what `listen()` rejects with.
   */
  readonly openStorage?: typeof openStorage
}

/** A server with the given settings; the rest are defaults. Throws `ConfigError` naming every mistake. */
export function createServer(given: Partial<Config> = {}, options: ServerOptions = {}): Server {
  const config = complete(given)
  const log = options.log ?? pino({ level: config.logLevel })
  let running: Promise<Running> | null = null
  let closing: Promise<void> | null = null
  return {
    async listen() {
      running ??= start(config, log, options.openStorage ?? openStorage)
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

interface Running {
  readonly port: number
  reload(): boolean
  close(): Promise<void>
}

async function start(config: Config, log: Logger, openStore: typeof openStorage): Promise<Running> {
  const metrics = new Metrics(MESSAGE_ERRORS)
  const errors = new Boundary(metrics, log)
  const clock = errors.clock()
  const storageMetrics = new StorageMetrics()
  const tls = config.tlsCertFile === '' ? null : { certFile: config.tlsCertFile, keyFile: config.tlsKeyFile }
  const wrong = (error: unknown): never => {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
  // Files that settings name are looked at before anything is opened: what is wrong with them is a wrong setting.
  try {
    if (tls !== null) readTlsFiles(tls)
  } catch (error) {
    wrong(error)
  }
  const authorizer = await createAuthorizer(
    {
      jwtSecret: config.authJwtSecret || undefined,
      publicKeyFile: config.authPublicKeyFile || undefined,
      jwksUrl: config.authJwksUrl || undefined,
      readOnlyCursors: config.authReadOnlyCursors === 'on',
    },
    { clock, wallClock: Date.now, log },
  ).catch(wrong)
  const page = await loadStaticFiles(PAGE_DIRECTORY, {
    frameAncestors: config.frameAncestors,
    publicUrl: config.publicUrl,
    panel: config.demoPanel === 'on',
    maxBoardBytes: config.maxDocBytes,
  })
  const storage = await openStore(config, { clock, metrics: storageMetrics })
  const loop = new LoopTime({ clock, metrics, onError: (error) => errors.caught('job', error) })
  const shares = new Shares(loop, { msPerSecond: config.workMsPerSecond, burstMs: config.workBurstMs })
  const scheduler = new DrainScheduler(loop)
  const watch = new ProcessWatch(clock)
  const registry = new RoomRegistry({
    settings: {
      flushIntervalMs: config.roomFlushIntervalMs,
      presenceIntervalMs: config.awarenessFlushIntervalMs,
      idleMs: config.roomIdleMs,
      maxRooms: config.maxRooms,
      maxRoomsPerOwner: config.maxRoomsPerIp,
      maxDocBytes: config.maxDocBytes,
      maxDocAuthors: config.maxDocAuthors,
      maxIdsPerConnection: config.maxPresenceIdsPerConnection,
    },
    clock,
    loop,
    metrics,
    storageMetrics,
    log,
    storage,
    cluster: singleNode,
  })
  const flood = new FrameFlood(config.maxFramesPerSecond, clock)
  const late = new LateWrites()
  const unreadAnswers = new UnreadAnswers()
  const isFull = (): boolean => memory.isShort
  const descriptors = readDescriptors()
  const lingering = new Lingering(clock)
  const absent = new Absent()
  const limits = createConnectionLimits({
    maxConnections: config.maxConnections,
    maxConnectionsPerIp: config.maxConnectionsPerIp,
    descriptors,
    lingering,
    absent,
    openSockets: () => endpoint.sockets,
  })
  const messages = new MessageRoom(
    {
      longBytes: config.maxMessageBytes + OVERSIZE_MARGIN,
      maxMemoryBytes: config.maxMemoryBytes,
      maxConnectionsPerIp: config.maxConnectionsPerIp,
    },
    clock,
    metrics.longMessagesCut,
  )
  const reception = new Reception({
    authorizer,
    limits,
    lingering,
    absent,
    messages,
    origins: {
      allowed: config.allowedOrigins === '' ? null : parseAllowedOrigins(config.allowedOrigins).allowed,
      keysConfigured: !authorizer.open,
      trustedHops: config.trustedProxyHops,
    },
    trustedHops: config.trustedProxyHops,
    isFull,
    session: {
      settings: {
        maxMessageBytes: config.maxMessageBytes,
      },
      outbox: { settings: outboxSettings(config), clock, scheduler, metrics },
      clock,
      wallClock: Date.now,
      metrics,
      log,
      registry,
      late,
      flood,
      floods: new EveryTenth(),
      refusals: new EveryTenth(),
      malformed: new EveryTenth(),
      holds: (grant) => authorizer.holds(grant),
      shares,
      conversation: {
        clock,
        metrics,
        shares,
        isMemoryTight: () => memory.isTight,
        presenceLimits: { maxStateBytes: config.maxPresenceBytes, maxEntries: MAX_PRESENCE_ENTRIES },
        presenceRates: new Rates(
          {
            maxTokens: config.presencePerSecond,
            refillMs: 1000,
            burstBytes: config.presenceBytesPerSecond,
            bytesPerSecond: config.presenceBytesPerSecond,
          },
          clock.now,
        ),
      },
      rates: new Rates(
        {
          maxTokens: config.rateLimitMaxTokens,
          refillMs: config.rateLimitRefillWindowMs,
          burstBytes: config.maxMessageBytes,
          bytesPerSecond: config.inboundBytesPerSecond,
        },
        clock.now,
      ),
      reputation: {
        clock,
        budgets: new KeptBudgets(),
        oversized: new Oversized(clock),
        chances: new SecondChances(
          {
            evictions: config.evictionsBeforeDegraded,
            windowMs: config.evictionWindowMs,
            intervalMs: config.degradedIntervalMs,
          },
          clock,
        ),
      },
    },
  })
  const owners = {
    clock,
    log,
    metrics,
    watch,
    registry,
    reception,
    late,
    unreadAnswers,
    maxBytes: config.maxMemoryBytes,
  }
  const memory: MemoryGuard = guardMemory(owners)
  metrics.activeSockets = () => reception.sessions.size
  metrics.lingeringSockets = () => lingering.total
  metrics.openDescriptors = countDescriptors
  metrics.roomsActive = () => registry.size
  metrics.residentBytes = () => watch.residentBytes
  metrics.eventLoopLagSeconds = () => watch.lagSeconds
  metrics.oldestUnsentSeconds = () => oldestUnsent(reception, clock.now())
  const stopSweep = every(clock, config.bufferSweepIntervalMs, () => {
    metrics.memoryHeld = memoryFigures(owners)
    metrics.bufferedBytes = 0
    for (const session of reception.sessions) {
      try {
        metrics.bufferedBytes += session.outbox?.heldBytes ?? 0
      } catch (error) {
        session.failed(error)
      }
    }
  })

  let isStopping = false
  const sockets: SocketRouteOptions = {
    clock,
    maxPayloadBytes: messages.longBytes,
    shortPayloadBytes: messages.shortBytes,
    idleTimeoutS: config.idleTimeoutS,
    maxBackpressureBytes: BACKSTOP_FACTOR * (config.maxBufferedBytes + config.maxMessageBytes + config.maxDocBytes),
    welcome: reception.welcome,
    closed: () => endpoint.socketClosed(),
    onError: (error) => errors.caught('socket', error),
  }
  const answer = createRoutes({
    problems: () => {
      const failing = registry.failing
      return [
        ...(isStopping ? ['shutting down'] : []),
        ...(isFull() ? ['memory is short'] : []),
        ...(authorizer.ready ? [] : ['access keys cannot be fetched']),
        ...(failing === null ? [] : [`boards cannot be saved: ${failing.reason}`]),
      ]
    },
    metrics: seldom(
      () =>
        metricsText(metrics, clock.now(), (text) => {
          writeStorageMetrics(text, storageMetrics)
          if (endpoint.certificateEndsAt !== null) {
            const days = (endpoint.certificateEndsAt - Date.now()) / 86_400_000
            text.gauge('tls_certificate_days_left', 'Days until the certificate ends.', days)
          }
        }),
      clock.now,
    ),
    metricsToken: config.metricsToken || null,
    adminToken: config.adminToken || null,
    admin: adminFacts({ reception, registry, authorizer, clock, wallClock: Date.now }),
    page,
    onError: (error) => errors.caught('http', error),
  })
  const endpoint: Endpoint = new Endpoint({
    host: config.host,
    port: config.port,
    tls,
    maxSockets: limits.maxSockets,
    lingering,
    countDescriptors: descriptors === null ? null : () => (countDescriptors() ?? descriptors.limit) - descriptors.used,
    now: clock.now,
    mount: (app) => {
      socketRoute(app, sockets)
      httpRoute(app, answer, { clock, unread: unreadAnswers, onError: (error) => errors.caught('http', error) })
    },
  })

  const stopTimers = (): void => {
    stopSweep()
    flood.stop()
    memory.stop()
    watch.stop()
    scheduler.stop()
    loop.stop()
  }
  try {
    await endpoint.listen()
  } catch (error) {
    stopTimers()
    registry.close()
    await storage.close()
    throw error
  }
  announce(config, authorizer, endpoint.port, log)
  if (limits.maxConnections < config.maxConnections) {
    log.warn(
      { maxConnections: limits.maxConnections, setting: config.maxConnections, descriptors: descriptors?.limit },
      'MAX_CONNECTIONS is cut to what the limit of open files allows (ulimit -n)',
    )
  }

  return {
    port: endpoint.port,
    reload: () => endpoint.reload(),
    close: async () => {
      isStopping = true
      reception.shut()
      await shutDown({
        clock,
        log,
        graceMs: config.shutdownGraceMs,
        sockets: () =>
          [...reception.sessions].map((session) => ({
            end: () => {
              try {
                session.end(CLOSE.restart)
              } catch (error) {
                session.failed(error)
              }
            },
          })),
        isSettled: () => registry.isSettled,
        saved: () => registry.saved(),
        release: async () => {
          endpoint.close()
          registry.close()
          await storage.close()
        },
      })
      stopTimers()
    },
  }
}

function outboxSettings(config: Config): OutboxSettings {
  const hardBytes = config.maxBufferedBytes
  return {
    softBytes: clampSoft(config.slowClientBufferBytes, hardBytes),
    hardBytes,
    maxQueued: config.maxQueuedMessages,
    maxCongestedMs: config.maxCongestedMs,
    drainBatch: config.drainBatchSize,
    closeGraceMs: config.closeGraceMs,
    wholeTextBytes: config.maxWholeTextBytes,
    presenceIntervalMs: config.awarenessFlushIntervalMs,
  }
}

function oldestUnsent(reception: Reception, now: number): number {
  let oldest = now
  for (const { outbox } of reception.sessions) oldest = Math.min(oldest, outbox?.oldestUnsentAt ?? now)
  return (now - oldest) / 1000
}

/** For the log: a database's address without what is secret in it. */
function whereBoardsAre({ storage, dataDir, databaseUrl }: Config): string | undefined {
  if (storage === 'lmdb') return dataDir
  if (storage !== 'postgres') return undefined
  const { host, pathname } = new URL(databaseUrl)
  return `${host}${pathname}`
}

/** One line with everything that matters at start, and a warning where it is more open than it looks. */
function announce(config: Config, authorizer: Authorizer, port: number, log: Logger): void {
  const { host, storage } = config
  log.info({ host, port, storage, boards: whereBoardsAre(config), open: authorizer.open }, 'listening')
  for (const sentence of adjustedSettings(config)) log.info(sentence)
  for (const warning of authorizer.warnings) log.warn(warning)
  if (storage === 'memory') log.warn('STORAGE=memory: a board is thrown away when its room empties')
  if (authorizer.open && !isLoopbackAddress(host) && host !== 'localhost') {
    log.warn(
      { host },
      'no access keys are set and the server listens beyond loopback: everybody who reaches it can read and change every board',
    )
  }
  if (config.maxMessageBytes < config.maxDocBytes) {
    log.warn('WS_MAX_MESSAGE_BYTES is below MAX_DOC_BYTES: a client may be unable to bring a whole board back')
  }
}
