/**
 * Random Yjs documents with everything in them that Yjs can write: text, formats, embeds, arrays of any, maps, XML, binary,
 * subdocuments, undo, moves, concurrent authors, collected garbage or not. The same seed gives the same bytes.
 */
import * as Y from 'yjs'
import { Random } from './random.ts'
import { listValue, randomBytes, randomText, randomValue } from './random-values.ts'

export { Random }

/** `FUZZ_SEED` when set, else one that changes with every run: print it with every failure. */
export function fuzzSeed(): number {
  const given = process.env.FUZZ_SEED
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)
}

export interface WorldOptions {
  /** Docs that edit side by side; default 1 to 5. */
  authors?: number
  /** Edits, exchanges and undos; default up to 60. */
  steps?: number
  /** Whether docs collect garbage; default: half of the worlds. */
  gc?: boolean
}

export interface RandomWorld {
  docs: Y.Doc[]
  /** What each local transaction emitted, in the order in which it happened. */
  updates: Uint8Array[]
  /** A doc that has all of it. */
  merged(): Y.Doc
}

export function randomWorld(seed: number, options: WorldOptions = {}): RandomWorld {
  const random = new Random(seed)
  const authors = options.authors ?? 1 + random.int(5)
  const steps = options.steps ?? 5 + random.int(56)
  const gc = options.gc ?? random.chance(0.5)
  const updates: Uint8Array[] = []
  const editors = Array.from({ length: authors }, (_, i) => editor(random, gc, i, updates))
  for (let i = 0; i < steps; i++) {
    const one = random.pick(editors)
    if (random.chance(0.2)) exchange(one.doc, random.pick(editors).doc)
    else if (random.chance(0.1)) random.chance(0.6) ? one.undo.undo() : one.undo.redo()
    else one.doc.transact(() => randomEdits(random, one.doc))
  }
  const docs = editors.map((each) => each.doc)
  return {
    docs,
    updates,
    merged() {
      const doc = new Y.Doc({ gc })
      doc.transact(() => {
        for (const each of docs) Y.applyUpdate(doc, Y.encodeStateAsUpdate(each))
      })
      return doc
    },
  }
}

/** Updates of all the shapes that reach a server: single ones, full states, diffs, merged ones with and without gaps. */
export function randomUpdates(seed: number, options: WorldOptions = {}): Uint8Array[] {
  const random = new Random(seed ^ 0x5bd1e995)
  const world = randomWorld(seed, options)
  const merged = world.merged()
  const full = Y.encodeStateAsUpdate(merged)
  const found = [...world.updates, full]
  for (const doc of world.docs) {
    const vector = Y.encodeStateVector(doc)
    found.push(Y.encodeStateAsUpdate(doc), Y.encodeStateAsUpdate(merged, vector), Y.diffUpdate(full, vector))
  }
  if (world.updates.length > 0) {
    found.push(Y.mergeUpdates(world.updates))
    const withGaps = Y.mergeUpdates(world.updates.filter(() => random.chance(0.6)).concat(random.pick(world.updates)))
    found.push(withGaps, Y.diffUpdate(withGaps, Y.encodeStateVector(random.pick(world.docs))))
    // A doc with parked parts hands them on with its state.
    const parked = new Y.Doc()
    Y.applyUpdate(parked, withGaps)
    found.push(Y.encodeStateAsUpdate(parked))
  }
  return found
}

/** Plain data of everything in a doc: equal for docs that show the same. */
export function contentOf(doc: Y.Doc): unknown {
  return plain({
    text: doc.getText('text').toDelta(),
    list: doc.getArray('list'),
    shapes: doc.getMap('shapes'),
    xml: doc.getXmlFragment('xml'),
    nameless: doc.getMap(''),
  })
}

function plain(value: unknown): unknown {
  if (value instanceof Y.Doc) return { subdocument: value.guid }
  if (value instanceof Y.Text) return { text: plain(value.toDelta()) }
  if (value instanceof Y.Map || value instanceof Y.Array) return plain(value.toJSON())
  if (value instanceof Y.AbstractType) return { xml: String(value) }
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

function editor(
  random: Random,
  gc: boolean,
  index: number,
  updates: Uint8Array[],
): { doc: Y.Doc; undo: Y.UndoManager } {
  const doc = new Y.Doc({ gc })
  // Ids of one byte as well as of five.
  doc.clientID = random.chance(0.2) ? index + 1 : random.int(2 ** 32)
  const roots = [doc.getText('text'), doc.getArray('list'), doc.getMap('shapes'), doc.getXmlFragment('xml')]
  const undo = new Y.UndoManager(roots as unknown as Y.AbstractType<unknown>[], { captureTimeout: 0 })
  doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
    if (transaction.local) updates.push(update)
  })
  return { doc, undo }
}

function exchange(from: Y.Doc, to: Y.Doc): void {
  if (from === to) return
  Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)))
}

function randomEdits(random: Random, doc: Y.Doc): void {
  for (let i = 1 + random.int(4); i > 0; i--) random.pick(EDITS)(random, doc)
}

