import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Whether an `Authorization` header carries this token as a bearer. The time it takes says nothing about how much of the
 * token was right: both sides are hashed, so they have one length, and the hashes are compared in constant time.
 */
export function isBearer(authorization: string, token: string): boolean {
  const given = /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
