/**
 * Walks over the values inside structs, lib0's Any encoding and JSON text, and says whether Yjs could decode them. Both
 * walks are linear, keep one small stack of their own instead of recursing, and allocate nothing.
 */
import { ByteReader, MAX_VALUE_DEPTH, utf16Length } from './byte-reader.ts'

/** Any: entries left per open level. Shared by all calls: nothing here is re-entrant. */
const left = new Float64Array(MAX_VALUE_DEPTH + 1)
/** Both walks: 1 where the open level is an object; level 0 is outside of everything. */
const isObject = new Uint8Array(MAX_VALUE_DEPTH + 1)

const ANY_BLOB = 116
const ANY_ARRAY = 117
const ANY_OBJECT = 118
const ANY_STRING = 119
const ANY_BIGINT = 122
const ANY_FLOAT64 = 123
const ANY_FLOAT32 = 124
const ANY_INTEGER = 125
const ANY_TRUE = 120
const ANY_FALSE = 121
const ANY_NULL = 126
const ANY_UNDEFINED = 127

const UNDERSCORE = 0x5f
const PROTOTYPE = asciiOf('__proto__')

/** Skips one Any value. */
export function skipAny(reader: ByteReader): boolean {
  let depth = 0
  for (;;) {
    if (isObject[depth] === 1) {
      if (reader.skipString() < 0) return false
      if (reader.bytes[reader.stringFrom] === UNDERSCORE && isPrototype(reader)) return reader.fail('content')
    }
    if (reader.pos >= reader.bytes.length) return reader.fail('truncated')
    const tag = reader.bytes[reader.pos++]!
    switch (tag) {
      case ANY_BLOB:
        if (!reader.skipBlob()) return false
        break
      case ANY_ARRAY:
      case ANY_OBJECT: {
        const count = reader.count(tag === ANY_OBJECT ? 2 : 1)
        if (count < 0) return false
        reader.containers++
        if (depth === MAX_VALUE_DEPTH) return reader.fail('nesting')
        if (count > 0) {
          depth++
          left[depth] = count
          isObject[depth] = tag === ANY_OBJECT ? 1 : 0
          continue
        }
        break
      }
      case ANY_STRING:
        if (reader.skipString() < 0) return false
        break
      case ANY_BIGINT:
      case ANY_FLOAT64:
        if (!reader.skip(8)) return false
        break
      case ANY_FLOAT32:
        if (!reader.skip(4)) return false
        break
      case ANY_INTEGER:
        // A signed varint differs from an unsigned one in the meaning of one bit, not in where it ends.
        if (reader.uint() < 0) return false
        break
      default:
        // 120 and 121 are true and false, 126 null, 127 undefined
        if (tag < 120 || tag > 127) return reader.fail('content')
    }
    while (depth > 0 && --left[depth]! === 0) depth--
    if (depth === 0) return true
  }
}

/**
 * Skips the options of a subdocument. Yjs makes a Y.Doc of them without a look, and writes what it finds there: a `guid` that is
 * no string breaks the document of whoever takes it in, and nobody can load the board again.
 */
export function skipDocOptions(reader: ByteReader): boolean {
  const { bytes } = reader
  if (reader.pos >= bytes.length) return reader.fail('truncated')
  if (bytes[reader.pos++] !== ANY_OBJECT) return reader.fail('content')
  const count = reader.count(2)
  if (count < 0) return false
  reader.containers++
  for (let left = count; left > 0; left--) {
    if (reader.skipString() < 0) return false
    const allowed = tagsOfOption(reader)
    if (allowed === undefined) return reader.fail('content')
    if (reader.pos >= bytes.length) return reader.fail('truncated')
    if (allowed !== ANYTHING && !allowed.includes(bytes[reader.pos]!)) return reader.fail('content')
    if (!skipAny(reader)) return false
  }
  return true
}

const ANYTHING: readonly number[] = []
const BOOLEAN = [ANY_TRUE, ANY_FALSE]
const STRING_OR_NOTHING = [ANY_STRING, ANY_NULL, ANY_UNDEFINED]

/** What a Y.Doc takes and may be told by another client, and the two that ports of Yjs write; by the bytes of the name. */
const DOC_OPTIONS = [
  { name: asciiOf('gc'), tags: BOOLEAN },
  { name: asciiOf('autoLoad'), tags: BOOLEAN },
  { name: asciiOf('shouldLoad'), tags: BOOLEAN },
  { name: asciiOf('meta'), tags: ANYTHING },
  { name: asciiOf('collectionid'), tags: STRING_OR_NOTHING },
  { name: asciiOf('collectionId'), tags: STRING_OR_NOTHING },
  { name: asciiOf('encoding'), tags: [ANY_INTEGER, ANY_BIGINT] },
]

/** The tags that the value of the option may have whose name was read last; undefined: there is no such option. */
function tagsOfOption({ bytes, stringFrom, pos }: ByteReader): readonly number[] | undefined {
  return DOC_OPTIONS.find(({ name }) => name.length === pos - stringFrom && isWord(bytes, stringFrom, pos, name))?.tags
}

/**
 * Whether the key read last is `__proto__` and gives its object another prototype: one with bytes for a prototype is taken
 * for bytes when it is written, which throws.
 */