const EDITS: readonly ((random: Random, doc: Y.Doc) => void)[] = [
  (random, doc) => editText(random, doc.getText('text')),
  (random, doc) => editText(random, doc.getText('text')),
  (random, doc) => editArray(random, doc.getArray('list')),
  (random, doc) => editMap(random, doc.getMap('shapes')),
  (random, doc) => editMap(random, doc.getMap('shapes')),
  (random, doc) => editMap(random, doc.getMap('')),
  (random, doc) => editXml(random, doc.getXmlFragment('xml')),
  (random, doc) => editNested(random, doc),
]

function editText(random: Random, text: Y.Text): void {
  const at = random.int(text.length + 1)
  const span = Math.min(random.int(8), text.length - at)
  switch (random.int(7)) {
    case 0:
      text.delete(at, span)
      break
    case 1:
      text.format(at, span, {
        [random.pick(['bold', 'color', 'link'])]: random.pick([true, null, 'red', { href: 'x' }]),
      })
      break
    case 2:
      text.insertEmbed(at, random.pick([{ image: 'a.png' }, { list: [1, [2, { deep: null }]] }, { ключ: '\u2028"\\' }]))
      break
    case 3:
      text.insert(at, randomText(random), { italic: true })
      break
    case 4: {
      // A move: what is cut here comes in again elsewhere.
      const moved = text.toString().slice(at, at + span)
      text.delete(at, Math.min(span, text.length - at))
      if (moved.length > 0) text.insert(random.int(text.length + 1), moved)
      break
    }
    default:
      text.insert(at, randomText(random))
  }
}

function editArray(random: Random, list: Y.Array<unknown>): void {
  const at = random.int(list.length + 1)
  switch (random.int(5)) {
    case 0:
      list.delete(at, Math.min(random.int(4), list.length - at))
      break
    case 1:
      list.insert(at, [randomType(random)])
      break
    case 2:
      list.insert(at, [randomBytes(random, random.int(20)), randomBytes(random, 0)])
      break
    default:
      list.insert(
        at,
        Array.from({ length: 1 + random.int(5) }, () => listValue(random)),
      )
  }
}

function editMap(random: Random, map: Y.Map<unknown>): void {
  const key = random.pick(['', 'x', 'y', 'style', 'ключ', `k${random.int(30)}`])
  switch (random.int(8)) {
    case 0:
      map.delete(key)
      break
    case 1:
      map.set(key, randomType(random))
      break
    case 2:
      map.set(key, randomBytes(random, random.int(40)))
      break
    case 3:
      map.set(key, randomSubdocument(random))
      break
    default:
      map.set(key, randomValue(random, 4))
  }
}

function editXml(random: Random, parent: Y.XmlFragment): void {
  const at = random.int(parent.length + 1)
  const child = parent.length > 0 ? parent.get(random.int(parent.length)) : undefined
  switch (random.int(6)) {
    case 0:
      parent.delete(at, Math.min(random.int(3), parent.length - at))
      break
    case 1:
      parent.insert(at, [new Y.XmlText(randomText(random))])
      break
    case 2:
      parent.insert(at, [new Y.XmlHook('hook') as unknown as Y.XmlElement])
      break
    case 3:
      if (child instanceof Y.XmlElement) child.setAttribute(random.pick(['id', 'class']), randomText(random))
      else if (child instanceof Y.XmlText) child.insert(0, randomText(random))
      break
    case 4:
      if (child instanceof Y.XmlElement) editXml(random, child)
      break
    default:
      parent.insert(at, [new Y.XmlElement(random.pick(['p', 'img', 'UNDEFINED']))])
  }
}

function editNested(random: Random, doc: Y.Doc): void {
  const inside = [...doc.getArray('list').toArray(), ...doc.getMap('shapes').values()]
  const types = inside.filter((each) => each instanceof Y.AbstractType)
  if (types.length === 0) return
  const type = random.pick(types)
  if (type instanceof Y.Text) editText(random, type)
  else if (type instanceof Y.Array) editArray(random, type)
  else if (type instanceof Y.XmlFragment) editXml(random, type)
  else if (type instanceof Y.Map) editMap(random, type)
}

function randomType(random: Random): Y.AbstractType<unknown> {
  const text = randomText(random)
  const types = [
    () => new Y.Map([['inner', randomValue(random, 2)]]),
    () => Y.Array.from([1, 'two', null]),
    () => new Y.Text(text),
    () => new Y.XmlElement('g'),
    () => new Y.XmlText(text),
    () => new Y.XmlFragment(),
  ]
  return random.pick(types)() as unknown as Y.AbstractType<unknown>
}

function randomSubdocument(random: Random): Y.Doc {
  const guid = `sub-${random.int(2 ** 32)}`
  return random.pick([
    () => new Y.Doc({ guid }),
    () => new Y.Doc({ guid, gc: false, meta: { title: 'inner', tags: [1, 2] } }),
    () => new Y.Doc({ guid, autoLoad: true }),
  ])()
}
