/** What the HTTP routes ask of the server: whether it is ready, its figures, its admin pages. */
import type { Authorizer } from '../access/authorizer.ts'
import type { MemoryGuard } from '../budget/memory-guard.ts'
import type { RouteFacts } from '../http/routes.ts'
import type { StaticFiles } from '../http/static-files.ts'
import type { Reception } from '../inbound/reception.ts'
import { type MetricsText, metricsText } from '../observe/metrics-text.ts'
import { seldom } from '../observe/seldom.ts'
import type { RoomRegistry } from '../room/room-registry.ts'
import type { Config } from '../settings/settings.ts'
import { writeStorageMetrics } from '../storage/storage-metrics-text.ts'
import { adminFacts } from './admin-facts.ts'
import type { Foundation } from './foundation.ts'

export interface AskedParts {
  readonly page: StaticFiles
  readonly authorizer: Authorizer
  readonly registry: RoomRegistry
  readonly reception: Reception
  readonly memory: MemoryGuard
  readonly isStopping: () => boolean
  /** When the certificate ends, epoch ms; null without TLS. */
  readonly certificateEndsAt: () => number | null
}

const DAY_MS = 86_400_000

export function routeFacts(config: Config, base: Foundation, parts: AskedParts): RouteFacts {
  const { clock, wallClock, metrics, storageMetrics, errors } = base
  const { page, authorizer, registry, reception, memory, isStopping, certificateEndsAt } = parts
  const writeRest = (text: MetricsText): void => {
    writeStorageMetrics(text, storageMetrics)
    const endsAt = certificateEndsAt()
    if (endsAt === null) return
    text.gauge('tls_certificate_days_left', 'Days until the certificate ends.', (endsAt - wallClock()) / DAY_MS)
  }
  return {
    problems: () => {
      const failing = registry.failing
      return [
        ...(isStopping() ? ['shutting down'] : []),
        ...(memory.isShort ? ['memory is short'] : []),
        ...(authorizer.ready ? [] : ['access keys cannot be fetched']),
        ...(failing === null ? [] : [`boards cannot be saved: ${failing.reason}`]),
      ]
    },
    metrics: seldom(() => metricsText(metrics, clock.now(), writeRest), clock.now),
    metricsToken: config.metricsToken || null,
    metricsElsewhere: config.metricsPort !== 0,
    adminToken: config.adminToken || null,
    admin: adminFacts({ reception, registry, authorizer, clock, wallClock }),
    page,
    onError: (error) => errors.caught('http', error),
  }
}
