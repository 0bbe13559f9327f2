/**
 * What this server answers over HTTP: is it alive, is it ready, its figures, its admin pages, and the whiteboard.
 * Facts come in as functions; nothing here knows a room or a socket.
 */
import { METRICS_CONTENT_TYPE } from '../observe/metrics-text.ts'
import { type AdminFacts, type AdminRequest, respondAdmin } from './admin.ts'
import { isBearer } from './bearer.ts'
import { type HttpResponse, methodNotAllowed, text } from './response.ts'
import type { StaticFiles } from './static-files.ts'

export interface RouteFacts {
  /** Why no new client should be sent here, in words; empty when all is well. */
  problems(): readonly string[]
  /** The metrics page. */
  metrics(): string
  readonly metricsToken: string | null
  /** Whether they have a port of their own, and are not here. */
  readonly metricsElsewhere: boolean
  readonly adminToken: string | null
  readonly admin: AdminFacts
  readonly page: StaticFiles
  onError(error: unknown): void
}

/** On which of two ports a request came: that of the sockets, or that of the metrics. */
export type Side = 'main' | 'metrics'

export function createRoutes(
  facts: RouteFacts,
  side: Side = 'main',
): (request: AdminRequest) => HttpResponse | Promise<HttpResponse> {
  return (request) => {
    const { method, path } = request
    if (method === 'OPTIONS' && !isAdmin(path))
      return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' }, body: '' }
    const isRead = method === 'GET' || method === 'HEAD'
    switch (path) {
      case '/healthz':
        return isRead ? text(200, 'ok') : methodNotAllowed(['GET', 'HEAD'])
      case '/readyz': {
        if (!isRead) return methodNotAllowed(['GET', 'HEAD'])
        const problems = facts.problems()
        return problems.length === 0 ? text(200, 'ready') : text(503, `not ready: ${problems.join('; ')}`)
      }
      case '/metrics':
        if (side === 'main' && facts.metricsElsewhere) return text(404, 'not found')
        if (!isRead) return methodNotAllowed(['GET', 'HEAD'])
        if (facts.metricsToken !== null && !isBearer(request.header('authorization'), facts.metricsToken)) {
          return text(401, 'not authorised', { 'www-authenticate': 'Bearer realm="metrics"' })
        }
        return text(200, facts.metrics().trimEnd(), { 'content-type': METRICS_CONTENT_TYPE })
    }
    if (isAdmin(path)) {
      return respondAdmin(request, facts.admin, facts.adminToken, facts.onError)
    }
    return facts.page.respond(method, path, request.header)
  }
}

const isAdmin = (path: string): boolean => path === '/admin' || path.startsWith('/admin/')
