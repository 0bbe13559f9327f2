/**
 * The structural pre-check: is this something Yjs can have made, and what would it cost to take it in?
 *   bytes from a client ─▶ checkUpdate ─▶ summary (for rights, budgets, gaps) ─▶ the room applies it, in slices if it is big
 * One linear walk, before Yjs sees a byte. Yjs believes every count it reads: a 10-byte frame makes it allocate 240 MB.
 */
import { ByteReader, MAX_CLOCK, type MalformedUpdate } from '../protocol/byte-reader.ts'
import { type CheckLimits, UpdateScan, type UpdateSummary } from './update-scan.ts'

export { MALFORMED_UPDATE, MAX_CLOCK, MAX_VALUE_DEPTH, type MalformedUpdate } from '../protocol/byte-reader.ts'
export { MAX_TYPE_DEPTH, typeDepth } from './type-nesting.ts'
export { stripUnknownDeletes } from './unknown-deletes.ts'
export { findGap } from './update-gaps.ts'
export type { AuthorDeletes, AuthorSection, CheckLimits, UpdateSummary } from './update-scan.ts'

export type UpdateCheck =
  | { readonly ok: true; readonly summary: UpdateSummary }
  | { readonly ok: false; readonly reason: MalformedUpdate }

export type StateVectorCheck =
  | { readonly ok: true; readonly clients: number }
  | { readonly ok: false; readonly reason: MalformedUpdate }

export const CHECK_LIMITS: CheckLimits = { rootNames: 1024, authors: 262_144 }

/** Walked between two pauses: 2 to 9 ms. */
const STEP_BYTES = 1 << 20

/** One for all calls: nothing here is re-entrant, and a small update should not pay for a new one. */
const scan = new UpdateScan()

/**
 * Never throws; time (2 to 8 ns per byte) and memory are linear in the bytes that are there, whatever they declare.
 */
export function checkUpdate(bytes: Uint8Array, limits: CheckLimits = CHECK_LIMITS): UpdateCheck {
  scan.begin(bytes, limits)
  scan.run(Number.POSITIVE_INFINITY)
  const check = resultOf(scan)
  scan.end()
  return check
}

/**
 * The same for big updates: it pauses after every `stepBytes`, so that the caller can give the loop back, and returns
 * what checkUpdate would. The bytes must not change meanwhile. A single value (one string, one embed) is never cut.
 */
export function* checkUpdateInSteps(
  bytes: Uint8Array,
  stepBytes: number = STEP_BYTES,
  limits: CheckLimits = CHECK_LIMITS,
): Generator<void, UpdateCheck> {
  const own = new UpdateScan()
  own.begin(bytes, limits)
  for (let until = stepBytes; !own.run(until); until += stepBytes) yield
  return resultOf(own)
}

function resultOf(done: UpdateScan): UpdateCheck {
  return done.fault === undefined ? { ok: true, summary: done.summary() } : { ok: false, reason: done.fault }
}

/**
 * The same for a state vector (SyncStep1): pairs of client and clock. `clients` is what Yjs would put into a map: 60 bytes
 * of memory for as little as 2 here.
 */
export function checkStateVector(bytes: Uint8Array): StateVectorCheck {
  const reader = new ByteReader()
  reader.bytes = bytes
  if (bytes.length === 0) return { ok: false, reason: 'empty' }
  const clients = reader.count(2)
  for (let left = clients; left > 0; left--) {
    reader.uint()
    if (reader.uint() > MAX_CLOCK) reader.fail('clock')
    if (reader.fault !== undefined) break
  }
  if (reader.fault === undefined && reader.pos !== bytes.length) reader.fail('trailing')
  return reader.fault === undefined ? { ok: true, clients } : { ok: false, reason: reader.fault }
}
