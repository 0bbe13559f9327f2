/**
 * The composition root: every part of a server is made and connected here, and nowhere else.
 *
 *   foundation    clock · metrics · log · the loop's time
 *   access, page  from the files and keys that settings name
 *   registry      the rooms, on storage and cluster
 *   reception     places ─▶ a session for every client (session-parts)
 *   memory        a guard over all that hold any: rooms, clients, answers
 *   endpoint      sockets ─▶ reception · requests ─▶ routes
 */
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Authorizer } from '../access/authorizer.ts'
import { type OriginSettings, parseAllowedOrigins } from '../access/origin-check.ts'
import { countDescriptors } from '../budget/descriptor-limit.ts'
import type { MemoryGuard } from '../budget/memory-guard.ts'
import { singleNode } from '../cluster/single-node.ts'
import { type MetricsPort, openMetricsPort } from '../http/metrics-port.ts'
import { createRoutes } from '../http/routes.ts'
import { loadStaticFiles, type PageOptions } from '../http/static-files.ts'
import { FrameFlood } from '../inbound/frame-flood.ts'
import { LateWrites } from '../inbound/late-writes.ts'
import { Reception } from '../inbound/reception.ts'
import { type RegistrySettings, RoomRegistry } from '../room/room-registry.ts'
import type { Config } from '../settings/settings.ts'
import type { openStorage } from '../storage/open-storage.ts'
import { Endpoint } from '../uws/endpoint.ts'
import { httpRoute, UnreadAnswers } from '../uws/http-route.ts'
import { type SocketRouteOptions, socketRoute } from '../uws/socket-route.ts'
import { announce } from './announce.ts'
import { type Foundation, layFoundation } from './foundation.ts'
import { hangGauges } from './gauges.ts'
import { guardMemory, type MemoryOwners } from './memory.ts'
import { accessOf, tlsOf } from './named-files.ts'
import { layOutPlaces } from './places.ts'
import { routeFacts } from './route-facts.ts'
import { sessionParts } from './session-parts.ts'
import { shutDown } from './shutdown.ts'

export interface Running {
  readonly port: number
  /** See `Server.reloadCertificate`. */
  reload(): boolean
  /** See `Server.close`. */
  close(): Promise<void>
}

/** The page as `npm run build` leaves it: in `dist/demo`, seen from `src/server` and from `dist/server`. */
const PAGE_DIRECTORY = fileURLToPath(
  new URL(import.meta.url.includes('/src/') ? '../../dist/demo' : '../demo', import.meta.url),
)
/** uWS's own bound on a socket's buffer: never reached, whatever single struct is on its way. */
const BACKSTOP_FACTOR = 4

/** What a server is handed beside its settings. */
export interface StartOptions {
  readonly openStorage: typeof openStorage
  /** Log lines that could not be written so far. */
  readonly linesDropped: () => number
  /** Log lines that were one too many of their kind. */
  readonly linesLeftOut: () => number
}

/** Opens the store and listens. Rejects with what is wrong, and leaves nothing running then. */
export async function start(config: Config, log: Logger, options: StartOptions): Promise<Running> {
  const base = layFoundation(config, log)
  base.metrics.logLinesDropped = options.linesDropped
  base.metrics.logLinesLeftOut = options.linesLeftOut
  try {
    return await build(config, base, options.openStorage)
  } catch (error) {
    base.stop()
    throw error
  }
}

