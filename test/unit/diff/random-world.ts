/**
 * A few documents that edit everything Yjs can hold and exchange what they have, all from one seed.
 *   seed ──▶ step(), step(), … ──▶ docs[0] is the server's, the others are people
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import type { Random } from '../../support/random.ts'

const LETTERS = ['a', 'word ', 'é', 'ß', '漢字', '😀', '👩‍🚀', '\n', '𝒳𝒴', 'mixed é漢😀 text ']

export function randomText(random: Random, longest: number): string {
  let text = ''
  for (let left = 1 + random.int(longest); left > 0; left--) text += random.pick(LETTERS)
  return text
}

function randomValue(random: Random): unknown {
  switch (random.int(9)) {
    case 0:
      return random.int(1_000_000) - 500_000
    case 1:
      return null
    case 2:
      return random.chance(0.5)
    case 3:
      return { x: random.int(4000) / 7, y: [1, 'two', { three: undefined }] }
    case 4:
      return undefined
    case 5:
      return randomBytes(random)
    case 6:
      return 2n ** 40n
    default:
      return randomText(random, 12)
  }
}

function randomBytes(random: Random): Uint8Array {
  return Uint8Array.from({ length: random.int(random.chance(0.1) ? 600 : 20) }, () => random.int(256))
}

function randomType(random: Random): Y.AbstractType<unknown> {
  switch (random.int(5)) {
    case 0:
      return new Y.Map([['seeded', random.int(9)]]) as Y.AbstractType<unknown>
    case 1:
      return Y.Array.from([1, 'b', null]) as Y.AbstractType<unknown>
    case 2:
      return new Y.Text(randomText(random, 5)) as Y.AbstractType<unknown>
    case 3:
      return new Y.XmlElement('shape') as Y.AbstractType<unknown>
    default:
      return new Y.XmlText('label') as Y.AbstractType<unknown>
  }
}

/** An edit inside a surrogate pair makes replicas of Yjs itself differ. */
function outsidePair(units: string, at: number): number {
  return /[\ud800-\udbff]/.test(units[at - 1] ?? '') ? at + 1 : at
}

function editText(text: Y.Text, random: Random): unknown {
  const units = text
    .toDelta()
    .map(({ insert }: { insert: unknown }) => (typeof insert === 'string' ? insert : '.'))
    .join('')
  const at = outsidePair(units, random.int(text.length + 1))
  const span = outsidePair(units, Math.min(text.length, at + 1 + random.int(random.chance(0.2) ? 200 : 8))) - at
  switch (random.int(7)) {
    case 0:
    case 1:
      return text.delete(at, span)
    case 2:
      return text.format(at, span, { bold: random.pick([true, null]), colour: random.pick(['red', null]) })
    case 3:
      return text.insertEmbed(at, { image: randomText(random, 4) })
    default:
      return text.insert(at, randomText(random, random.chance(0.1) ? 300 : 10))
  }
}

function editArray(array: Y.Array<unknown>, random: Random): unknown {
  const at = random.int(array.length + 1)
  switch (random.int(6)) {
    case 0:
    case 1:
      return array.delete(at, Math.min(array.length - at, 1 + random.int(10)))
    case 2:
      return array.insert(at, [randomType(random)])
    case 3:
      return array.insert(at, [randomBytes(random)])
    default: {
      const count = 1 + random.int(random.chance(0.1) ? 80 : 5)
      return array.insert(
        at,
        Array.from({ length: count }, () => plain(randomValue(random))),
      )
    }
  }
}

/** As an array takes it among other values: bytes would become an item of their own, and some values it refuses. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? [...value] : typeof value === 'bigint' ? 7 : (value ?? null)

function editMap(map: Y.Map<unknown>, random: Random): unknown {
  const key = random.pick(['', 'x', 'y', 'label', 'points'])
  switch (random.int(8)) {
    case 0:
      return map.delete(key)
    case 1:
    case 2:
      return map.set(key, randomType(random))
    case 3:
      return map.set(key, random.chance(0.3) ? new Y.Doc({ guid: `sub-${random.int(1000)}` }) : randomText(random, 4))
    default:
      return map.set(key, randomValue(random))
  }
}

function editXml(xml: Y.XmlFragment, random: Random): void {
  const at = random.int(xml.length + 1)
  if (xml instanceof Y.XmlElement && random.chance(0.4)) {
    if (random.chance(0.7)) xml.setAttribute(random.pick(['id', 'class']), randomText(random, 3))
    else xml.removeAttribute('id')
  } else if (random.chance(0.3)) {
    xml.delete(at, Math.min(xml.length - at, 1 + random.int(3)))
  } else {
    xml.insert(at, [random.chance(0.5) ? new Y.XmlElement('g') : new Y.XmlText(randomText(random, 4))])
  }
}

/** One edit somewhere in the document: at a root, or further down when there is something to go down into. */
export function randomEdit(doc: Y.Doc, random: Random): void {
  let type: unknown = random.pick([
    () => doc.getText('text'),
    () => doc.getArray('array'),
    () => doc.getMap('map'),
    () => doc.getXmlFragment('xml'),
    () => doc.getMap(`root ${random.int(12)}`),
  ])()
  while (random.chance(0.6)) {
    const nested: unknown[] =
      type instanceof Y.Map
        ? [...type.values()]
        : type instanceof Y.Array || type instanceof Y.XmlFragment
          ? type.toArray()
          : []
    const types = nested.filter((value) => value instanceof Y.AbstractType)
    if (types.length === 0) break
    type = random.pick(types)
  }
  if (type instanceof Y.Text) editText(type, random)
  else if (type instanceof Y.Array) editArray(type, random)
  else if (type instanceof Y.XmlFragment) editXml(type, random)
  else if (type instanceof Y.Map) editMap(type, random)
}