function isPrototype({ bytes, stringFrom, pos }: ByteReader): boolean {
  if (pos - stringFrom !== PROTOTYPE.length || !isWord(bytes, stringFrom, pos, PROTOTYPE)) return false
  const tag = bytes[pos]
  return tag === ANY_BLOB || tag === ANY_ARRAY || tag === ANY_OBJECT
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Skips a varstring that must hold what JSON.parse accepts. `undefinedToo`: or the word `undefined`. */
export function skipJson(reader: ByteReader, undefinedToo: boolean): boolean {
  if (reader.skipString() < 0) return false
  return scanText(reader, reader.stringFrom, reader.pos, undefinedToo)
}

/** What keeps JSON.parse, or a reader of its result, from taking these bytes as a text of their own; null when nothing does. */
export function jsonFault(text: Uint8Array): 'json' | 'nesting' | null {
  if (utf16Length(text, 0, text.length) < 0) return 'json'
  const reader = new ByteReader()
  reader.bytes = text
  if (scanText(reader, 0, text.length, false)) return null
  return reader.fault === 'nesting' ? 'nesting' : 'json'
}

function scanText(reader: ByteReader, from: number, end: number, undefinedToo: boolean): boolean {
  const bytes = reader.bytes
  if (undefinedToo && end - from === 9 && isWord(bytes, from, end, UNDEFINED)) return true
  let pos = from
  let depth = 0
  for (;;) {
    pos = skipSpace(bytes, pos, end)
    if (pos >= end) return reader.fail('json')
    const byte = bytes[pos]!
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      reader.containers++
      if (depth === MAX_VALUE_DEPTH) return reader.fail('nesting')
      depth++
      isObject[depth] = byte === OPEN_OBJECT ? 1 : 0
      pos = skipSpace(bytes, pos + 1, end)
      if (pos < end && bytes[pos] === (byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        pos++
        depth--
      } else {
        if (byte === OPEN_OBJECT) pos = skipKey(bytes, pos, end)
        if (pos < 0) return reader.fail('json')
        continue
      }
    } else {
      pos = skipScalar(bytes, pos, end)
      if (pos < 0) return reader.fail('json')
    }
    // A value has ended: close what closes here, then expect the next one or the end.
    for (;;) {
      pos = skipSpace(bytes, pos, end)
      if (depth === 0) return pos === end || reader.fail('json')
      if (pos >= end) return reader.fail('json')
      const inObject = isObject[depth] === 1
      const next = bytes[pos++]!
      if (next === COMMA) {
        if (inObject) pos = skipKey(bytes, skipSpace(bytes, pos, end), end)
        if (pos < 0) return reader.fail('json')
        break
      }
      if (next !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return reader.fail('json')
      depth--
    }
  }
}

/** The functions below return where the thing ends, or -1 when it is not there. */
function skipKey(bytes: Uint8Array, from: number, end: number): number {
  if (from >= end || bytes[from] !== QUOTE) return -1
  const close = skipQuoted(bytes, from + 1, end)
  if (close < 0) return -1
  const pos = skipSpace(bytes, close, end)
  return pos < end && bytes[pos] === COLON ? pos + 1 : -1
}

function skipScalar(bytes: Uint8Array, from: number, end: number): number {
  switch (bytes[from]) {
    case QUOTE:
      return skipQuoted(bytes, from + 1, end)
    case 0x74:
      return isWord(bytes, from, end, TRUE) ? from + 4 : -1
    case 0x66:
      return isWord(bytes, from, end, FALSE) ? from + 5 : -1
    case 0x6e:
      return isWord(bytes, from, end, NULL) ? from + 4 : -1
    default:
      return skipNumber(bytes, from, end)
  }
}

function skipQuoted(bytes: Uint8Array, from: number, end: number): number {
  let pos = from
  while (pos < end) {
    const byte = bytes[pos++]!
    if (byte === QUOTE) return pos
    if (byte < 0x20) return -1
    if (byte !== BACKSLASH) continue
    if (pos >= end) return -1
    const escaped = bytes[pos++]!
    if (escaped === 0x75) {
      if (pos + 4 > end) return -1
      for (const stop = pos + 4; pos < stop; pos++) if (!isHex(bytes[pos]!)) return -1
    } else if (!isShortEscape(escaped)) {
      return -1
    }
  }
  return -1
}

function skipNumber(bytes: Uint8Array, from: number, end: number): number {
  let pos = from
  if (bytes[pos] === 0x2d) pos++
  if (pos < end && bytes[pos] === 0x30) pos++
  else if ((pos = skipDigits(bytes, pos, end)) < 0) return -1
  if (pos < end && bytes[pos] === 0x2e && (pos = skipDigits(bytes, pos + 1, end)) < 0) return -1
  if (pos < end && (bytes[pos]! | 0x20) === 0x65) {
    pos++
    if (pos < end && (bytes[pos] === 0x2b || bytes[pos] === 0x2d)) pos++
    pos = skipDigits(bytes, pos, end)
  }
  return pos
}

function skipDigits(bytes: Uint8Array, from: number, end: number): number {
  let pos = from
  while (pos < end && isDigit(bytes[pos]!)) pos++
  return pos > from ? pos : -1
}

function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let pos = from
  while (pos < end) {
    const byte = bytes[pos]!
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    pos++
  }
  return pos
}

function asciiOf(text: string): readonly number[] {
  return [...text].map((char) => char.charCodeAt(0))
}

const TRUE = [0x74, 0x72, 0x75, 0x65]
const FALSE = [0x66, 0x61, 0x6c, 0x73, 0x65]
const NULL = [0x6e, 0x75, 0x6c, 0x6c]
const UNDEFINED = [0x75, 0x6e, 0x64, 0x65, 0x66, 0x69, 0x6e, 0x65, 0x64]

function isWord(bytes: Uint8Array, from: number, end: number, word: readonly number[]): boolean {
  if (end - from < word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false
  return true
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66)
}

/** The letters of \" \\ \/ \b \f \n \r \t. */
function isShortEscape(byte: number): boolean {
  switch (byte) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true
    default:
      return false
  }
}
