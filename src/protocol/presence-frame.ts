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

export interface PresenceLimits {
  /** Largest state, bytes of JSON. */
  readonly maxStateBytes: number
  /** Entries in one frame. A stock client answers a join with everybody's presence, so this is not a per-client limit. */
  readonly maxEntries: number
}

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

/** Bytes one entry takes inside an awareness update. */
export const entryBytes = (entry: PresenceEntry): number =>
  varUintLength(entry.id) + varUintLength(entry.clock) + varUintLength(entry.state.length) + entry.state.length

/** An awareness update of these entries. */
export function encodeEntries(entries: readonly PresenceEntry[]): Uint8Array {
  let length = varUintLength(entries.length)
  for (const entry of entries) length += entryBytes(entry)
  const bytes = new Uint8Array(length)
  let at = writeVarUint(bytes, 0, entries.length)
  for (const { id, clock, state } of entries) {
    at = writeVarUint(bytes, at, id)
    at = writeVarUint(bytes, at, clock)
    at = writeVarUint(bytes, at, state.length)
    bytes.set(state, at)
    at += state.length
  }
  return bytes
}
