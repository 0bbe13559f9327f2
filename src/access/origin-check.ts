/**
 * Which web pages may connect. A browser names the page's origin at every WebSocket upgrade and no script can change
 * that; anything that is no browser can claim any origin, so this protects people's browsers, not the server.
 *   Origin, Host ──▶ allowed or not
 *
 *   - `ALLOWED_ORIGINS` set: only what it lists.
 *   - Not set, keys set: any page. Without a token it gets nowhere, and a token is not sent by itself as a cookie is.
 *   - Not set, no keys: pages of the same host and pages of this machine. Otherwise any page in the operator's browser
 *     could reach a server on a local port. The port does not matter: a page's development server has its own.
 *   - No Origin header: allowed, it is no browser.
 */
export interface OriginRequest {
  /** The `Origin` header; empty when there is none. */
  readonly origin: string
  /** The `Host` header; empty when there is none. */
  readonly host: string
  /** The `X-Forwarded-Host` header; empty when there is none. Read only behind trusted proxies. */
  readonly forwardedHost: string
}

export interface OriginSettings {
  /** The parsed `ALLOWED_ORIGINS`, or null when it is not set. */
  readonly allowed: AllowedOrigins | null
  /** Whether tokens are required. */
  readonly keysConfigured: boolean
  /** `TRUSTED_PROXY_HOPS`. */
  readonly trustedHops: number
}

/** `ALLOWED_ORIGINS` in a form that is quick to ask. */
export interface AllowedOrigins {
  readonly any: boolean
  readonly exact: ReadonlySet<string>
  readonly wildcards: readonly Wildcard[]
}

interface Wildcard {
  readonly scheme: string
  /** With its leading dot: `.example.com`. */
  readonly suffix: string
  readonly port: string
}

interface Origin {
  readonly scheme: string
  readonly host: string
  /** Empty for the scheme's default. */
  readonly port: string
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' }

/**
 * Reads `ALLOWED_ORIGINS`: entries divided by commas, each `scheme://host[:port]` as browsers send it,
 * `scheme://*.domain[:port]` for every host below a domain (not the domain itself), `null` for pages without an origin
 * (files, sandboxed frames), or `*` for every page. Returns the mistakes in words when there are any.
 */
export function parseAllowedOrigins(text: string): { allowed: AllowedOrigins; mistakes: readonly string[] } {
  const mistakes: string[] = []
  const exact = new Set<string>()
  const wildcards: Wildcard[] = []
  let any = false
  for (const entry of text.split(',').flatMap((part) => part.trim() || [])) {
    const origin = parseOrigin(entry)
    if (entry === '*') any = true
    else if (entry === 'null') exact.add('null')
    else if (!origin) mistakes.push(`"${entry}" is not scheme://host[:port], null or *`)
    else if (!origin.host.includes('*')) exact.add(format(origin))
    else if (/^\*(\.[^*.]+)+$/.test(origin.host)) wildcards.push({ ...origin, suffix: origin.host.slice(1) })
    else mistakes.push(`"${entry}": a * can only stand for the first part of a host name, as in https://*.example.com`)
  }
  return { allowed: { any, exact, wildcards }, mistakes }
}

/** Whether a page may connect. `null` (a page without an origin) only when it is listed. */
export function isOriginAllowed(request: OriginRequest, settings: OriginSettings): boolean {
  if (request.origin === '') return true
  if (settings.allowed) return isListed(request.origin, settings.allowed)
  if (request.origin === 'null') return false
  if (settings.keysConfigured) return true
  const origin = parseOrigin(request.origin)
  if (!origin || !(origin.scheme === 'http' || origin.scheme === 'https')) return false
  if (isLoopbackHost(origin.host)) return true
  return hostsOf(request, settings.trustedHops).includes(origin.host)
}

function isListed(text: string, allowed: AllowedOrigins): boolean {
  if (allowed.any) return true
  const origin = parseOrigin(text)
  if (!origin) return allowed.exact.has(text)
  return (
    allowed.exact.has(format(origin)) ||
    allowed.wildcards.some(
      ({ scheme, suffix, port }) =>
        origin.scheme === scheme &&
        origin.port === port &&
        origin.host.endsWith(suffix) &&
        origin.host.length > suffix.length,
    )
  )
}

/** The names this server was called by. A proxy may put its own into Host and the client's into X-Forwarded-Host. */
function hostsOf(request: OriginRequest, trustedHops: number): string[] {
  const texts = [request.host]
  if (trustedHops > 0) {
    // One entry per proxy or a single one; entries left of those the trusted proxies wrote are the client's own.
    const entries = request.forwardedHost.split(',').map((entry) => entry.trim())
    texts.push(entries[Math.max(0, entries.length - trustedHops)]!)
  }
  return texts.flatMap((text) => parseOrigin(`http://${text}`)?.host ?? [])
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** A serialised origin and nothing more (no path, no user): lower case, the default port left out. Null otherwise. */
function parseOrigin(text: string): Origin | null {
  const match = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/\\?#@:[\],]+)(?::(\d{1,5}))?$/i.exec(text)
  if (!match) return null
  const scheme = match[1]!.toLowerCase()
  const port = match[3] ?? ''
  return { scheme, host: match[2]!.toLowerCase(), port: port === DEFAULT_PORTS[scheme] ? '' : port }
}

function format({ scheme, host, port }: Origin): string {
  return port === '' ? `${scheme}://${host}` : `${scheme}://${host}:${port}`
}
