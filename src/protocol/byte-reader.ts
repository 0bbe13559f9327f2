/**
 * A cursor over bytes nobody has vouched for: every read is checked, a failure is a value that sticks and never an
 * exception. UpdateReader builds on it; the JSON and Any scanners are handed it.
 */

/** Why bytes were refused. A closed set: each becomes a metric label. */
export const MALFORMED_UPDATE = [
  /** Nothing there at all. */
  'empty',
  /** The bytes end in the middle of something. */
  'truncated',
  /** A number of more than 8 bytes or beyond 2^53 - 1. */
  'varint',
  /** A declared count that the bytes left cannot hold, or an author's section without structs. */
  'count',
  /** A struct of length 0. */
  'length',
  /** Authors not in descending order, or one twice. */
  'order',
  /** Flag bits that Yjs never sets. */
  'flags',
  /** An unknown kind of struct, shared type or Any value. */
  'content',
  /** A string that is not UTF-8. */
  'utf8',
  /** An embed, format or legacy value that JSON.parse would reject. */
  'json',
  /** JSON or Any values nested deeper than MAX_VALUE_DEPTH. */
  'nesting',
  /** An origin, right origin or parent in its author's own future. */
  'origin',
  /** A clock or a length beyond MAX_CLOCK. */
  'clock',
  /** More distinct root names than the limit. */
  'root_names',
  /** More authors than the limit. */
  'authors',
  /** A delete range of length 0. */
  'delete_set',
  /** Bytes after the end. */
  'trailing',
] as const

export type MalformedUpdate = (typeof MALFORMED_UPDATE)[number]

/**
 * Levels of arrays and objects inside one JSON or Any value. lib0 and JSON.parse recurse: some thousand levels overflow
 * the stack. No board seen has used more than a dozen.
 */
export const MAX_VALUE_DEPTH = 100

/**
 * Highest clock, and highest sum of clock and length. Absolute, not relative to the author's known clock: 100 000
 * characters typed and deleted offline arrive as 26 bytes. 2^48 single characters are out of anybody's reach, and sums
 * of two clocks stay exact.
 */
export const MAX_CLOCK = 2 ** 48

/** 7 bits each: 8 bytes hold any number up to 2^53 - 1. */
const MAX_VARINT_BYTES = 8

const NO_BYTES = new Uint8Array(0)

export class ByteReader {
  bytes: Uint8Array = NO_BYTES
  pos = 0
  /** Set by the first failed read, which is also the last. */
  fault: MalformedUpdate | undefined = undefined
  /** Where the text of the string skipped last begins; it ends at `pos` at that moment. */
  stringFrom = 0
  /** Arrays and objects seen inside JSON and Any values: each costs a JavaScript object once decoded. */
  containers = 0

  fail(reason: MalformedUpdate): false {
    this.fault ??= reason
    return false
  }

  /** The next unsigned varint, or -1 after a failure. */
  uint(): number {
    const bytes = this.bytes
    const end = bytes.length
    let pos = this.pos
    if (pos >= end) return this.failedUint('truncated')
    const first = bytes[pos++]!
    if (first < 0x80) {
      this.pos = pos
      return first
    }
    const last = pos + MAX_VARINT_BYTES - 1
    let value = first & 0x7f
    let scale = 0x80
    while (pos < end) {
      if (pos === last) return this.failedUint('varint')
      const byte = bytes[pos++]!
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        this.pos = pos
        return value <= Number.MAX_SAFE_INTEGER ? value : this.failedUint('varint')
      }
      scale *= 0x80
    }
    return this.failedUint('truncated')
  }

  /**
   * A count of things that take at least `leastBytes` each, or -1: whoever allocates for a count that this returned
   * allocates no more than the bytes that are there.
   */
  count(leastBytes: number): number {
    const count = this.uint()
    if (count < 0) return -1
    return count * leastBytes <= this.bytes.length - this.pos ? count : this.failedUint('count')
  }

  /** Skips a length and that many bytes. */
  skipBlob(): boolean {
    const length = this.uint()
    if (length < 0) return false
    return this.skip(length)
  }

  skip(length: number): boolean {
    if (length > this.bytes.length - this.pos) return this.fail('truncated')
    this.pos += length
    return true
  }

  /** Skips a varstring, which must be UTF-8; its length in UTF-16 units, or -1. */
  skipString(): number {
    const length = this.uint()
    if (length < 0) return -1
    const from = this.pos
    if (length > this.bytes.length - from) return this.failedUint('truncated')
    this.stringFrom = from
    this.pos = from + length
    const units = utf16Length(this.bytes, from, this.pos)
    return units < 0 ? this.failedUint('utf8') : units
  }

  private failedUint(reason: MalformedUpdate): -1 {
    this.fault ??= reason
    return -1
  }
}

/**
 * Length in UTF-16 units of the UTF-8 text in [from, to), or -1 when a decoder that is told to be strict would throw:
 * overlong forms, surrogates, code points above U+10FFFF, cut sequences. A byte order mark counts as a character, as it
 * does for lib0.
 */
export function utf16Length(bytes: Uint8Array, from: number, to: number): number {
  let pos = from
  let surplus = 0
  while (pos < to) {
    const lead = bytes[pos]!
    if (lead < 0x80) {
      pos++
    } else if (lead < 0xe0) {
      if (lead < 0xc2 || pos + 2 > to || !isTail(bytes[pos + 1]!)) return -1
      pos += 2
      surplus += 1
    } else if (lead < 0xf0) {
      if (pos + 3 > to) return -1
      const second = bytes[pos + 1]!
      if (!isTail(second) || !isTail(bytes[pos + 2]!)) return -1
      if (lead === 0xe0 && second < 0xa0) return -1
      if (lead === 0xed && second > 0x9f) return -1
      pos += 3
      surplus += 2
    } else {
      if (lead > 0xf4 || pos + 4 > to) return -1
      const second = bytes[pos + 1]!
      if (!isTail(second) || !isTail(bytes[pos + 2]!) || !isTail(bytes[pos + 3]!)) return -1
      if (lead === 0xf0 && second < 0x90) return -1
      if (lead === 0xf4 && second > 0x8f) return -1
      pos += 4
      surplus += 2
    }
  }
  return to - from - surplus
}

function isTail(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
