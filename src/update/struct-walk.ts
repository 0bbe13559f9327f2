/**
 * Walks a V1 update struct by struct without building anything:
 *   sections() · then per author section() · then per struct struct() · then deleteAuthors() · deleteAuthor() · deleteRange()
 * Every read is checked against the bytes that are there and against what Yjs can have made. The format is that of
 * readClientsStructRefs, readItemContent and readDeleteSet in yjs 13.
 */
import { ByteReader, MAX_CLOCK } from '../protocol/byte-reader.ts'
import { skipAny, skipDocOptions, skipJson } from '../protocol/value-scan.ts'

/** The kinds of struct: the low five bits of a struct's first byte. */
export const KIND = {
  gc: 0,
  deleted: 1,
  json: 2,
  binary: 3,
  string: 4,
  embed: 5,
  format: 6,
  type: 7,
  any: 8,
  doc: 9,
  skip: 10,
} as const

export const KIND_BITS = 0x1f
export const HAS_PARENT_SUB = 0x20
export const HAS_RIGHT_ORIGIN = 0x40
export const HAS_ORIGIN = 0x80

/** YArray, YMap, YText, YXmlElement, YXmlFragment, YXmlHook, YXmlText. */
const LAST_TYPE_REF = 6
const XML_ELEMENT_REF = 3
const XML_HOOK_REF = 5

/** Least bytes: count, client, clock and one GC of two bytes. */
const LEAST_SECTION_BYTES = 5
const LEAST_STRUCT_BYTES = 2
const LEAST_DELETE_AUTHOR_BYTES = 2
const LEAST_DELETE_RANGE_BYTES = 2

export class StructWalk extends ByteReader {
  /** Of the section: its author, its structs, and the clock of the struct read last. */
  client = -1
  structCount = 0
  clock = 0
  private nextClock = 0

  /** Of the struct read last: where it begins (it ends at `pos`), its kind and its length in clock units. */
  start = 0
  kind = 0
  length = 0
  /** What it refers to; a client of -1: nothing. */
  originClient = -1
  originClock = 0
  rightClient = -1
  rightClock = 0
  parentClient = -1
  parentClock = 0
  /** Where the root name that is its parent lies; nameFrom -1: its parent is no root, or comes from its origin. */
  nameFrom = -1
  nameTo = 0
  /** It names the key of a map that it is an entry of. One with an origin may be an entry without naming it. */
  isKeyed = false

  /** Of the delete set: the author, its ranges, and the range read last. */
  deleteClient = -1
  deleteCount = 0
  deleteClock = 0
  deleteLength = 0

  types = 0
  subdocuments = 0

  begin(bytes: Uint8Array): void {
    this.bytes = bytes
    this.pos = 0
    this.fault = undefined
    this.containers = 0
    this.types = 0
    this.subdocuments = 0
  }

  /** How many sections follow, or -1. */
  sections(): number {
    this.client = -1
    return this.count(LEAST_SECTION_BYTES)
  }

  /** Reads a section's head. Authors come in descending order, each once. */
  section(): boolean {
    const previous = this.client
    this.structCount = this.count(LEAST_STRUCT_BYTES)
    if (this.structCount <= 0) return this.structCount === 0 ? this.fail('count') : false
    this.client = this.uint()
    if (this.client < 0) return false
    if (previous !== -1 && this.client >= previous) return this.fail('order')
    this.nextClock = this.uint()
    if (this.nextClock < 0) return false
    return this.nextClock <= MAX_CLOCK || this.fail('clock')
  }

  /** The clock after the struct read last. */
  get clockEnd(): number {
    return this.nextClock
  }

  /** Whether the struct read last refers to another author's. */
  get leansOnOthers(): boolean {
    return this.isOther(this.originClient) || this.isOther(this.rightClient) || this.isOther(this.parentClient)
  }
  /** Whether it has several units of content that a map entry never has: Yjs sets values one by one. */
  get isLongContent(): boolean {
    return this.length > 1 && (this.kind === KIND.any || this.kind === KIND.string || this.kind === KIND.json)
  }
  /** Whether a client that a struct refers to is another author than the section's. */
  isOther(client: number): boolean {
    return client >= 0 && client !== this.client
  }

  /** Reads the struct at `pos`, which is known to begin at this clock. */
  structAt(clock: number): boolean {
    this.nextClock = clock
    return this.struct()
  }

  struct(): boolean {
    this.start = this.pos
    this.clock = this.nextClock
    if (!this.structHead()) return false
    if (!this.structContent()) return false
    if (this.length === 0) return this.fail('length')
    this.nextClock = this.clock + this.length
    return this.nextClock <= MAX_CLOCK || this.fail('clock')
  }

