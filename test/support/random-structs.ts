/**
 * Updates made struct by struct, not by Yjs: every kind of content with every flag, several authors, split values, deletions in
 * odd orders, structs sent again in other cuts. What Yjs would never make is among it, though nothing that its decoder could
 * not read. The same seed gives the same bytes.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { ParentType } from '../../src/diff/root-types.ts'
import { Random } from './random.ts'
import { listValue, randomBytes, randomText, randomValue } from './random-values.ts'

/** The names of the roots that structs name. */
export const ROOTS = ['t', 'l', 'm', 'x'] as const

export interface StructWorldOptions {
  /**
   * Whether authors contradict themselves: two structs at the same clocks. Such documents never agree, but have to stay whole.
   */
  readonly contradictions?: boolean
}

interface Made {
  readonly client: number
  readonly clock: number
  readonly length: number
  readonly kind: number
  readonly isType: boolean
  readonly isKeyed: boolean
  /** Writes what is left of it without its first units. */
  readonly write: (encoder: encoding.Encoder, skipped: number) => void
}

interface Author {
  readonly id: number
  clock: number
  readonly structs: Made[]
  /** How far everything is sent. */
  sent: number
  /** What a sane author sees. */
  readonly copy: Y.Doc
}

const GC = 0
const DELETED = 1
const JSON_VALUES = 2
const BINARY = 3
const STRING = 4
const EMBED = 5
const FORMAT = 6
const TYPE = 7
const ANY = 8
const DOC = 9
const SKIP = 10
const KINDS = [GC, DELETED, JSON_VALUES, BINARY, STRING, STRING, EMBED, FORMAT, TYPE, TYPE, TYPE, ANY, ANY, ANY, DOC]

export class StructWorld {
  readonly random: Random
  readonly #authors: Author[]
  readonly #contradicts: boolean
  /** Share of structs whose references are anything at all, instead of what a sane author would refer to. */
  readonly wildness: number
  /**
   * Whether authors know what they see, as Yjs does: a struct goes between two neighbours of the author's own copy. Only then do
   * all agree on the order in a list: one who contradicts what it has seen makes its own order different for everybody.
   */
  readonly isSane: boolean
  readonly #made: Made[] = []

