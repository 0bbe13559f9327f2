import type { Lingering } from '../budget/lingering.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import type { Absent } from './absent.ts'

/**
 * How many may be connected: in all, and from one address.
 *   upgrade ──admit(group)──▶ a place, given back once ── or a refusal to close with
 * Refusals are temporary: a stock client that never synced backs off to 2.5 s.
 *
 * A place is a descriptor. Sockets that were ended and still hold theirs (`Lingering`) count as well: in all, through
 * `isCrowded`, and with their address, which may have as many of them as it may have open ones before they fill its share. Who
 * is gone and not decided about (`Absent`) holds no descriptor, but memory: it counts like one that is there.
 */
export interface ConnectionLimits {
  /** Most places in all: `MAX_CONNECTIONS`, or what the descriptors allow if that is less. */
  readonly maxConnections: number
  /** Most TCP connections, those included that are no WebSocket (yet): above it they are cut at accept. */
  readonly maxSockets: number
  /** Whether sockets that are no places, or no longer, reach into what is kept free of WebSockets. */
  readonly isCrowded: boolean
  /** Most sockets that are open only to be told a refusal. */
  readonly maxDoors: number
  /** Places taken now. */
  readonly connections: number
  /** A place for one connection of `group` (`ClientAddress.group`), or why there is none. */
  admit(group: string): Place | PlaceRefusal
}

export interface Place {
  readonly kind: 'place'
  /** Gives the place back. Only the first call counts. `lingers`: the socket was ended and holds its descriptor still. */
  release(lingers?: boolean): void
}

export interface PlaceRefusal {
  readonly kind: 'refusal'
  readonly reason: CloseReason
  /** `connections`: the server is full; `address`: this address has its share. */
  readonly label: 'connections' | 'address'
}

export interface ConnectionLimitSettings {
  /** `MAX_CONNECTIONS`. */
  readonly maxConnections: number
  /** `MAX_CONNECTIONS_PER_IP`, per IPv4 address or IPv6 /64. */
  readonly maxConnectionsPerIp: number
  /** Descriptors this process may open, and has open with everything started. Null: not known, no cap. */
  readonly descriptors: { readonly limit: number; readonly used: number } | null
  readonly lingering?: Lingering
  readonly absent?: Absent
  /** TCP connections there are, as far as is known. */
  readonly openSockets?: () => number
}

/**
 * Descriptors kept free of WebSockets: for those that are refused (they hold one until their close frame is gone),
 * scrapes, health checks, the page and key fetches. A quarter of a small limit, so that something is left for both.
 */
const HTTP_RESERVE = 64

/** Sockets that are open only for a close frame, and those that linger: half of a small reserve, an eighth of what is free at most. */
const MAX_DOORS = 1024

/** Connections beside WebSockets, whatever the descriptors allow: each may hold a request head of 16 KB. */
const MAX_HTTP_SOCKETS = 1024

/** Kept free of clients altogether: files the store opens, DNS, Redis. At the limit itself accept() spins at 100 % CPU. */
const PROCESS_RESERVE = 16

export function createConnectionLimits(settings: ConnectionLimitSettings): ConnectionLimits {
  const { maxConnectionsPerIp, descriptors, lingering, absent, openSockets } = settings
  const free = descriptors ? Math.max(1, descriptors.limit - descriptors.used - PROCESS_RESERVE) : null
  const reserve = free === null ? 0 : Math.min(HTTP_RESERVE, Math.floor(free / 4))
  const maxConnections = Math.min(settings.maxConnections, free === null ? Number.POSITIVE_INFINITY : free - reserve)
  const perGroup = new Map<string, number>()
  let connections = 0

  return {
    maxConnections,
    maxSockets: Math.min(free ?? Number.POSITIVE_INFINITY, settings.maxConnections + MAX_HTTP_SOCKETS),
    maxDoors: free === null ? MAX_DOORS : Math.max(1, Math.min(MAX_DOORS, Math.floor(free / 8))),
    get isCrowded() {
      return openSockets !== undefined && free !== null && openSockets() >= free - Math.ceil(reserve / 2)
    },
    get connections() {
      return connections
    },
    admit(group) {
      // The share first: who is at its own limit should not be told that the server is full.
      const taken = perGroup.get(group) ?? 0
      const lingers = lingering?.beyond(group, maxConnectionsPerIp) ?? 0
      if (taken + lingers + (absent?.of(group) ?? 0) >= maxConnectionsPerIp)
        return { kind: 'refusal', reason: CLOSE.tooManyConnections, label: 'address' }
      if (connections + (absent?.total ?? 0) >= maxConnections)
        return { kind: 'refusal', reason: CLOSE.serverFull, label: 'connections' }
      connections++
      perGroup.set(group, taken + 1)
      return new TakenPlace(group, giveBack)
    },
  }

  function giveBack(group: string, lingers: boolean): void {
    connections--
    if (lingers) lingering?.add(group)
    const left = perGroup.get(group)! - 1
    if (left === 0) perGroup.delete(group)
    else perGroup.set(group, left)
  }
}

/** A class, because tens of thousands are held: an object with a closure takes three times as much. */
class TakenPlace implements Place {
  readonly kind = 'place'
  readonly #giveBack: (group: string, lingers: boolean) => void
  #group: string | null

  constructor(group: string, giveBack: (group: string, lingers: boolean) => void) {
    this.#group = group
    this.#giveBack = giveBack
  }

  release(lingers = false): void {
    if (this.#group === null) return
    this.#giveBack(this.#group, lingers)
    this.#group = null
  }
}
