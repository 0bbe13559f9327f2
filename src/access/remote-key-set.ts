import { type CompactVerifyGetKey, createLocalJWKSet, type JSONWebKeySet, type JWK } from 'jose'
import type { Clock } from '../observe/clock.ts'
import { downloadJson } from './key-download.ts'
import { PUBLIC_KEY_ALGORITHMS, type TokenProblem, type TokenVerifier, verifyWith } from './token-verifier.ts'

/**
 * The keys of an issuer, fetched from its JWKS address and kept.
 *   token ──kid, alg──▶ kept set ──no such key: fetch again──▶ payload or problem
 *
 *   - A set is used for ten minutes, then fetched again before the next token is checked.
 *   - While the key server is away the old set goes on, however old: tokens expire on their own, and a board that nobody
 *     can enter would make the key server's outage ours.
 *   - A key the set lacks may be newer than the set: it is fetched again, four times a minute at most, since anybody can
 *     make up a key's name. Beyond that, and while no set was ever fetched, the answer is "come back later".
 */
export interface RemoteKeySet extends TokenVerifier {
  /** Whether a set was ever fetched. */
  readonly available: boolean
  /** Fetches the set, unless that is under way. Resolves with whether it was got. */
  refresh(): Promise<boolean>
}

/** What this needs of a logger; pino fits. */
export interface KeySetLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

const MAX_AGE_MS = 10 * 60_000

/** After a failure. Below it a stock client's retries would each wait for the next one. */
const RETRY_MS = 5_000

/** Fetches because of keys nobody has heard of: four at once, one more every 15 s. */
const UNKNOWN_KEY_FETCHES = 4
const UNKNOWN_KEY_REFILL_MS = 15_000

const MAX_KEYS = 100

/** Every tenth failure is logged: a key server that is down for a night is one fact, not ten thousand lines. */
const LOG_EVERY = 10

/** `url` is http or https; `download` is replaced by tests. Fetches nothing until `refresh` or the first token. */
export function remoteKeySet(
  url: URL,
  deps: { clock: Clock; log: KeySetLog; download?: (url: URL, clock: Clock) => Promise<unknown> },
): RemoteKeySet {
  const { clock, log, download = downloadJson } = deps
  // The address may hold credentials: only the host is ever logged.
  const keyServer = url.host
  let findKey: CompactVerifyGetKey | null = null
  let fetchedAt = 0
  let failedAt: number | null = null
  let failures = 0
  let pending: Promise<boolean> | null = null
  let allowance = UNKNOWN_KEY_FETCHES
  let allowanceAt = clock.now()

  function refresh(): Promise<boolean> {
    pending ??= fetchKeys().finally(() => {
      pending = null
    })
    return pending
  }

  async function fetchKeys(): Promise<boolean> {
    try {
      const keys = usableKeys(await download(url, clock))
      findKey = createLocalJWKSet({ keys }) as CompactVerifyGetKey
      fetchedAt = clock.now()
      if (failures > 0 || keys.length === 0)
        log.info({ event: 'keys_fetched', keyServer, keys: keys.length }, 'token keys fetched')
      failedAt = null
      failures = 0
      return true
    } catch (error) {
      failedAt = clock.now()
      if (failures++ % LOG_EVERY === 0) {
        log.warn(
          { event: 'keys_not_fetched', keyServer, problem: String(error), failures, oldKeys: findKey !== null },
          'token keys not fetched',
        )
      }
      return false
    }
  }

  /** A fetch that is due; at once false when the last one failed a moment ago. */
  async function refreshIfDue(): Promise<boolean> {
    if (!pending && failedAt !== null && clock.now() - failedAt < RETRY_MS) return false
    return refresh()
  }

  function mayFetchForUnknownKey(): boolean {
    const refill = Math.floor((clock.now() - allowanceAt) / UNKNOWN_KEY_REFILL_MS)
    if (refill > 0) {
      allowance = Math.min(UNKNOWN_KEY_FETCHES, allowance + refill)
      allowanceAt += refill * UNKNOWN_KEY_REFILL_MS
    }
    if (allowance === 0) return false
    allowance--
    return true
  }

  async function verify(token: string): Promise<Uint8Array | TokenProblem> {
    if (!findKey) await refreshIfDue()
    else if (clock.now() - fetchedAt > MAX_AGE_MS) {
      const fetched = refreshIfDue()
      // With an outage known of, nobody waits for the next attempt.
      if (failedAt === null) await fetched
    }
    if (!findKey) return 'keys_unavailable'
    const result = await verifyWith(token, findKey, PUBLIC_KEY_ALGORITHMS)
    if (result !== 'unknown_key') return result

    if (!pending && !mayFetchForUnknownKey()) return 'keys_unavailable'
    if (!(await refresh())) return 'keys_unavailable'
    return verifyWith(token, findKey, PUBLIC_KEY_ALGORITHMS)
  }

  return {
    get available() {
      return findKey !== null
    },
    refresh,
    verify,
  }
}

/** The signature keys of a JWKS document. Secrets are left out: a key that was published proves nothing. */
function usableKeys(document: unknown): JWK[] {
  const { keys } = (document ?? {}) as Partial<JSONWebKeySet>
  if (!Array.isArray(keys)) throw new Error('not a key set')
  return keys
    .filter((key): key is JWK => typeof key === 'object' && key !== null && typeof key.kty === 'string')
    .filter((key) => key.kty !== 'oct' && (key.use === undefined || key.use === 'sig'))
    .slice(0, MAX_KEYS)
}
