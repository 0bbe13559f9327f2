/** A finished board of a wanted size, made of strokes as people draw them. */
import * as Y from 'yjs'
import { ROOT, type Script, seededRandom } from './script.ts'

export interface Board {
  /** Together the whole board, in order; each of about `updateBytes`. */
  readonly updates: readonly Uint8Array[]
  /** One per author with a single edit, the whole of what it drew: for a ledger. */
  readonly scripts: readonly Script[]
}

const FIRST_ID = 0x3a55_0000
const POINTS_PER_STROKE = 120
const UPDATE_BYTES = 60_000
/** What a stroke takes, roughly: three numbers of nine bytes a point. */
const STROKE_BYTES = POINTS_PER_STROKE * 27

export function makeBoard(bytes: number, authors: number): Board {
  const updates: Uint8Array[] = []
  const scripts: Script[] = []
  for (let author = 0; author < authors; author++) {
    const doc = new Y.Doc()
    doc.clientID = FIRST_ID + author
    doc.on('update', (update: Uint8Array) => updates.push(update))
    const random = seededRandom(1000 + author)
    const strokes = Math.max(1, Math.round(bytes / authors / STROKE_BYTES))
    const perUpdate = Math.max(1, Math.floor(UPDATE_BYTES / STROKE_BYTES))
    for (let first = 0; first < strokes; first += perUpdate) {
      doc.transact(() => {
        for (let i = first; i < Math.min(strokes, first + perUpdate); i++) draw(doc, i, random)
      })
    }
    const end = Y.getState(doc.store, doc.clientID)
    const editsBelow = new Array<number>(end + 1).fill(0)
    editsBelow[end] = 1
    scripts.push({ clientId: doc.clientID, edits: [Y.encodeStateAsUpdate(doc)], ends: [end], editsBelow })
  }
  return { updates, scripts }
}

function draw(doc: Y.Doc, number: number, random: () => number): void {
  const points = new Y.Array<number>()
  const numbers: number[] = []
  let x = random() * 4000
  let y = random() * 3000
  for (let i = 0; i < POINTS_PER_STROKE; i++) {
    x += random() * 24 - 12
    y += random() * 24 - 12
    numbers.push(x, y, random())
  }
  points.push(numbers)
  const stroke = new Y.Map<unknown>([
    ['color', '#30bced'],
    ['width', 4],
    ['points', points],
  ])
  doc.getMap(ROOT).set(`${doc.clientID}-${number}`, stroke)
}
