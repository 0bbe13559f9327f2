import type { RefusalLabel } from './grant.ts'

/**
 * What a token with a good signature says.
 *   payload ──read──▶ claims ──check against room and time──▶ nothing, or why not
 */
export interface TokenClaims {
  /** `sub`; null when absent. */
  readonly subject: string | null
  /** `exp`, `nbf` and `iat` in epoch milliseconds; null when absent. */
  readonly expiresAt: number
  readonly notBefore: number | null
  readonly issuedAt: number | null
  /** `rooms`: exact names, or prefixes that end in `*`. Empty when absent. */
  readonly rooms: readonly string[]
  /** `access`; read when absent. */
  readonly access: 'write' | 'read'
}

/** Clocks of the issuer and of this server may differ by this much. Not applied to `exp`: expired is expired. */
const LEEWAY_MS = 30_000

/** The last second a JavaScript date can hold: a later one is a mistake in units, not a promise. */
const MAX_EPOCH_SECONDS = 8_640_000_000_000

/** A subject is remembered when it is revoked or evicted, so it may not be arbitrarily long. */
const MAX_SUBJECT_LENGTH = 256

/**
 * Reads the payload of a token. Null when it is no JSON object or a claim is of the wrong type: a claim that cannot be
 * understood is never taken for one that is absent. `exp` is required. `rooms` may also be one text.
 */
export function readClaims(payload: Uint8Array): TokenClaims | null {
  const claims = parseObject(payload)
  if (!claims) return null
  const expiresAt = time(claims.exp)
  const notBefore = time(claims.nbf)
  const issuedAt = time(claims.iat)
  const subject = claims.sub ?? null
  const rooms = typeof claims.rooms === 'string' ? [claims.rooms] : (claims.rooms ?? [])
  const access = claims.access ?? 'read'
  if (expiresAt === undefined || expiresAt === null || notBefore === undefined || issuedAt === undefined) return null
  if (subject !== null && (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_LENGTH)) {
    return null
  }
  if (!Array.isArray(rooms) || !rooms.every((room) => typeof room === 'string')) return null
  if (access !== 'read' && access !== 'write') return null
  return { subject, expiresAt, notBefore, issuedAt, rooms, access }
}

/** Why these claims do not open `room` at `now` (epoch milliseconds), or null when they do. */
export function checkClaims(claims: TokenClaims, room: string, now: number): RefusalLabel | null {
  if (now >= claims.expiresAt) return 'expired'
  if (claims.notBefore !== null && claims.notBefore > now + LEEWAY_MS) return 'not_yet'
  if (claims.issuedAt !== null && claims.issuedAt > now + LEEWAY_MS) return 'not_yet'
  return coversRoom(claims.rooms, room) ? null : 'room'
}

/**
 * Whether a `rooms` claim covers a room. Only a `*` at the end is special, and it covers the rest whatever it is:
 * `team-1*` covers `team-10` too, so a prefix should end in a separator (`team-1/*`). No entry, no room: a token that
 * forgot the claim opens nothing instead of everything.
 */
function coversRoom(rooms: readonly string[], room: string): boolean {
  return rooms.some((entry) => (entry.endsWith('*') ? room.startsWith(entry.slice(0, -1)) : room === entry))
}

function parseObject(payload: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** A NumericDate (seconds, fractions allowed) in milliseconds; null when absent, undefined when it is none. */
function time(claim: unknown): number | null | undefined {
  if (claim === undefined) return null
  return typeof claim === 'number' && Math.abs(claim) <= MAX_EPOCH_SECONDS ? claim * 1000 : undefined
}
