/**
 * Who is at the other end, for limits and logs.
 *   TCP peer, X-Forwarded-For ──▶ { address, group }
 * `address` is one canonical text per address; `group` is what limits count by: an IPv4 address, or the /64 of an IPv6
 * address, because a /64 is what one household or one machine is given and it may use any address of it.
 */
export interface ClientAddress {
  /** Canonical text: `192.0.2.1`, or IPv6 as in RFC 5952 (`2001:db8::1`). `unknown` when there is none. */
  readonly address: string
  /** The address for IPv4, `2001:db8:0:1::/64` for IPv6. */
  readonly group: string
}

/** A peer without an address (a Unix socket) or with an unreadable one: all of these share one group. */
const UNKNOWN: ClientAddress = { address: 'unknown', group: 'unknown' }

/**
 * The client's address.
 *
 * `peer` is the TCP peer as text, in any notation. `forwardedFor` is the whole X-Forwarded-For header: when it came in
 * several lines, all of them in order, joined by commas, because some proxies add a line instead of appending.
 * `trustedHops` is how many proxies stand in front (`TRUSTED_PROXY_HOPS`); each appends the address it was called from,
 * so the client's is the entry that the outermost of them wrote: the n-th from the right. Everything left of it is what
 * the client itself claims and is ignored. With 0 the header is ignored.
 *
 * Fewer entries than hops, or an unreadable one, mean that the request did not come the configured way: the peer counts.
 */
export function clientAddress(peer: string, forwardedFor: string, trustedHops: number): ClientAddress {
  if (trustedHops > 0) {
    const entries = forwardedFor.split(',').flatMap((entry) => entry.trim() || [])
    const claimed = entries.at(-trustedHops)
    const forwarded = claimed === undefined ? null : parseAddress(withoutPort(claimed))
    if (forwarded) return describe(forwarded)
  }
  const direct = parseAddress(peer)
  return direct ? describe(direct) : UNKNOWN
}

/** Whether a canonical address (as in `ClientAddress.address`) can only be reached from this machine. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** Four numbers of 8 bits (IPv4) or eight of 16 bits (IPv6). */
type Parts = readonly number[]

function describe(parts: Parts): ClientAddress {
  if (parts.length === 4) {
    const address = parts.join('.')
    return { address, group: address }
  }
  return { address: formatIPv6(parts), group: `${formatIPv6([...parts.slice(0, 4), 0, 0, 0, 0])}/64` }
}

/** Some proxies write `192.0.2.1:4711`, `[2001:db8::1]:4711`, or the whole in quotes. */
function withoutPort(entry: string): string {
  const bare = entry.replace(/^"(.*)"$/, '$1')
  return /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1] ?? /^([\d.]+):\d+$/.exec(bare)?.[1] ?? bare
}

/** Reads an IPv4 or IPv6 address; an IPv4 address inside IPv6 (`::ffff:192.0.2.1`) becomes IPv4. Null when it is neither. */
function parseAddress(text: string): Parts | null {
  const parts = parseIPv4(text) ?? parseIPv6(text)
  if (parts?.length === 8 && parts[5] === 0xffff && parts.slice(0, 5).every((part) => part === 0)) {
    return [parts[6]! >> 8, parts[6]! & 0xff, parts[7]! >> 8, parts[7]! & 0xff]
  }
  return parts
}

function parseIPv4(text: string): Parts | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  const parts = match?.slice(1).map(Number)
  return parts?.every((part) => part < 256) ? parts : null
}

function parseIPv6(text: string): Parts | null {
  const halves = text.replace(/%.*$/, '').split('::')
  if (halves.length > 2) return null
  const head = parseGroups(halves[0]!)
  const tail = halves.length === 2 ? parseGroups(halves[1]!) : []
  if (!head || !tail) return null
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  return [...head, ...Array<number>(missing).fill(0), ...tail]
}

/** `2001:db8:192.0.2.1` → its 16-bit groups; the last group may be an IPv4 address. */
function parseGroups(text: string): number[] | null {
  if (text === '') return []
  const groups: number[] = []
  const words = text.split(':')
  for (const [at, word] of words.entries()) {
    const inner = at === words.length - 1 ? parseIPv4(word) : null
    if (inner) groups.push((inner[0]! << 8) | inner[1]!, (inner[2]! << 8) | inner[3]!)
    else if (/^[0-9a-f]{1,4}$/i.test(word)) groups.push(Number.parseInt(word, 16))
    else return null
  }
  return groups
}

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
function formatIPv6(parts: Parts): string {
  let from = -1
  let length = 1
  for (let at = 0; at < 8; at++) {
    let end = at
    while (end < 8 && parts[end] === 0) end++
    if (end - at > length) {
      from = at
      length = end - at
    }
  }
  const hex = (some: Parts) => some.map((part) => part.toString(16)).join(':')
  return from < 0 ? hex(parts) : `${hex(parts.slice(0, from))}::${hex(parts.slice(from + length))}`
}
