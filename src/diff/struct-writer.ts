/**
 * One struct of a Yjs document → V1 bytes, whole or the piece of it that fits.
 *   struct · offset · room ──▶ scratch bytes · how many clock units they hold
 * The bytes are what Yjs itself would write had the item been split at both ends of the piece: a continuation names the
 * previous clock of its author as origin, the right origin stays, the parent is named only when there is no origin.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { ParentType, RootTypes } from './root-types.ts'

export type Struct = Y.Item | Y.GC

const HAS_ORIGIN = 0x80
const HAS_RIGHT_ORIGIN = 0x40
const HAS_PARENT_SUB = 0x20
const CONTENT_REF = 0x1f

/** Twice the usual part: the last struct of a part is often written before it is known not to fit. */
const SCRATCH_BYTES = 128 * 1024
/** A scratch that one huge struct blew up beyond this is not kept. */
const SCRATCH_KEPT_BYTES = 1024 * 1024

export class StructWriter {
  private readonly encoder = new Y.UpdateEncoderV1()
  private readonly rest = this.encoder.restEncoder

  constructor() {
    this.reset()
  }

  /** Bytes written since the last reset. */
  get length(): number {
    return this.rest.cpos
  }

  /** What was written; a view that the next write may overwrite. */
  get bytes(): Uint8Array {
    return this.rest.cbuf
  }

  reset(): void {
    const kept = this.rest.cbuf.length
    if (kept < SCRATCH_BYTES || kept > SCRATCH_KEPT_BYTES) this.rest.cbuf = new Uint8Array(SCRATCH_BYTES)
    this.rest.bufs = []
    this.rest.cpos = 0
  }

  /**
   * Writes `struct` from `offset` (clock units into it) on, within `room` bytes, and returns the clock units written:
   * the rest of the struct, a piece of it, or 0 when nothing was written. A piece shorter than `minPiece` bytes is not
   * worth its header and not written. With `must`, at least the smallest possible piece is written, over `room` if need be.
   */
  write(struct: Struct, offset: number, room: number, minPiece: number, must: boolean, names: RootTypes): number {
    const start = this.rest.cpos
    const rest = struct.length - offset
    if (struct instanceof Y.GC) {
      encoding.writeUint8(this.rest, 0)
      encoding.writeVarUint(this.rest, rest)
      return this.keep(start, rest, room, must)
    }
    this.header(struct, offset, names)
    const limit = start + room
    const content = struct.content
    if (content instanceof Y.ContentString) return this.text(content.str, offset, start, limit, minPiece, must)
    if (content instanceof Y.ContentAny) {
      return this.list(content.arr, offset, start, limit, minPiece, must, writeAnyValue)
    }
    if (content instanceof Y.ContentJSON) {
      return this.list(content.arr, offset, start, limit, minPiece, must, writeJsonValue)
    }
    content.write(this.encoder, offset)
    this.flatten()
    return this.keep(start, rest, room, must)
  }

  private header(item: Y.Item, offset: number, names: RootTypes): void {
    const { rest } = this
    const { rightOrigin, parentSub } = item
    const continues = offset > 0
    const origin = item.origin
    const hasOrigin = continues || origin !== null
    encoding.writeUint8(
      rest,
      (item.content.getRef() & CONTENT_REF) |
        (hasOrigin ? HAS_ORIGIN : 0) |
        (rightOrigin === null ? 0 : HAS_RIGHT_ORIGIN) |
        (parentSub === null ? 0 : HAS_PARENT_SUB),
    )
    if (continues) {
      encoding.writeVarUint(rest, item.id.client)
      encoding.writeVarUint(rest, item.id.clock + offset - 1)
    } else if (origin !== null) {
      encoding.writeVarUint(rest, origin.client)
      encoding.writeVarUint(rest, origin.clock)
    }
    if (rightOrigin !== null) {
      encoding.writeVarUint(rest, rightOrigin.client)
      encoding.writeVarUint(rest, rightOrigin.clock)
    }
    if (hasOrigin || rightOrigin !== null) return
    const parent = parentId(item)
    if (parent !== null) {
      encoding.writeVarUint(rest, 0)
      encoding.writeVarUint(rest, parent.client)
      encoding.writeVarUint(rest, parent.clock)
    } else {
      encoding.writeVarUint(rest, 1)
      encoding.writeVarString(rest, names.nameOf(item.parent as ParentType))
    }
    if (parentSub !== null) encoding.writeVarString(rest, parentSub)
  }

