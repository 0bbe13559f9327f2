/**
 * Boards of formatted notes, as several people leave them behind, and readers that tell what they tidied.
 *   seed ──▶ authors type, format, retype, exchange ──▶ the server's document, which never tidies
 */
import * as Y from 'yjs'
import { Random } from './random.ts'

export interface FormattedBoardOptions {
  readonly seed: number
  readonly notes: number
  readonly authors: number
  /** Share of the notes whose text is written anew, by anybody, after all notes are there. */
  readonly retyped?: number
  /** Notes that are worked on at the same time; 0: any note at any time. */
  readonly nearby?: number
  /** Words of a note. */
  readonly words?: number
}

const WORDS = [
  'weir',
  'river',
  'level',
  'flood',
  'sluice',
  'the',
  'and',
  'of',
  'steady',
  'keeps',
  'a',
  'dam',
  '漢字',
  '😀',
]
const FORMATS = [
  { bold: true },
  { italic: true },
  { colour: 'red' },
  { colour: 'blue' },
  { link: 'https://example.org/' },
  { bold: null },
  { colour: null },
]

const words = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.pick(WORDS)).join(' ')

/** A document as a room keeps it: nothing that is applied makes it tidy formats. */
export function relayDoc(): Y.Doc {
  const doc = new Y.Doc()
  doc.on('beforeObserverCalls', (transaction: Y.Transaction) => {
    transaction.local = true
  })
  return doc
}

const notesOf = (doc: Y.Doc): Y.Map<Y.Map<unknown>> => doc.getMap('shapes')
const textOf = (doc: Y.Doc, note: number): Y.Text => notesOf(doc).get(`note${note}`)!.get('text') as Y.Text

/** One of the people, and what lies between it and the server. */
class Author {
  readonly doc = new Y.Doc()
  readonly made: Uint8Array[] = []
  /** Updates of the server that it has read. */
  read = 0
  constructor(clientID: number) {
    this.doc.clientID = clientID
    this.doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
      if (transaction.local) this.made.push(update)
    })
  }
}

/** The board, complete, as the server has it. */
export function formattedBoard(options: FormattedBoardOptions): Y.Doc {
  const { seed, notes, authors: count, retyped = 0.5, nearby = 0, words: length = 40 } = options
  const random = new Random(seed)
  const server = relayDoc()
  const log: Uint8Array[] = []
  server.on('update', (update: Uint8Array) => log.push(update))
  const authors = Array.from({ length: count }, (_, i) => new Author(1000 + i * 7))
  const exchange = (author: Author): void => {
    for (const update of author.made.splice(0)) Y.applyUpdate(server, update)
    while (author.read < log.length) Y.applyUpdate(author.doc, log[author.read++]!)
    // What it tidied.
    for (const update of author.made.splice(0)) Y.applyUpdate(server, update)
  }
  for (let note = 0; note < notes; note++) {
    const author = authors[note % count]!
    author.doc.transact(() => {
      const shape = new Y.Map<unknown>([
        ['x', random.int(4000)],
        ['y', random.int(4000)],
      ])
      notesOf(author.doc).set(`note${note}`, shape)
      const text = new Y.Text(words(random, length))
      shape.set('text', text)
      for (let i = 0; i < 3; i++) format(text, random)
    })
    if (random.chance(0.2)) exchange(author)
    if (random.chance(0.5)) touch(random.pick(authors).doc, note, nearby, random)
  }
  for (const author of authors) exchange(author)
  for (const author of authors) exchange(author)
  const again = Math.round(notes * retyped)
  for (let i = 0; i < again; i++) {
    const author = random.pick(authors)
    retype(textOf(author.doc, random.int(notes)), random)
    if (random.chance(0.1)) exchange(author)
  }
  for (const author of authors) exchange(author)
  return server
}

/** One person makes more notes and formats them. */
export function addNotes(doc: Y.Doc, seed: number, count: number): void {
  const random = new Random(seed)
  for (let i = 0; i < count; i++) {
    const text = new Y.Text(words(random, 30))
    notesOf(doc).set(`more${seed}-${i}`, new Y.Map<unknown>([['text', text]]))
    for (let j = 0; j < 3; j++) format(text, random)
  }
}