/** An array of JSON content, which Yjs reads and writes but no longer makes. */
export function jsonUpdate(client: number, values: readonly unknown[]): Uint8Array {
  const out = encoding.createEncoder()
  for (const number of [1, 1, client, 0, 2, 1]) encoding.writeVarUint(out, number)
  encoding.writeVarString(out, 'array')
  encoding.writeVarUint(out, values.length)
  for (const value of values) encoding.writeVarString(out, value === undefined ? 'undefined' : JSON.stringify(value))
  encoding.writeVarUint(out, 0)
  return encoding.toUint8Array(out)
}

export class RandomWorld {
  readonly docs: readonly Y.Doc[]
  private readonly random: Random
  private readonly undo: Y.UndoManager

  constructor(random: Random) {
    this.random = random
    const ids = new Set<number>()
    const authors = 2 + random.int(4)
    while (ids.size < authors) ids.add(random.chance(0.3) ? random.int(200) : random.int(2 ** 32))
    this.docs = [...ids].map((clientID) => Object.assign(new Y.Doc(), { clientID }))
    if (random.chance(0.3)) {
      const values = Array.from({ length: 1 + random.int(40) }, () => random.pick([1, 'é', null, undefined, { a: [] }]))
      Y.applyUpdate(random.pick(this.docs), jsonUpdate(777, values))
    }
    const undoing = random.pick(this.docs)
    const scope = [undoing.getText('text'), undoing.getMap('map'), undoing.getArray('array')]
    this.undo = new Y.UndoManager(scope, { captureTimeout: 0 })
  }

  get server(): Y.Doc {
    return this.docs[0]!
  }

  step(): void {
    const { random } = this
    const dice = random.int(100)
    if (dice < 30) this.exchange()
    else if (dice < 36) this.undo.undo()
    else if (dice < 40) this.undo.redo()
    else {
      const doc = random.pick(this.docs)
      doc.transact(() => {
        for (let edits = 1 + random.int(4); edits > 0; edits--) randomEdit(doc, random)
      })
    }
  }

  /** One document gets all that another has. */
  exchange(): void {
    const from = this.random.pick(this.docs)
    const to = this.random.pick(this.docs)
    if (from !== to) Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)))
  }

  close(): void {
    this.undo.destroy()
  }
}

export function cloneOf(doc: Y.Doc): Y.Doc {
  const clone = keepFormatMarks(new Y.Doc())
  Y.applyUpdate(clone, Y.encodeStateAsUpdate(doc))
  return clone
}

/**
 * Yjs removes format marks that look redundant when it applies a remote update, and what looks so depends on how updates
 * were cut. A document that leaves this out can be compared to the last clock.
 */
export function keepFormatMarks(doc: Y.Doc): Y.Doc {
  doc.on('beforeTransaction', (transaction) => {
    Object.defineProperty(transaction, '_needFormattingCleanup', { get: () => false, set: () => {} })
  })
  return doc
}

/** What two documents must have in common to be the same: structs, deletions, and what a reader sees. */
export function contentOf(doc: Y.Doc): unknown {
  const fresh = cloneOf(doc)
  const roots: Record<string, unknown> = {}
  for (const name of [...doc.share.keys()].sort()) {
    if (name === 'text') roots[name] = fresh.getText(name).toDelta()
    else if (name === 'array') roots[name] = fresh.getArray(name).toJSON()
    else if (name === 'xml') roots[name] = fresh.getXmlFragment(name).toString()
    else roots[name] = fresh.getMap(name).toJSON()
    if (isBlank(roots[name])) delete roots[name]
    else roots[name] = withoutDocs(roots[name])
  }
  const vector = [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b)
  const deletes = [...Y.createDeleteSetFromStructStore(doc.store).clients].sort(([a], [b]) => a - b)
  return { vector, deletes, roots }
}

/** A root that one document has opened and the other has not is no difference. */
const isBlank = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && Object.keys(value!).length === 0)

/** A subdocument is its guid; everything else about it belongs to the document it was read in. */
function withoutDocs(value: unknown): unknown {
  if (value instanceof Y.Doc) return `doc ${value.guid}`
  if (Array.isArray(value)) return value.map(withoutDocs)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutDocs(inner)]))
}
