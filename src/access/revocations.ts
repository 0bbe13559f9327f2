import type { Grant } from './grant.ts'

/**
 * What was taken back: by person, by room, or one person in one room. With neither, it would mean everybody: use
 * another key for that.
 */
export interface Revocation {
  readonly subject?: string
  readonly room?: string
  /** Epoch milliseconds: tokens issued before it no longer count. */
  readonly before: number
}

/**
 * Whether a revocation ends a session that was granted this. A token that does not say when it was issued cannot show
 * that it is newer, so it counts as older. `iat` has whole seconds: a token issued in the revocation's own second is
 * refused as well.
 */
export function concerns(revocation: Revocation, grant: Pick<Grant, 'subject' | 'room' | 'issuedAt'>): boolean {
  if (revocation.subject === undefined && revocation.room === undefined) return false
  if (revocation.subject !== undefined && revocation.subject !== grant.subject) return false
  if (revocation.room !== undefined && revocation.room !== grant.room) return false
  return isOlder(grant.issuedAt, revocation.before)
}

export interface Revocations {
  add(revocation: Revocation): void
  covers(grant: Pick<Grant, 'subject' | 'room' | 'issuedAt'>): boolean
  readonly size: number
}

/** About 3 MB at most, with names of 256 characters and rooms of 512 bytes. */
const MAX_REMEMBERED = 10_000

/**
 * Remembers revocations until the process ends, at most `limit` of them. How long the revoked tokens live is not known
 * here, so no entry is forgotten by age. Over the limit the oldest is folded into one date before which no token at all
 * is taken any more: that refuses people who did nothing, until they fetch a new token, but never lets a revoked token
 * back in.
 */
export function createRevocations(limit = MAX_REMEMBERED): Revocations {
  const before = new Map<string, number>()
  let floor = Number.NEGATIVE_INFINITY

  return {
    get size() {
      return before.size
    },
    add(revocation) {
      if (revocation.subject === undefined && revocation.room === undefined) return
      const key = keyOf(revocation.subject ?? null, revocation.room ?? null)
      const latest = Math.max(revocation.before, before.get(key) ?? Number.NEGATIVE_INFINITY)
      before.delete(key)
      before.set(key, latest)
      for (const [oldest, date] of before) {
        if (before.size <= limit) break
        before.delete(oldest)
        floor = Math.max(floor, date)
      }
    },
    covers({ subject, room, issuedAt }) {
      if (floor > Number.NEGATIVE_INFINITY && isOlder(issuedAt, floor)) return true
      const keys = [keyOf(null, room)]
      if (subject !== null) keys.push(keyOf(subject, null), keyOf(subject, room))
      return keys.some((key) => {
        const date = before.get(key)
        return date !== undefined && isOlder(issuedAt, date)
      })
    },
  }
}

function isOlder(issuedAt: number | null, date: number): boolean {
  return issuedAt === null || issuedAt < date
}

function keyOf(subject: string | null, room: string | null): string {
  return JSON.stringify([subject, room])
}
