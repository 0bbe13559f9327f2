/**
 * The y-websocket wire format as far as a load generator needs it, read in place. Its own, not the server's: a mistake
 * shared by both sides would not show.
 *   sync      0, subtype (0 SyncStep1, 1 SyncStep2, 2 Update), length, payload
 *   presence  1, length, awareness update (count, then per entry: id, clock, length, JSON)
 */
export const SYNC = 0
export const PRESENCE = 1
export const AUTH = 2
export const SYNC_REPLY = 4
export const STEP_1 = 0
export const STEP_2 = 1
export const UPDATE = 2

let end = 0
/** Position behind the integer that `readVarUint` read last. */
export const varUintEnd = (): number => end

export function readVarUint(bytes: Uint8Array, at: number): number {
  let value = bytes[at]!
  let next = at + 1
  if (value >= 0x80) {
    value &= 0x7f
    for (let scale = 0x80; ; scale *= 0x80) {
      const byte = bytes[next++]
      if (byte === undefined) throw new Error('a number runs over the end of a frame')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
  }
  end = next
  return value
}

export function varUintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
  return length
}

export function writeVarUint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  let i = at
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[i++] = (rest % 0x80) | 0x80
  bytes[i++] = rest
  return i
}

/** A presence frame's payload with one entry, as a stock client announces itself. */
export function encodeAnnouncement(id: number, clock: number, state: string): Uint8Array {
  const bytes = new Uint8Array(32 + state.length * 3)
  let at = writeVarUint(bytes, 0, 1)
  at = writeVarUint(bytes, at, id)
  at = writeVarUint(bytes, at, clock)
  at = writeVarUint(bytes, at, state.length)
  for (let i = 0; i < state.length; i++) {
    const unit = state.charCodeAt(i)
    if (unit > 0x7f) throw new Error('presence states of the load are ASCII')
    bytes[at++] = unit
  }
  return bytes.subarray(0, at)
}

/**
 * A whole WebSocket frame of `prefix`, `head`, and a length-prefixed `payload`. Masked, as clients must, with a key of
 * zeros: that leaves the bytes as they are.
 */
export function messageFrame(prefix: Uint8Array, head: readonly number[], payload: Uint8Array): Buffer {
  const size = prefix.length + head.length + varUintLength(payload.length) + payload.length
  const lengthBytes = size < 126 ? 0 : size < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(2 + lengthBytes + 4 + size)
  frame[0] = 0x82
  if (lengthBytes === 0) frame[1] = 0x80 | size
  else if (lengthBytes === 2) {
    frame[1] = 0x80 | 126
    frame.writeUInt16BE(size, 2)
  } else {
    frame[1] = 0x80 | 127
    frame.writeBigUInt64BE(BigInt(size), 2)
  }
  let at = 2 + lengthBytes
  frame.fill(0, at, at + 4)
  at += 4
  frame.set(prefix, at)
  at += prefix.length
  for (const byte of head) frame[at++] = byte
  at = writeVarUint(frame, at, payload.length)
  frame.set(payload, at)
  return frame
}

/** A control frame with an empty or short payload. */
export function controlFrame(opcode: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(6 + payload.length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | payload.length
  frame.set(payload, 6)
  return frame
}
