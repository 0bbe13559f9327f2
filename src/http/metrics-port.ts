/**
 * `/metrics`, `/healthz` and `/readyz` on a port of their own (`METRICS_PORT`), by Node's own HTTP server: it can be kept from the outside
 * world, and it answers what the sockets' server does not, HTTP/1.0 checks and requests with very many headers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AdminRequest } from './admin.ts'
import { type HttpResponse, text } from './response.ts'

export interface MetricsPort {
  close(): void
}

const PATHS: ReadonlySet<string> = new Set(['/metrics', '/healthz', '/readyz'])
/** A scraper, a balancer and somebody who looks; more is a mistake. */
const MAX_CONNECTIONS = 64
const MAX_HEADER_BYTES = 65_536
const REQUEST_MS = 5_000

/** Rejects when the port cannot be had. `answer`: the server's routes. */
export function openMetricsPort(
  host: string,
  port: number,
  answer: (request: AdminRequest) => HttpResponse | Promise<HttpResponse>,
  onError: (error: unknown) => void,
): Promise<MetricsPort> {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: REQUEST_MS,
      headersTimeout: REQUEST_MS,
      keepAliveTimeout: REQUEST_MS,
    },
    (request, response) => {
      void respond(request, response, answer).catch((error: unknown) => {
        onError(error)
        response.destroy()
      })
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      server.on('error', onError)
      resolve({
        close: () => {
          server.close()
          server.closeAllConnections()
        },
      })
    })
  })
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: AdminRequest) => HttpResponse | Promise<HttpResponse>,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?')
  const asked: AdminRequest = {
    method: request.method ?? 'GET',
    path,
    query,
    header: (name) => String(request.headers[name] ?? ''),
    body: async () => null,
  }
  const { status, headers, body } = PATHS.has(path) ? await answer(asked) : text(404, 'not found')
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...headers, 'content-length': bytes.length })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
