/**
 * The y-websocket wire format: one message a frame, `type varuint`, then by type
 *   0 sync       subtype varuint (0 SyncStep1, 1 SyncStep2, 2 Update), then a length-prefixed payload
 *   1 presence   a length-prefixed awareness update (see presence-frame)
 *   3 query      nothing: "send me everybody's presence"
 *   100 notice   server to client only: length-prefixed JSON text (see notices in docs/protocol.md)
 * Pure functions. A bad frame is a value, never an exception.
 */
import { BAD_VARUINT, readVarUint, varUintEnd, varUintLength, writeVarUint } from './varuint.ts'

const SYNC = 0
const PRESENCE = 1
const QUERY_PRESENCE = 3
const NOTICE = 100

const STEP_1 = 0
const STEP_2 = 1
const UPDATE = 2

/** Why a frame could not be read: label values of `ws_message_errors_total{reason}`. */
export const FRAME_ERRORS = ['empty', 'unknown_type', 'unknown_sync_type', 'truncated', 'trailing_bytes'] as const
export type FrameError = (typeof FRAME_ERRORS)[number]

/** A decoded frame. Payloads are views into the given bytes: copy what is kept. */
export type Frame =
  | { readonly kind: 'step1'; readonly payload: Uint8Array }
  | { readonly kind: 'step2'; readonly payload: Uint8Array }
  | { readonly kind: 'update'; readonly payload: Uint8Array }
  | { readonly kind: 'presence'; readonly payload: Uint8Array }
  | { readonly kind: 'query_presence' }
  | { readonly kind: 'malformed'; readonly reason: FrameError }

const malformed = (reason: FrameError): Frame => ({ kind: 'malformed', reason })
const SYNC_KINDS = ['step1', 'step2', 'update'] as const

/** Reads one client's frame. Stock clients send exactly one message a frame, so bytes behind it are an error. */
export function decodeFrame(bytes: Uint8Array): Frame {
  if (bytes.length === 0) return malformed('empty')
  const type = readVarUint(bytes, 0)
  if (type === BAD_VARUINT) return malformed('truncated')
  let at = varUintEnd()
  if (type === QUERY_PRESENCE) return at === bytes.length ? { kind: 'query_presence' } : malformed('trailing_bytes')
  if (type !== SYNC && type !== PRESENCE) return malformed('unknown_type')
  let subtype = 0
  if (type === SYNC) {
    subtype = readVarUint(bytes, at)
    if (subtype === BAD_VARUINT) return malformed('truncated')
    if (subtype > UPDATE) return malformed('unknown_sync_type')
    at = varUintEnd()
  }
  const length = readVarUint(bytes, at)
  if (length === BAD_VARUINT) return malformed('truncated')
  at = varUintEnd()
  if (length > bytes.length - at) return malformed('truncated')
  if (length < bytes.length - at) return malformed('trailing_bytes')
  const payload = bytes.subarray(at)
  return type === PRESENCE ? { kind: 'presence', payload } : { kind: SYNC_KINDS[subtype as 0 | 1 | 2], payload }
}

function frame(head: readonly number[], payload: Uint8Array): Uint8Array {
  // From Node's pool where it is small: an ArrayBuffer of its own costs more than filling it.
  const bytes = Buffer.allocUnsafe(head.length + varUintLength(payload.length) + payload.length)
  for (let i = 0; i < head.length; i++) bytes[i] = head[i]!
  bytes.set(payload, writeVarUint(bytes, head.length, payload.length))
  return bytes
}

/** SyncStep1: "this is what I have" (a state vector); asks the other side for what is missing. */
export const encodeStep1 = (stateVector: Uint8Array): Uint8Array => frame([SYNC, STEP_1], stateVector)
/** SyncStep2: the (last part of the) answer to a SyncStep1. It is what makes a stock client `synced`. */
export const encodeStep2 = (update: Uint8Array): Uint8Array => frame([SYNC, STEP_2], update)
/** Update: an edit as it happens, or an earlier part of an answer. */
export const encodeUpdate = (update: Uint8Array): Uint8Array => frame([SYNC, UPDATE], update)
/** Bytes of that frame around `payload` bytes; one that is as long, and an Update, is the same. */
export const updateFrameLength = (payload: number): number => 2 + varUintLength(payload) + payload
/** Presence: an encoded awareness update. */
export const encodePresence = (awarenessUpdate: Uint8Array): Uint8Array => frame([PRESENCE], awarenessUpdate)

/** A notice's JSON text (see notices). */
export const encodeNoticeFrame = (text: Uint8Array): Uint8Array => frame([NOTICE], text)

/**
 * Presence of nobody: `01 01 00`. Stock clients hang up after 30 s without an application frame (pings do not count), and
 * this one changes nothing in any of them, not even in one whose own presence is null (FR5).
 */
export const KEEPALIVE: Uint8Array = Uint8Array.of(PRESENCE, 1, 0)

/** Bytes of the frame header a server puts before `payload` bytes (RFC 6455, section 5.2, unmasked). */
export const webSocketHeaderBytes = (payload: number): number => (payload < 126 ? 2 : payload < 65_536 ? 4 : 10)