  constructor(seed: number, { contradictions = false }: StructWorldOptions = {}) {
    this.random = new Random(seed)
    const { random } = this
    this.#contradicts = contradictions
    this.wildness = random.pick([0, 0.1, 0.5, 1])
    this.isSane = !contradictions && random.chance(0.4)
    this.#authors = Array.from({ length: 1 + random.int(4) }, (_, i) => ({
      id: random.chance(0.3) ? i + 1 : random.int(2 ** 32),
      clock: 0,
      structs: [],
      sent: 0,
      copy: new Y.Doc(),
    }))
  }

  /** Some authors write something; what they send of it, and what they delete. */
  next(): Uint8Array {
    const { random } = this
    for (let i = 1 + random.int(4); i > 0; i--) this.#write(random.pick(this.#authors))
    const senders = this.#authors.filter((author) => author.structs.length > 0 && random.chance(0.7))
    const sections = senders.map((author) => this.#section(author)).filter((section) => section.count > 0)
    sections.sort((a, b) => b.client - a.client)
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, sections.length)
    for (const { count, client, clock, bytes } of sections) {
      encoding.writeVarUint(encoder, count)
      encoding.writeVarUint(encoder, client)
      encoding.writeVarUint(encoder, clock)
      encoding.writeUint8Array(encoder, bytes)
    }
    this.#writeDeletes(encoder)
    return encoding.toUint8Array(encoder)
  }

  #write(author: Author): void {
    const { random } = this
    if (this.#contradicts && random.chance(0.1) && author.structs.length > 0) this.#forget(author)
    if (this.isSane && random.chance(0.4)) {
      Y.applyUpdate(author.copy, Y.encodeStateAsUpdate(random.pick(this.#authors).copy))
    }
    const made = this.#struct(author)
    if (this.isSane) Y.applyUpdate(author.copy, updateOf(made))
    author.structs.push(made)
    author.clock += made.length
    this.#made.push(made)
  }

  /** The author goes back to an earlier clock, as if it had been restored from a copy. */
  #forget(author: Author): void {
    const kept = this.random.int(author.structs.length)
    author.clock = author.structs[kept]!.clock
    author.structs.length = kept
    author.sent = Math.min(author.sent, author.clock)
  }

  #struct(author: Author): Made {
    const { random } = this
    const { id: client, clock } = author
    const kind = random.pick(this.isSane ? KINDS.filter((each) => each !== GC) : KINDS)
    const place = kind === GC ? null : this.isSane ? this.#seenPlace(author) : this.#place(author)
    const content = this.#content(kind, this.isSane && place?.key != null)
    const isType = kind === TYPE
    const write = (encoder: encoding.Encoder, skipped: number): void => {
      if (place === null) {
        encoding.writeUint8(encoder, GC)
        encoding.writeVarUint(encoder, content.length - skipped)
        return
      }
      // As Yjs cuts: what is left follows what was before it.
      const origin = skipped > 0 ? { client, clock: clock + skipped - 1 } : place.origin
      const flags = (origin === null ? 0 : 0x80) | (place.right === null ? 0 : 0x40) | (place.key === null ? 0 : 0x20)
      encoding.writeUint8(encoder, kind | flags)
      for (const id of [origin, place.right]) if (id !== null) writeId(encoder, id)
      if (origin === null && place.right === null) {
        encoding.writeVarUint(encoder, typeof place.parent === 'string' ? 1 : 0)
        if (typeof place.parent === 'string') encoding.writeVarString(encoder, place.parent)
        else writeId(encoder, place.parent)
        if (place.key !== null) encoding.writeVarString(encoder, place.key)
      }
      content.write(encoder, skipped)
    }
    return { client, clock, length: content.length, kind, isType, isKeyed: place?.key != null, write }
  }

  /** Between two neighbours, at the end of a map's values, or first in something. */
  #seenPlace({ copy }: Author): Place {
    const { random } = this
    for (const name of ROOTS) copy.get(name)
    const types: ParentType[] = [...copy.share.values()]
    for (const structs of copy.store.clients.values()) {
      for (const struct of structs) {
        if (struct instanceof Y.Item && struct.content instanceof Y.ContentType)
          types.push(struct.content.type as ParentType)
      }
    }
    const type = random.pick(types)
    const parent = type._item?.id ?? [...copy.share].find(([, root]) => root === type)![0]
    if (random.chance(0.35)) {
      const key = random.pick(['a', 'b', ''])
      return { parent, key, origin: type._map.get(key)?.lastId ?? null, right: null }
    }
    const units: Id[] = []
    for (let item = type._start; item !== null; item = item.right) {
      for (let unit = 0; unit < item.length; unit++) units.push({ client: item.id.client, clock: item.id.clock + unit })
    }
    const at = random.int(units.length + 1)
    return { parent, key: null, origin: units[at - 1] ?? null, right: units[at] ?? null }
  }

  #place(author: Author): Place {
    const { random } = this
    // What lies before the author's own next clock, or anywhere of others.
    const there = this.#made.filter(({ client, clock }) => client !== author.id || clock < author.clock)
    const items = there.filter(({ kind }) => kind !== GC)
    const types = there.filter(({ isType }) => isType)
    const isWild = random.chance(this.wildness)
    const key = random.chance(0.35) ? random.pick(['a', 'b', '']) : null
    const inParent = (): string | Id => {
      const among = isWild ? there : types
      return among.length === 0 || random.chance(0.4) ? random.pick(ROOTS) : idIn(random, random.pick(among))
    }
    const among = isWild ? there : items
    if (among.length === 0 || random.chance(0.35)) return { origin: null, right: null, parent: inParent(), key }
    const [left, right] = [random.pick(among), random.pick(among)]
    const [hasLeft, hasRight] = random.pick([
      [true, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const)
    const origin = hasLeft ? idIn(random, left, true) : null
    // A sane author's two neighbours are neighbours: here, at least one of the two is left away.
    const rightId = hasRight && (isWild || !hasLeft) ? idIn(random, right, false) : null
    return { origin, right: rightId, parent: 't', key: isWild ? key : left.isKeyed ? 'a' : null }
  }

  #content(
    kind: number,
    isEntry: boolean,
  ): { length: number; write: (encoder: encoding.Encoder, skipped: number) => void } {
    const { random } = this
    const few = (): number => (isEntry || random.chance(0.6) ? 1 : 1 + random.int(5))
    switch (kind) {
      case GC:
      case DELETED:
      case SKIP: {
        const length = few()
        return { length, write: (encoder, skipped) => encoding.writeVarUint(encoder, length - skipped) }
      }
      case JSON_VALUES: {
        const values = Array.from({ length: few() }, () => random.pick(['undefined', '1', '"x"', '{"a":[null]}', '[]']))
        return listOf(values, (encoder, value) => encoding.writeVarString(encoder, value))
      }
      case ANY: {
        const values = Array.from({ length: few() }, () => listValue(random))
        return listOf(values, (encoder, value) => encoding.writeAny(encoder, value as encoding.AnyEncodable))
      }
      case BINARY: {
        const bytes = randomBytes(random, random.int(6))
        return single((encoder) => encoding.writeVarUint8Array(encoder, bytes))
      }
      case STRING: {
        const text = isEntry || random.chance(0.5) ? 'a'.repeat(few()) : wellFormed(randomText(random))
        return {
          length: text.length,
          write: (encoder, skipped) => encoding.writeVarString(encoder, cut(text, skipped)),
        }
      }
      case EMBED: {
        const json = random.pick(['{}', '{"image":"a.png"}', 'null', '3', '[[],{"b":[]}]'])
        return single((encoder) => encoding.writeVarString(encoder, json))
      }
      case FORMAT: {
        const [name, value] = [random.pick(['bold', 'color']), random.pick(['true', 'null', '"red"', '{"x":1}'])]
        return single((encoder) => {
          encoding.writeVarString(encoder, name)
          encoding.writeVarString(encoder, value)
        })
      }
      case TYPE: {
        const ref = random.int(7)
        return single((encoder) => {
          encoding.writeVarUint(encoder, ref)
          if (ref === 3 || ref === 5) encoding.writeVarString(encoder, 'p')
        })
      }
      default:
        return this.#subdocument()
    }
  }

  #subdocument(): { length: number; write: (encoder: encoding.Encoder) => void } {
    const { random } = this
    const name = `d${random.int(5)}`
    const values: Record<string, () => unknown> = {
      gc: () => random.chance(0.8) && random.chance(0.5),
      autoLoad: () => random.chance(0.5),
      shouldLoad: () => random.chance(0.5),
      meta: () => randomValue(random, 2),
      collectionid: () => random.pick(['c', null]),
    }
    const options: Record<string, unknown> = {}
    for (const [option, value] of Object.entries(values)) if (random.chance(0.4)) options[option] = value()
    if (!this.isSane && random.chance(0.03))
      options[random.pick(['guid', 'gcFilter', 'gc', 'constructor', 'meta'])] = randomValue(random, 2)
    return single((encoder) => {
      encoding.writeVarString(encoder, name)
      encoding.writeAny(encoder, options as encoding.AnyEncodable)
    })
  }

  /** From where it was left off, or an earlier clock, up to now or not quite; perhaps with a hole. */
  #section(author: Author): { count: number; client: number; clock: number; bytes: Uint8Array } {
    const { random } = this
    const { structs, id: client } = author
    const from = random.chance(0.7) ? author.sent : random.int(author.clock)
    const to = random.chance(0.8) ? author.clock : from + random.int(author.clock - from + 1)
    const encoder = encoding.createEncoder()
    let count = 0
    let skipping = 0
    let first = -1
    for (const made of structs) {
      const end = made.clock + made.length
      if (end <= from || made.clock >= to) continue
      const skipped = Math.max(0, from - made.clock)
      if (count > 0 && random.chance(0.04)) {
        skipping += made.length
        continue
      }
      if (skipping > 0) {
        encoding.writeUint8(encoder, SKIP)
        encoding.writeVarUint(encoder, skipping)
        count++
        skipping = 0
      }
      if (first < 0) first = made.clock + skipped
      made.write(encoder, skipped)
      count++
    }
    if (to === author.clock && skipping === 0) author.sent = author.clock
    return { count, client, clock: first, bytes: encoding.toUint8Array(encoder) }
  }

  #writeDeletes(encoder: encoding.Encoder): void {
    const { random } = this
    const authors = this.#authors.filter(() => random.chance(0.4)).map(({ id, clock }) => ({ id, clock }))
    if (random.chance(0.1)) authors.push({ id: random.int(2 ** 32), clock: random.int(5) })
    encoding.writeVarUint(encoder, authors.length)
    for (const { id, clock } of authors) {
      const ranges = Array.from({ length: random.int(4) }, () => [random.int(clock + 3), 1 + random.int(4)] as const)
      encoding.writeVarUint(encoder, id)
      encoding.writeVarUint(encoder, ranges.length)
      for (const range of ranges) for (const value of range) encoding.writeVarUint(encoder, value)
    }
  }
}