  private text(str: string, offset: number, start: number, limit: number, minPiece: number, must: boolean): number {
    this.flatten()
    const units = str.length - offset
    const room = limit - this.rest.cpos
    let taken = units
    // Three bytes are the most that one UTF-16 unit takes; 4 is the longest length prefix of a part.
    if (units * 3 + 4 > room) {
      taken = unitsWithin(str, offset, room - varUintSize(Math.max(room, 0)))
      if (taken < units && !must && room < minPiece) taken = 0
      if (taken === 0 && must) taken = pairAt(str, offset) ? 2 : 1
      if (taken === 0) return this.undo(start)
    }
    encoding.writeVarString(this.rest, taken === str.length ? str : str.slice(offset, offset + taken))
    this.flatten()
    return taken
  }

  private list(
    values: readonly unknown[],
    offset: number,
    start: number,
    limit: number,
    minPiece: number,
    must: boolean,
    writeValue: (encoder: encoding.Encoder, value: unknown) => void,
  ): number {
    const { rest } = this
    const left = values.length - offset
    this.flatten()
    const countAt = rest.cpos
    if (!must && limit - countAt < 2) return this.undo(start)
    encoding.writeVarUint(rest, left)
    const valuesAt = rest.cpos
    let taken = 0
    for (; taken < left; taken++) {
      const before = rest.cpos
      writeValue(rest, values[offset + taken])
      this.flatten()
      if (rest.cpos > limit && !(must && taken === 0)) {
        rest.cpos = before
        break
      }
    }
    if (taken === left) return left
    if (taken === 0 || (!must && rest.cpos - countAt < minPiece)) return this.undo(start)
    // The count stands before the values, and a smaller count may be written in fewer bytes.
    const end = rest.cpos
    rest.cpos = countAt
    encoding.writeVarUint(rest, taken)
    rest.cbuf.copyWithin(rest.cpos, valuesAt, end)
    rest.cpos += end - valuesAt
    return taken
  }

  private keep(start: number, units: number, room: number, must: boolean): number {
    return must || this.rest.cpos - start <= room ? units : this.undo(start)
  }

  private undo(start: number): 0 {
    this.flatten()
    this.rest.cpos = start
    return 0
  }

  /** lib0's encoder opens a second buffer when the first is full; positions here count in one. */
  private flatten(): void {
    const { rest } = this
    if (rest.bufs.length === 0) return
    const length = encoding.length(rest)
    const flat = new Uint8Array(length * 2)
    flat.set(encoding.toUint8Array(rest))
    rest.bufs = []
    rest.cbuf = flat
    rest.cpos = length
  }
}

/** The struct an item without origins hangs below; null when its parent is a root type. */
export function parentId(item: Y.Item): Y.ID | null {
  const { parent } = item
  if (parent instanceof Y.ID) return parent
  return (parent as ParentType)._item?.id ?? null
}

/** Bytes of `value` as lib0 writes a variable-length unsigned integer. */
export function varUintSize(value: number): number {
  let size = 1
  for (let left = value; left > 0x7f; left = Math.floor(left / 128)) size++
  return size
}

const writeAnyValue = (encoder: encoding.Encoder, value: unknown): void =>
  encoding.writeAny(encoder, value as Parameters<typeof encoding.writeAny>[1])

const writeJsonValue = (encoder: encoding.Encoder, value: unknown): void =>
  encoding.writeVarString(encoder, value === undefined ? 'undefined' : JSON.stringify(value))

/** UTF-16 units of `str` from `from` on whose UTF-8 form takes at most `bytes`; never ends inside a surrogate pair. */
function unitsWithin(str: string, from: number, bytes: number): number {
  let at = from
  for (let left = bytes; at < str.length; ) {
    const unit = str.charCodeAt(at)
    const pair = pairAt(str, at)
    left -= unit < 0x80 ? 1 : unit < 0x800 ? 2 : pair ? 4 : 3
    if (left < 0) break
    at += pair ? 2 : 1
  }
  return at - from
}

function pairAt(str: string, at: number): boolean {
  return (str.charCodeAt(at) & 0xfc00) === 0xd800 && (str.charCodeAt(at + 1) & 0xfc00) === 0xdc00
}
