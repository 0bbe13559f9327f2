/**
 * Awareness updates: `count varuint`, then for each entry `id varuint, clock varuint, state varstring(JSON)`. The states
 * are relayed as the bytes they came in; only a state that is news is ever parsed, to be sure that every stock client can.
 */
import { jsonFault } from './value-scan.ts'
import { BAD_VARUINT, readVarUint, varUintEnd, varUintLength, writeVarUint } from './varuint.ts'

/** One presence id's state. A `null` state is a removal. */
export interface PresenceEntry {
  readonly id: number
  readonly clock: number
  /** UTF-8 JSON as its author wrote it. */
  readonly state: Uint8Array
}

/** Why a presence frame was refused, whole: label values of `ws_message_errors_total{reason}`. */
export const PRESENCE_ERRORS = [
  'presence_truncated',
  'presence_count',
  'presence_state_size',
  'presence_clock',
  'presence_json',
  'presence_nesting',
] as const
export type PresenceError = (typeof PRESENCE_ERRORS)[number]

/**
 * Of these the frames that an honest client can have made, which only ask too much: refused, and no offence, since nothing on
 * the side may end what goes on in the document (SP3). The rest no stock client can have written. Each with its label of
 * `ws_presence_refused_total{reason}`.
 */
const PRESENCE_LIMITS = {
  presence_count: 'count',
  presence_state_size: 'state_size',
  presence_clock: 'clock',
  presence_nesting: 'nesting',
} as const satisfies Partial<Record<PresenceError, string>>
export type PresenceLimit = (typeof PRESENCE_LIMITS)[keyof typeof PRESENCE_LIMITS]
/** Which limit a frame is over; undefined when it is malformed instead. */
export const presenceLimit = (error: PresenceError): PresenceLimit | undefined =>
  (PRESENCE_LIMITS as Partial<Record<PresenceError, PresenceLimit>>)[error]

export interface PresenceLimits {
  /** Largest state, bytes of JSON. */
  readonly maxStateBytes: number
  /** Entries in one frame. A stock client answers a join with everybody's presence, so this is not a per-client limit. */
  readonly maxEntries: number
}

/** A cursor with a name and a colour takes some 100 bytes. */
const COPY_BY_HAND = 160

/** Yjs client ids are 32 bits; the bound leaves room and keeps sums exact. */
const MAX_ID = 2 ** 48

const NULL_STATE = Uint8Array.of(0x6e, 0x75, 0x6c, 0x6c)
export const isNullState = (state: Uint8Array): boolean =>
  state.length === 4 && state[0] === 0x6e && state[1] === 0x75 && state[2] === 0x6c && state[3] === 0x6c

export const removal = (id: number, clock: number): PresenceEntry => ({ id, clock, state: NULL_STATE })

/**
 * Whether a frame holds nothing newer than what is known: stock clients send every presence change they receive back, so
 * in a room of N this is what N - 1 of N presence frames are (IN3). Reads headers only and allocates nothing.
 * `knownClock` gives -1 for an unknown id. A frame that cannot be read is not an echo.
 */
export function isEcho(payload: Uint8Array, knownClock: (id: number) => number): boolean {
  const count = readVarUint(payload, 0)
  if (count === BAD_VARUINT) return false
  let at = varUintEnd()
  for (let i = 0; i < count; i++) {
    const id = readVarUint(payload, at)
    if (id === BAD_VARUINT) return false
    const clock = readVarUint(payload, varUintEnd())
    if (clock === BAD_VARUINT || clock > knownClock(id)) return false
    const length = readVarUint(payload, varUintEnd())
    if (length === BAD_VARUINT) return false
    at = varUintEnd() + length
    if (at > payload.length) return false
  }
  return at === payload.length
}

/** Whose state a frame holds; -1 when it holds several, none, or cannot be read. */
export function soleId(payload: Uint8Array): number {
  return payload[0] === 1 ? readVarUint(payload, 1) : -1
}

/** Reads a whole frame before any of it has an effect (PR4). States are views into `payload`. */
export function decodePresence(
  payload: Uint8Array,
  limits: PresenceLimits,
): { readonly entries: readonly PresenceEntry[] } | { readonly error: PresenceError } {
  const count = readVarUint(payload, 0)
  if (count === BAD_VARUINT) return { error: 'presence_truncated' }
  if (count > limits.maxEntries) return { error: 'presence_count' }
  let at = varUintEnd()
  const entries: PresenceEntry[] = []
  for (let i = 0; i < count; i++) {
    const id = readVarUint(payload, at)
    if (id === BAD_VARUINT || id > MAX_ID) return { error: 'presence_truncated' }
    const clock = readVarUint(payload, varUintEnd())
    if (clock === BAD_VARUINT) return { error: 'presence_clock' }
    const length = readVarUint(payload, varUintEnd())
    if (length === BAD_VARUINT) return { error: 'presence_truncated' }
    const start = varUintEnd()
    at = start + length
    if (at > payload.length) return { error: 'presence_truncated' }
    if (length > limits.maxStateBytes) return { error: 'presence_state_size' }
    entries.push({ id, clock, state: payload.subarray(start, at) })
  }
  return at === payload.length ? { entries } : { error: 'presence_truncated' }
}

/** What keeps a state from being relayed, if anything: a stock client throws on JSON it cannot read. */
export function stateError(state: Uint8Array): PresenceError | null {
  if (isNullState(state)) return null
  const fault = jsonFault(state)
  return fault === null ? null : fault === 'nesting' ? 'presence_nesting' : 'presence_json'
}

/** A presence id's state where it is kept: in the first `length` bytes of a buffer that it may outgrow and shrink in. */
export interface HeldEntry {
  readonly id: number
  readonly clock: number
  readonly buffer: Uint8Array
  readonly length: number
}
/** A removal, to be encoded with states that are held. */
export const heldRemoval = (id: number, clock: number): HeldEntry => ({ id, clock, buffer: NULL_STATE, length: 4 })

/** Bytes one entry takes inside an awareness update. */
export const entryBytes = ({ id, clock, length }: HeldEntry): number =>
  varUintLength(id) + varUintLength(clock) + varUintLength(length) + length

/** An awareness update of these entries. */
export const encodeEntries = (entries: readonly PresenceEntry[]): Uint8Array =>
  encodeHeld(entries.map(({ id, clock, state }) => ({ id, clock, buffer: state, length: state.length })))

/** The same of states where they are kept. */
export function encodeHeld(entries: readonly HeldEntry[]): Uint8Array {
  let size = varUintLength(entries.length)
  for (const entry of entries) size += entryBytes(entry)
  const bytes = Buffer.allocUnsafe(size)
  let at = writeVarUint(bytes, 0, entries.length)
  for (const { id, clock, buffer, length } of entries) {
    at = writeVarUint(bytes, at, id)
    at = writeVarUint(bytes, at, clock)
    at = writeVarUint(bytes, at, length)
    // Byte by byte where it is short: a view to copy from costs more than that.
    if (length > COPY_BY_HAND) bytes.set(buffer.subarray(0, length), at)
    else for (let i = 0; i < length; i++) bytes[at + i] = buffer[i]!
    at += length
  }
  return bytes
}