async function build(config: Config, base: Foundation, openStore: typeof openStorage): Promise<Running> {
  const { clock, errors, log } = base
  const tls = tlsOf(config)
  const authorizer = await accessOf(config, base)
  const page = await loadStaticFiles(PAGE_DIRECTORY, pageOptions(config))

  const storage = await openStore(config, { clock, metrics: base.storageMetrics })
  const registry = new RoomRegistry({ ...base, settings: registrySettings(config), storage, cluster: singleNode })

  const places = layOutPlaces(config, base, () => endpoint.sockets)
  const late = new LateWrites()
  const flood = new FrameFlood(config.maxFramesPerSecond, clock)
  const isMemoryTight = (): boolean => memory.isTight
  const reception = new Reception({
    ...places,
    authorizer,
    origins: originSettings(config, authorizer),
    trustedHops: config.trustedProxyHops,
    isFull: () => memory.isShort,
    session: sessionParts(config, base, { registry, authorizer, late, flood, isMemoryTight }),
  })

  const unreadAnswers = new UnreadAnswers()
  const owners: MemoryOwners = { ...base, registry, reception, late, unreadAnswers, maxBytes: config.maxMemoryBytes }
  const memory: MemoryGuard = guardMemory(owners)
  const stopSweep = hangGauges(owners, places.lingering, config.bufferSweepIntervalMs)

  let isStopping = false
  const facts = routeFacts(config, base, {
    page,
    authorizer,
    registry,
    reception,
    memory,
    isStopping: () => isStopping,
    certificateEndsAt: () => endpoint.certificateEndsAt,
  })
  const answer = createRoutes(facts)
  let metricsPort: MetricsPort | null = null
  const sockets: SocketRouteOptions = {
    clock,
    maxPayloadBytes: places.messages.longBytes,
    shortPayloadBytes: places.messages.shortBytes,
    idleTimeoutS: config.idleTimeoutS,
    maxBackpressureBytes: BACKSTOP_FACTOR * (config.maxBufferedBytes + config.maxMessageBytes + config.maxDocBytes),
    welcome: reception.welcome,
    closed: () => endpoint.socketClosed(),
    onError: (error) => errors.caught('socket', error),
  }
  const endpoint: Endpoint = new Endpoint({
    host: config.host,
    port: config.port,
    tls,
    maxSockets: places.limits.maxSockets,
    lingering: places.lingering,
    countDescriptors: descriptorsSince(places.descriptors),
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
  }
  const letGo = async (): Promise<void> => {
    registry.close()
    await storage.close()
  }
  try {
    await endpoint.listen()
    if (config.metricsPort !== 0) {
      const onError = (error: unknown): void => errors.caught('http', error)
      metricsPort = await openMetricsPort(config.host, config.metricsPort, createRoutes(facts, 'metrics'), onError)
    }
  } catch (error) {
    stopTimers()
    endpoint.close()
    await letGo()
    throw error
  }
  announce(config, log, { authorizer, places, port: endpoint.port })

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
        sockets: () => [...reception.sessions],
        isSettled: () => registry.isSettled,
        saved: () => registry.saved(),
        release: () => {
          endpoint.close()
          metricsPort?.close()
          return letGo()
        },
      })
      stopTimers()
      base.stop()
    },
  }
}

function registrySettings(config: Config): RegistrySettings {
  return {
    flushIntervalMs: config.roomFlushIntervalMs,
    presenceIntervalMs: config.awarenessFlushIntervalMs,
    idleMs: config.roomIdleMs,
    maxRooms: config.maxRooms,
    maxRoomsPerOwner: config.maxRoomsPerIp,
    maxDocBytes: config.maxDocBytes,
    maxDocAuthors: config.maxDocAuthors,
    maxIdsPerConnection: config.maxPresenceIdsPerConnection,
  }
}

function originSettings(config: Config, { open }: Authorizer): OriginSettings {
  return {
    allowed: config.allowedOrigins === '' ? null : parseAllowedOrigins(config.allowedOrigins).allowed,
    keysConfigured: !open,
    trustedHops: config.trustedProxyHops,
  }
}

function pageOptions(config: Config): PageOptions {
  return {
    frameAncestors: config.frameAncestors,
    publicUrl: config.publicUrl,
    panel: config.demoPanel === 'on',
    maxBoardBytes: config.maxDocBytes,
  }
}

/** Descriptors beyond those that were open before; null where the system does not say. */
function descriptorsSince(before: { readonly limit: number; readonly used: number } | null): (() => number) | null {
  if (before === null) return null
  return () => (countDescriptors() ?? before.limit) - before.used
}
