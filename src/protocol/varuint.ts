/**
 * lib0's variable-length unsigned integers (7 bits a byte, least significant first), read in place: no decoder object,
 * no exception. The cursor is an argument and the result is a number, so that reading a frame allocates nothing.
 */

/** What `readVarUint` gives for an integer that is cut off or larger than 2^53 - 1. */
export const BAD_VARUINT = -1

let end = 0

/** Position just behind the integer that `readVarUint` last read. */
export function varUintEnd(): number {
  return end
}

/** The integer at `at`, or `BAD_VARUINT`. Where it ends is `varUintEnd()`, until the next call. */
export function readVarUint(bytes: Uint8Array, at: number): number {
  let value = 0
  let scale = 1
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i]!
    value += (byte & 0x7f) * scale
    if (value > Number.MAX_SAFE_INTEGER) return BAD_VARUINT
    if (byte < 0x80) {
      end = i + 1
      return value
    }
    scale *= 0x80
    if (scale > Number.MAX_SAFE_INTEGER) return BAD_VARUINT
  }
  return BAD_VARUINT
}

/** Bytes that `value` takes as a varuint. */
export function varUintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++
  return length
}

/** Writes `value` (0 to 2^53 - 1) at `at` and returns the position behind it. The caller has made room. */
export function writeVarUint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  let i = at
  while (rest >= 0x80) {
    bytes[i++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes[i++] = rest
  return i
}
