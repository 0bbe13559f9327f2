import { readFile } from 'node:fs/promises'
import type { Clock } from '../observe/clock.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { readCredentials, type UpgradeHeaders } from './credentials.ts'
import { type Grant, openGrant, type Refusal, type RefusalLabel } from './grant.ts'
import { type KeySetLog, remoteKeySet } from './remote-key-set.ts'
import { createRevocations, type Revocation } from './revocations.ts'
import { checkClaims, readClaims } from './token-claims.ts'
import {
  publicKeyVerifier,
  RECOMMENDED_SECRET_BYTES,
  secretVerifier,
  type TokenProblem,
  type TokenVerifier,
} from './token-verifier.ts'

/**
 * Who may enter which room, to do what, and until when.
 *   upgrade's headers ──credentials──▶ token ──verifier──▶ payload ──claims, revocations──▶ grant or refusal
 * Without a key everybody may write. The token is in no log line, label, error or answer.
 */
export interface Authorizer {
  /** Whether no key is set: everybody may write everywhere. */
  readonly open: boolean
  /** What the operator should be told at start; empty when all is well. */
  readonly warnings: readonly string[]
  /** Whether tokens can be checked now: false only while a key server was never reached. */
  readonly ready: boolean
  /**
   * Decides about one upgrade. Answers at once where it can; otherwise the promise never rejects and settles within
   * 10 s (two fetches of keys).
   */
  admit(request: AdmissionRequest): Grant | Refusal | Promise<Grant | Refusal>
  /** Whether a grant still holds: to be asked when a session is registered, since time passed since `admit`. */
  holds(grant: Grant): boolean
  /** From now on refuses the tokens concerned. Live sessions are the caller's to close (`concerns`). */
  revoke(revocation: Revocation): void
}

export interface AdmissionRequest extends UpgradeHeaders {
  /** The room's name, decoded. */
  readonly room: string
}

/** At most one of the three keys. */
export interface AuthorizerSettings {
  /** `AUTH_JWT_SECRET`: HS256. */
  readonly jwtSecret?: string | undefined
  /** `AUTH_PUBLIC_KEY_FILE`: path of a PEM file. */
  readonly publicKeyFile?: string | undefined
  /** `AUTH_JWKS_URL`: http or https. */
  readonly jwksUrl?: string | undefined
  /** Whether read-only clients may show a cursor. */
  readonly readOnlyCursors: boolean
}

export interface AuthorizerDeps {
  readonly clock: Clock
  /** Epoch milliseconds. */
  readonly wallClock: () => number
  readonly log: KeySetLog
}

/** Tokens above this are refused unread: a signature is checked over all of it, by anybody's order. */
export const MAX_TOKEN_BYTES = 8192

/** Rejects, naming the setting, when the key cannot be used or more than one is set. Fetches remote keys in advance. */
export async function createAuthorizer(settings: AuthorizerSettings, deps: AuthorizerDeps): Promise<Authorizer> {
  const { verifier, warnings, isReady } = await openVerifier(settings, deps)
  const revocations = createRevocations()

  async function check(token: string, room: string, subprotocol: string | null): Promise<Grant | Refusal> {
    const payload = await verifier!.verify(token)
    if (typeof payload === 'string') return refusal(payload, subprotocol)
    const claims = readClaims(payload)
    if (!claims) return refusal('claims', subprotocol)
    const problem = checkClaims(claims, room, deps.wallClock())
    if (problem) return refusal(problem, subprotocol)
    const { subject, issuedAt, expiresAt, access } = claims
    if (revocations.covers({ subject, room, issuedAt })) return refusal('revoked', subprotocol)
    const cursor = access === 'write' || settings.readOnlyCursors
    return { kind: 'grant', room, access, cursor, subject, issuedAt, expiresAt, subprotocol }
  }

  return {
    open: verifier === null,
    warnings,
    get ready() {
      return isReady()
    },
    admit(request) {
      const { token, subprotocol } = readCredentials(request)
      if (!verifier) return openGrant(request.room, subprotocol)
      if (token === null) return refusal('no_token', subprotocol)
      if (Buffer.byteLength(token) > MAX_TOKEN_BYTES) return refusal('oversized', subprotocol)
      return check(token, request.room, subprotocol)
    },
    holds(grant) {
      if (grant.expiresAt !== null && deps.wallClock() >= grant.expiresAt) return false
      return verifier === null || !revocations.covers(grant)
    },
    revoke(revocation) {
      if (verifier) revocations.add(revocation)
    },
  }
}

interface OpenedVerifier {
  readonly verifier: TokenVerifier | null
  readonly warnings: readonly string[]
  isReady(): boolean
}

async function openVerifier(settings: AuthorizerSettings, deps: AuthorizerDeps): Promise<OpenedVerifier> {
  const { jwtSecret, publicKeyFile, jwksUrl } = settings
  const isReady = () => true
  if ([jwtSecret, publicKeyFile, jwksUrl].filter(Boolean).length > 1) {
    throw new Error('AUTH_JWT_SECRET, AUTH_PUBLIC_KEY_FILE and AUTH_JWKS_URL: only one of them can be set')
  }
  if (jwtSecret) {
    const length = Buffer.byteLength(jwtSecret)
    const warnings =
      length < RECOMMENDED_SECRET_BYTES
        ? [`AUTH_JWT_SECRET has ${length} bytes: below ${RECOMMENDED_SECRET_BYTES} it can be guessed from any token`]
        : []
    return { verifier: secretVerifier(jwtSecret), warnings, isReady }
  }
  if (publicKeyFile) return { verifier: await readPublicKey(publicKeyFile), warnings: [], isReady }
  if (jwksUrl) {
    const url = parseKeyServer(jwksUrl)
    const keys = remoteKeySet(url, deps)
    void keys.refresh()
    const warnings =
      url.protocol === 'http:' ? ['AUTH_JWKS_URL is not https: whoever stands in between chooses the keys'] : []
    return { verifier: keys, warnings, isReady: () => keys.available }
  }
  return { verifier: null, warnings: [], isReady }
}

async function readPublicKey(path: string): Promise<TokenVerifier> {
  try {
    return publicKeyVerifier(await readFile(path, 'utf8'))
  } catch (error) {
    throw new Error(`AUTH_PUBLIC_KEY_FILE: ${(error as Error).message}`)
  }
}

function parseKeyServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error('AUTH_JWKS_URL: not an http(s) address')
  return url
}

function refusal(label: RefusalLabel | TokenProblem, subprotocol: string | null): Refusal {
  return { kind: 'refusal', reason: reasonOf(label), label, subprotocol }
}

function reasonOf(label: RefusalLabel): CloseReason {
  if (label === 'room') return CLOSE.notAllowed
  if (label === 'keys_unavailable') return CLOSE.cannotCheckAccess
  return CLOSE.noAccess
}