interface Place {
  readonly origin: Id | null
  readonly right: Id | null
  /** A root's name, or the shared type at a clock. */
  readonly parent: string | Id
  readonly key: string | null
}

interface Id {
  readonly client: number
  readonly clock: number
}

/** A unit of a struct: any, or the one that a neighbour is likely to refer to. */
function idIn(random: Random, { client, clock, length }: Made, atEnd?: boolean): Id {
  if (atEnd !== undefined && random.chance(0.7)) return { client, clock: atEnd ? clock + length - 1 : clock }
  return { client, clock: clock + random.int(length) }
}

function updateOf({ client, clock, write }: Made): Uint8Array {
  const encoder = encoding.createEncoder()
  for (const value of [1, 1, client, clock]) encoding.writeVarUint(encoder, value)
  write(encoder, 0)
  encoding.writeVarUint(encoder, 0)
  return encoding.toUint8Array(encoder)
}

function writeId(encoder: encoding.Encoder, { client, clock }: Id): void {
  encoding.writeVarUint(encoder, client)
  encoding.writeVarUint(encoder, clock)
}

function single(write: (encoder: encoding.Encoder) => void): {
  length: number
  write: (encoder: encoding.Encoder) => void
} {
  return { length: 1, write }
}

function listOf<T>(
  values: readonly T[],
  writeValue: (encoder: encoding.Encoder, value: T) => void,
): { length: number; write: (encoder: encoding.Encoder, skipped: number) => void } {
  return {
    length: values.length,
    write(encoder, skipped) {
      encoding.writeVarUint(encoder, values.length - skipped)
      for (const value of values.slice(skipped)) writeValue(encoder, value)
    },
  }
}

/** Half a pair becomes what an encoder makes of it; the length in units stays. */
function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text))
}

function cut(text: string, skipped: number): string {
  return wellFormed(text.slice(skipped))
}