  /**
   * Reads a struct as far as what it refers to: enough for whoever knows where the struct ends. `clock` must be right.
   */
  structHead(): boolean {
    this.originClient = -1
    this.rightClient = -1
    this.parentClient = -1
    this.nameFrom = -1
    this.isKeyed = false
    if (this.pos >= this.bytes.length) return this.fail('truncated')
    const info = this.bytes[this.pos++]!
    const kind = info & KIND_BITS
    this.kind = kind
    // Yjs tells a Skip by its whole byte in one place and by five bits in another: flags would split the two.
    if (kind === KIND.gc || kind === KIND.skip) return info === kind || this.fail('flags')
    if (kind > KIND.skip) return this.fail('content')
    if ((info & HAS_ORIGIN) !== 0) {
      if ((this.originClient = this.uint()) < 0 || (this.originClock = this.uint()) < 0) return false
      if (!this.isPast(this.originClient, this.originClock)) return false
    }
    if ((info & HAS_RIGHT_ORIGIN) !== 0) {
      if ((this.rightClient = this.uint()) < 0 || (this.rightClock = this.uint()) < 0) return false
      if (!this.isPast(this.rightClient, this.rightClock)) return false
    }
    if ((info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN)) !== 0) return true
    if (!this.parent()) return false
    if ((info & HAS_PARENT_SUB) === 0) return true
    this.isKeyed = true
    return this.skipString() >= 0
  }

  /** How many authors the delete set has, or -1. */
  deleteAuthors(): number {
    return this.count(LEAST_DELETE_AUTHOR_BYTES)
  }

  /** Reads an author's head. Authors in any order, without ranges, or twice do no harm in Yjs and are let through. */
  deleteAuthor(): boolean {
    this.deleteClient = this.uint()
    if (this.deleteClient < 0) return false
    this.deleteCount = this.count(LEAST_DELETE_RANGE_BYTES)
    return this.deleteCount >= 0
  }

  deleteRange(): boolean {
    if ((this.deleteClock = this.uint()) < 0 || (this.deleteLength = this.uint()) < 0) return false
    if (this.deleteLength === 0) return this.fail('delete_set')
    return this.deleteClock + this.deleteLength <= MAX_CLOCK || this.fail('clock')
  }

  private parent(): boolean {
    const isRoot = this.uint()
    if (isRoot < 0) return false
    if (isRoot > 1) return this.fail('flags')
    if (isRoot === 1) {
      if (this.skipString() < 0) return false
      this.nameFrom = this.stringFrom
      this.nameTo = this.pos
      return true
    }
    if ((this.parentClient = this.uint()) < 0 || (this.parentClock = this.uint()) < 0) return false
    return this.isPast(this.parentClient, this.parentClock)
  }

  /** Yjs looks its own author's references up without asking whether they are there yet, and throws. */
  private isPast(client: number, clock: number): boolean {
    if (clock >= MAX_CLOCK) return this.fail('clock')
    return client !== this.client || clock < this.clock || this.fail('origin')
  }

  /** Reads the rest of a struct and sets its length. */
  private structContent(): boolean {
    switch (this.kind) {
      case KIND.gc:
      case KIND.skip:
      case KIND.deleted:
        this.length = this.uint()
        return this.length >= 0
      case KIND.json:
        return this.values(true)
      case KIND.any:
        return this.values(false)
      case KIND.string:
        this.length = this.skipString()
        return this.length >= 0
      case KIND.binary:
        this.length = 1
        return this.skipBlob()
      case KIND.embed:
        this.length = 1
        return skipJson(this, false)
      case KIND.format:
        this.length = 1
        return this.skipString() >= 0 && skipJson(this, false)
      case KIND.type:
        this.length = 1
        return this.sharedType()
      default:
        this.length = 1
        return this.subdocument()
    }
  }

  private values(asJson: boolean): boolean {
    this.length = this.count(asJson ? 2 : 1)
    for (let i = this.length; i > 0; i--) if (!(asJson ? skipJson(this, true) : skipAny(this))) return false
    return this.length >= 0
  }

  private sharedType(): boolean {
    this.types++
    const ref = this.uint()
    if (ref < 0) return false
    if (ref > LAST_TYPE_REF) return this.fail('content')
    return (ref !== XML_ELEMENT_REF && ref !== XML_HOOK_REF) || this.skipString() >= 0
  }

  private subdocument(): boolean {
    this.subdocuments++
    return this.skipString() >= 0 && skipDocOptions(this)
  }
}

/** Where a client stands in a list in descending order, as the sections of an update are, or -1. */
export function findClient(clients: readonly number[], client: number): number {
  let low = 0
  let high = clients.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const at = clients[middle]!
    if (at === client) return middle
    if (at > client) low = middle + 1
    else high = middle - 1
  }
  return -1
}
