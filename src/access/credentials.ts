/**
 * Where a client may put its token, and what its upgrade has to be answered with.
 *   query, Authorization, Sec-WebSocket-Protocol ──▶ { token, subprotocol }
 */
export interface UpgradeHeaders {
  /** The URL's query as it came, without the `?`; empty when there is none. */
  readonly query: string
  /** The `Authorization` header, or an empty text. */
  readonly authorization: string
  /** The `Sec-WebSocket-Protocol` header (several lines joined by commas), or an empty text. */
  readonly protocols: string
}

export interface Credentials {
  readonly token: string | null
  readonly subprotocol: string | null
}

/** The entry a client offers beside `token.<jwt>`, so that there is something to answer. */
const SUBPROTOCOL = 'y-weir'

const TOKEN_ENTRY = 'token.'

/** RFC 9110, 5.6.2: what a subprotocol's name may consist of. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Finds the token: `?token=`, else `Authorization: Bearer`, else an entry `token.<jwt>` of the subprotocols. The first
 * place that holds one counts; a later one is not tried when it is refused.
 *
 * The subprotocol: a server may only answer one that was offered (RFC 6455, 4.2.2), and browsers fail a connection that
 * offered some and was answered none (WHATWG Fetch, "establish a WebSocket connection"). So `y-weir` is answered when
 * it was offered, else the first offered entry that is no token, as a y-websocket server does. A client that offers
 * nothing but its token gets no answer, which a browser takes for a failure: echoing the token would put it into the
 * logs of whatever stands between. Such a client has to offer `y-weir` beside it.
 */
export function readCredentials(headers: UpgradeHeaders): Credentials {
  const offered = headers.protocols.split(',').flatMap((entry) => entry.trim() || [])
  const tokens = offered.filter((entry) => entry.startsWith(TOKEN_ENTRY))
  const names = offered.filter((entry) => !entry.startsWith(TOKEN_ENTRY) && NAME.test(entry))
  return {
    token:
      new URLSearchParams(headers.query).get('token') ||
      /^Bearer +([^ ]+) *$/i.exec(headers.authorization)?.[1] ||
      tokens[0]?.slice(TOKEN_ENTRY.length) ||
      null,
    subprotocol: names.includes(SUBPROTOCOL) ? SUBPROTOCOL : (names[0] ?? null),
  }
}
