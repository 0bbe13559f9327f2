/**
 * What every route of this folder answers: plain data, so that a test needs no socket and only `uws/` knows how it is
 * written. Rules for the writer:
 *   - `content-length` is never among `headers`: the writer knows the body.
 *   - the answer to HEAD carries the body that GET would send, a 304 that of the 200; the writer sends its length and drops it.
 */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names; no value contains a line break. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** On every answer: a browser must not guess types, nor tell other sites a room's name or token through the referrer. */
const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const

/** A plain-text answer, ended by a line break. Not cached: what this folder says in text is the state of this moment. */
export function text(status: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return {
    status,
    headers: { ...ALWAYS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: `${message}\n`,
  }
}

/** A JSON answer. Not cached. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return {
    status,
    headers: { ...ALWAYS, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: `${JSON.stringify(value)}\n`,
  }
}

/** An answer of bytes of the given type. The caller decides about caching. */
export function bytes(
  status: number,
  body: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return { status, headers: { ...ALWAYS, 'content-type': contentType, ...headers }, body }
}

/** 405 with the methods that would have been right (RFC 9110, 15.5.6). */
export function methodNotAllowed(allowed: readonly string[]): HttpResponse {
  return text(405, 'method not allowed', { allow: allowed.join(', ') })
}
