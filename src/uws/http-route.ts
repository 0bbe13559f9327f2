/** HTTP, at the uWS edge: everything that is no upgrade, as plain requests and answers. */

import type { TemplatedApp, HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { HttpResponse } from '../http/response.ts'
import type { Clock } from '../observe/clock.ts'
import { copyHeaders } from './headers.ts'

export interface HttpRequest {
  readonly method: string
  /** The URL's path as it came, percent-encoded. */
  readonly path: string
  readonly query: string
  /** A header by its lower-case name, or an empty text. */
  header(name: string): string
  /** The whole body, or null when it is too long. Called before the first await, or not at all. */
  body(): Promise<Uint8Array | null>
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>

/** Answers of which the client has not taken everything yet. */
export class UnreadAnswers {
  /** Bytes of their bodies; one that several clients are sent counts for each. */
  bytes = 0
}

/**
 * Requests answered in one turn of the loop before each further answer is the last one on its socket. One read of a socket holds
 * ten thousand requests that were written without waiting for an answer, a fifth of a second of work; browsers, proxies and
 * scrapers wait.
 */
const REQUESTS_PER_TURN = 32
/** Bodies up to this go out whole with such an answer; longer ones wait for the client, and uWS then cuts who asks for more. */
const SHORT_BODY_BYTES = 65_536

/** Longest body taken, bytes: an admin request is a line of JSON. */
const MAX_BODY_BYTES = 65_536

export interface HttpRouteOptions {
  readonly clock: Pick<Clock, 'soon'>
  readonly unread: UnreadAnswers
  readonly onError: (error: unknown) => void
}

export function httpRoute(app: TemplatedApp, handle: HttpHandler, { clock, unread, onError }: HttpRouteOptions): void {
  let inTurn = 0
  const endTurn = (): void => {
    inTurn = 0
  }
  app.any('/*', (res, req) => {
    if (inTurn++ === 0) clock.soon(endTurn)
    const isLast = inTurn > REQUESTS_PER_TURN
    let aborted = false
    let held = 0
    const release = (): void => {
      unread.bytes -= held
      held = 0
    }
    res.onAborted(() => {
      aborted = true
      release()
    })
    const request = copy(res, req)
    const reply = (response: HttpResponse): void => {
      if (aborted) return
      res.cork(() => {
        held = write(res, request.method, response, isLast, release, onError)
        unread.bytes += held
      })
    }
    const failed = (error: unknown): void => {
      onError(error)
      try {
        reply({ status: 500, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'internal error\n' })
      } catch (again) {
        onError(again)
      }
    }
    try {
      const response = handle(request)
      if (response instanceof Promise) response.then(reply).catch(failed)
      else reply(response)
    } catch (error) {
      failed(error)
    }
  })
}

function copy(res: UwsResponse, req: UwsRequest): HttpRequest {
  const header = copyHeaders(req)
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    header,
    body: () =>
      new Promise((resolve) => {
        const chunks: Uint8Array[] = []
        let length = 0
        res.onData((chunk, isLast) => {
          length += chunk.byteLength
          // The chunk is emptied when this returns.
          if (length <= MAX_BODY_BYTES) chunks.push(new Uint8Array(chunk).slice())
          if (isLast) resolve(length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null)
        })
      }),
  }
}

/**
 * Writes an answer, the body piece by piece as the socket takes it: `end` would copy what the client does not read into uWS's
 * own buffer, once for every request on the socket. While a body is waiting uWS cuts a socket that asks for more; an answer
 * without a body cannot wait, so it is the last one on its socket, as is one that `isLast` says is. Returns the bytes that wait; `taken` is called when none
 * does any more.
 */
function write(
  res: UwsResponse,
  method: string,
  { status, headers, body }: HttpResponse,
  isLast: boolean,
  taken: () => void,
  onError: (error: unknown) => void,
): number {
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
  for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value)
  if (method === 'HEAD' || status === 304) res.endWithoutBody(Buffer.byteLength(body), true)
  else {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    if (isLast && bytes.length <= SHORT_BODY_BYTES) {
      res.end(bytes, true)
      return 0
    }
    const [, isDone] = res.tryEnd(bytes, bytes.length)
    if (!isDone) {
      res.onWritable((offset) => {
        try {
          const [isTaken, isOver] = res.tryEnd(bytes.subarray(offset), bytes.length)
          if (isOver) taken()
          return isTaken
        } catch (error) {
          onError(error)
          return true
        }
      })
      return bytes.length
    }
  }
  return 0
}
