/**
 * Leaves out of an update what the document has already. Yjs skips known structs too, but looks at the others' origins and
 * parents as the update tells them, and takes in the rest of a half-known struct behind whatever is there: when that was
 * collected meanwhile, it throws.
 */

import { skipAny, skipJson } from '../protocol/value-scan.ts'
import { varUintLength, writeVarUint } from '../protocol/varuint.ts'
import { HAS_ORIGIN, HAS_RIGHT_ORIGIN, KIND, StructWalk } from './struct-walk.ts'
import type { KnownClock } from './unknown-deletes.ts'

/**
 * The update without the structs that `known` covers; one that is covered in part begins where the document ends, with the
 * clock before it as its origin, as Yjs writes it in a diff. The delete set stays. The same bytes when nothing is known.
 * Linear. Bytes that checkUpdate would refuse come back as they are.
 */
export function withoutKnown(bytes: Uint8Array, known: KnownClock): Uint8Array {
  const walk = new StructWalk()
  walk.begin(bytes)
  const pieces: Uint8Array[] = []
  let sections = 0
  let isSame = true
  for (let left = walk.sections(); left > 0; left--) {
    if (!walk.section()) return bytes
    const have = known(walk.client)
    const section = newsOf(walk, have)
    if (section === undefined) return bytes
    isSame &&= section.isWhole
    if (section.count === 0) continue
    sections++
    pieces.push(sectionHead(section.count, walk.client, section.clock), ...section.pieces)
  }
  if (walk.fault !== undefined) return bytes
  return isSame ? bytes : joined([varUint(sections), ...pieces, bytes.subarray(walk.pos)])
}

interface SectionNews {
  readonly count: number
  readonly clock: number
  readonly pieces: readonly Uint8Array[]
  readonly isWhole: boolean
}

/** Reads the section's structs: those beyond `have`. */
function newsOf(walk: StructWalk, have: number): SectionNews | undefined {
  const { structCount, bytes } = walk
  const from = walk.pos
  let isWhole = true
  for (let i = 0; i < structCount; i++) {
    if (!walk.struct()) return undefined
    if (walk.clockEnd <= have) {
      isWhole = false
      continue
    }
    const { clock, start, pos } = walk
    const cut = clock < have ? cutStruct(walk, have - clock) : null
    // The rest of a section lies together.
    for (let rest = structCount - i - 1; rest > 0; rest--) if (!walk.struct()) return undefined
    const tail = bytes.subarray(cut === null ? (isWhole ? from : start) : pos, walk.pos)
    const pieces = cut === null ? [tail] : [cut, tail]
    return { count: structCount - i, clock: Math.max(clock, have), pieces, isWhole: isWhole && cut === null }
  }
  return { count: 0, clock: have, pieces: [], isWhole: false }
}

/** The struct read last without its first `units`, as Yjs writes it. */
function cutStruct(walk: StructWalk, units: number): Uint8Array {
  const { bytes, kind, start, clock, client, length } = walk
  if (kind === KIND.gc || kind === KIND.skip) return joined([Uint8Array.of(kind), varUint(length - units)])
  const end = walk.pos
  const info = bytes[start]! | HAS_ORIGIN
  const head = [Uint8Array.of(info), varUint(client), varUint(clock + units - 1)]
  if ((info & HAS_RIGHT_ORIGIN) !== 0) head.push(varUint(walk.rightClient), varUint(walk.rightClock))
  walk.pos = start
  walk.structHead()
  const content = contentFrom(walk, units, end)
  walk.pos = end
  return joined([...head, ...content])
}

/** The content that begins at `pos`, without its first units: only of kinds that can be longer than one. */
function contentFrom(walk: StructWalk, units: number, end: number): Uint8Array[] {
  const { bytes, kind } = walk
  if (kind === KIND.deleted) return [varUint(walk.uint() - units)]
  if (kind === KIND.string) {
    walk.uint()
    return cutText(bytes, walk.pos, end, units)
  }
  const count = walk.uint()
  for (let i = 0; i < units; i++) kind === KIND.json ? skipJson(walk, true) : skipAny(walk)
  return [varUint(count - units), bytes.subarray(walk.pos, end)]
}

/** U+FFFD, which Yjs puts in the place of a half of a surrogate pair. */
const REPLACEMENT = Uint8Array.of(0xef, 0xbf, 0xbd)

function cutText(bytes: Uint8Array, from: number, end: number, units: number): Uint8Array[] {
  let pos = from
  let left = units
  while (left > 0) {
    const lead = bytes[pos]!
    pos += lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    left -= lead < 0xf0 ? 1 : 2
  }
  const halves = left < 0 ? REPLACEMENT.length : 0
  const text = bytes.subarray(pos, end)
  return [varUint(halves + text.length), ...(halves > 0 ? [REPLACEMENT] : []), text]
}

function sectionHead(count: number, client: number, clock: number): Uint8Array {
  return joined([varUint(count), varUint(client), varUint(clock)])
}

function varUint(value: number): Uint8Array {
  const out = new Uint8Array(varUintLength(value))
  writeVarUint(out, 0, value)
  return out
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}
