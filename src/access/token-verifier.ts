import { createPublicKey, type KeyObject } from 'node:crypto'
import { type CompactVerifyGetKey, compactVerify, errors } from 'jose'

/** Proves that a token was signed by whoever holds the key. What it says is not looked at. */
export interface TokenVerifier {
  /** Resolves with the payload, or with why there is none. Never rejects, and never repeats the token. */
  verify(token: string): Promise<Uint8Array | TokenProblem>
}

export type TokenProblem = 'malformed' | 'algorithm' | 'signature' | 'unknown_key' | 'keys_unavailable'

/** RFC 7518, 3.2: an HS256 key is at least as long as the hash. A shorter one can be searched for offline. */
export const RECOMMENDED_SECRET_BYTES = 32

/** RFC 7518, 3.3. */
const MIN_RSA_BITS = 2048

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const
const EDDSA_ALGORITHMS = ['EdDSA', 'Ed25519'] as const

/** Every algorithm a public key can be for. An HMAC is not among them, whatever a token's header says. */
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [
  ...RSA_ALGORITHMS,
  'ES256',
  'ES384',
  'ES512',
  ...EDDSA_ALGORITHMS,
]

/** A shared secret: HS256 and nothing else. */
export function secretVerifier(secret: string): TokenVerifier {
  const key = new TextEncoder().encode(secret)
  return { verify: (token) => verifyWith(token, () => key, ['HS256']) }
}

/**
 * One public key: PEM (SPKI, PKCS#1 or an X.509 certificate). The algorithms are those of the key's type: RS and PS for
 * RSA, the ES of its curve, EdDSA for Ed25519. Throws, in words for the operator, when the text is no such key, is a
 * private one, or is an RSA key below 2048 bits.
 */
export function publicKeyVerifier(pem: string): TokenVerifier {
  if (pem.includes('PRIVATE KEY')) {
    throw new Error('this is a private key: the server checks tokens with the public half and must not hold the other')
  }
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch {
    throw new Error('this is no public key in PEM form')
  }
  const algorithms = algorithmsOf(key)
  return { verify: (token) => verifyWith(token, () => key, algorithms) }
}

function algorithmsOf(key: KeyObject): readonly string[] {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
      if (modulusLength < MIN_RSA_BITS)
        throw new Error(`an RSA key needs ${MIN_RSA_BITS} bits, this has ${modulusLength}`)
      return RSA_ALGORITHMS
    case 'ec':
      if (namedCurve === 'prime256v1') return ['ES256']
      if (namedCurve === 'secp384r1') return ['ES384']
      if (namedCurve === 'secp521r1') return ['ES512']
      throw new Error(`no token algorithm uses the curve ${namedCurve}`)
    case 'ed25519':
      return EDDSA_ALGORITHMS
    default:
      throw new Error(`no supported token algorithm uses a key of type ${key.asymmetricKeyType}`)
  }
}

/** When several keys of a set fit a token that names none, so many are tried. */
const MAX_CANDIDATES = 8

/** Verifies a token with the key that `find` gives for its header, if that names one of `algorithms`. */
export async function verifyWith(
  token: string,
  find: CompactVerifyGetKey,
  algorithms: readonly string[],
): Promise<Uint8Array | TokenProblem> {
  const options = { algorithms: [...algorithms] }
  try {
    return (await compactVerify(token, find, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return problemOf(error)
    let tries = 0
    for await (const key of error) {
      if (++tries > MAX_CANDIDATES) break
      const result = await compactVerify(token, key, options).catch(() => null)
      if (result) return result.payload
    }
    return 'signature'
  }
}

function problemOf(error: unknown): TokenProblem {
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) return 'algorithm'
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key'
  if (error instanceof errors.JWSInvalid) return 'malformed'
  // What is left are bad signatures, and keys of a set that cannot verify anything (an RSA key of 1024 bits, say).
  return 'signature'
}