/** Writes stretches of any notes anew. */
export function retypeNotes(doc: Y.Doc, seed: number, edits: number): void {
  const random = new Random(seed)
  const shapes = [...notesOf(doc).values()]
  for (let i = 0; i < edits; i++) retype(random.pick(shapes).get('text') as Y.Text, random)
}

/** An edit inside a surrogate pair makes replicas of Yjs itself differ. */
const outsidePair = (units: string, at: number): number => (/[\ud800-\udbff]/.test(units[at - 1] ?? '') ? at + 1 : at)

function format(text: Y.Text, random: Random): void {
  const units = text
    .toDelta()
    .map(({ insert }: { insert: string }) => insert)
    .join('')
  const at = outsidePair(units, random.int(units.length))
  const end = outsidePair(units, Math.min(units.length, at + 1 + random.int(30)))
  text.format(at, end - at, random.pick(FORMATS))
}

function touch(doc: Y.Doc, upTo: number, nearby: number, random: Random): void {
  const from = nearby === 0 ? 0 : Math.max(0, upTo - nearby)
  const note = from + random.int(upTo - from + 1)
  if (!notesOf(doc).has(`note${note}`)) return
  const text = textOf(doc, note)
  if (random.chance(0.5)) text.insert(outsidePair(text.toString(), random.int(text.length + 1)), words(random, 3))
  else format(text, random)
}

/** Writes a stretch anew: typed first and the old words taken out around it, so that the marks beside them stay. */
export function retype(text: Y.Text, random: { pick<T>(of: readonly T[]): T }): void {
  const ops = text.toDelta() as { insert: unknown }[]
  if (ops.length === 0) return
  const chosen = random.pick([...ops.keys()])
  let at = 0
  for (const { insert } of ops.slice(0, chosen)) at += typeof insert === 'string' ? insert.length : 1
  const old = ops[chosen]?.insert
  if (typeof old !== 'string' || old.length < 2) return
  // Not inside a surrogate pair.
  const first = old.codePointAt(0)! > 0xffff ? 2 : 1
  if (first === old.length) return
  const fresh = Array.from({ length: random.pick([1, 2, 3]) }, () => random.pick(WORDS)).join(' ')
  text.doc!.transact(() => {
    text.insert(at + first, fresh)
    text.delete(at + first + fresh.length, old.length - first)
    text.delete(at, first)
  })
}

/** What a document says, as anybody would see it: every note's text with its formats. */
export function seen(doc: Y.Doc): string {
  const all = [...notesOf(doc)].map(([key, shape]) => [key, (shape.get('text') as Y.Text).toDelta()] as const)
  return JSON.stringify(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Live formatting marks, as `client:clock`. */
export function liveMarks(doc: Y.Doc): Set<string> {
  const marks = new Set<string>()
  for (const structs of doc.store.clients.values()) {
    for (const struct of structs) {
      if (struct instanceof Y.Item && !struct.deleted && struct.content instanceof Y.ContentFormat) {
        marks.add(`${struct.id.client}:${struct.id.clock}`)
      }
    }
  }
  return marks
}

/** Of a text's live marks those that say nothing: overwritten before any content follows, or setting what is set already. */
export function idleMarks(text: Y.Text): Set<string> {
  const idle = new Set<string>()
  const attributes = new Map<string, unknown>()
  let gap = new Map<string, Y.Item>()
  for (let item = text._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (item.content instanceof Y.ContentFormat) {
      const { key } = item.content
      const before = gap.get(key)
      if (before !== undefined) idle.add(`${before.id.client}:${before.id.clock}`)
      gap.set(key, item)
    } else if (item.countable) {
      for (const [key, mark] of gap) {
        const { value } = mark.content as Y.ContentFormat
        if ((attributes.get(key) ?? null) === value) idle.add(`${mark.id.client}:${mark.id.clock}`)
        else attributes.set(key, value)
      }
      gap = new Map()
    }
  }
  return idle
}
