import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { DiffCursor, type DiffPart, DiffSource, OwedDeletes } from '../../../src/diff/diff-cursor.ts'
import { contentOf } from '../../support/big-board.ts'
import { formattedBoard, liveMarks, seen } from '../../support/formatted-board.ts'

const PART = 4096
const WHOLE = 1 << 20

function partsOf(doc: Y.Doc, wholeBytes: number, partBytes = PART): DiffPart[] {
  const cursor = new DiffCursor(new DiffSource(doc), new Map(), OwedDeletes.full())
  const parts = [cursor.next(partBytes, wholeBytes)]
  while (!parts.at(-1)!.last) parts.push(cursor.next(partBytes, wholeBytes))
  return parts
}

/** A joiner that has read these; with the number of transactions in which it tidied. */
function joinerOf(parts: readonly DiffPart[]): { doc: Y.Doc; tidied: number } {
  const joiner = { doc: new Y.Doc(), tidied: 0 }
  joiner.doc.getMap('shapes')
  joiner.doc.on('update', (_update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
    if (transaction.local) joiner.tidied++
  })
  for (const { update } of parts) Y.applyUpdate(joiner.doc, update)
  return joiner
}

const longest = (parts: readonly DiffPart[]): number => Math.max(...parts.map(({ update }) => update.length))

test('[FC8] notes that were worked on one after the other come in parts of the usual size, none of them torn', () => {
  const board = formattedBoard({ seed: 3, notes: 120, authors: 4, retyped: 0, nearby: 3 })
  const parts = partsOf(board, WHOLE)
  expect(parts.length).toBeGreaterThan(8)
  expect(longest(parts)).toBeLessThanOrEqual(PART)
  expect(parts.some(({ endsInsideText }) => endsInsideText)).toBe(false)
  const { doc, tidied } = joinerOf(parts)
  expect(tidied).toBe(0)
  expect(seen(doc) === seen(board)).toBe(true)
})

test('[FC8] notes that were all gone over again are one part, and in usual parts marks would have gone', () => {
  const board = formattedBoard({ seed: 3, notes: 120, authors: 4, retyped: 1 })
  const parts = partsOf(board, WHOLE)
  expect(longest(parts)).toBeGreaterThan(4 * PART)
  expect(joinerOf(parts).tidied).toBe(0)
  expect(liveMarks(joinerOf(parts).doc)).toEqual(liveMarks(board))
  const { doc, tidied } = joinerOf(partsOf(board, 0))
  expect(tidied).toBeGreaterThan(0)
  expect(liveMarks(doc).size).toBeLessThan(liveMarks(board).size)
})

test('[FC8] what goes together and is longer than the bound is cut as usual, and each such part says so', () => {
  const board = formattedBoard({ seed: 3, notes: 120, authors: 4, retyped: 1 })
  const parts = partsOf(board, 3 * PART)
  expect(longest(parts)).toBeLessThanOrEqual(3 * PART + 64)
  expect(parts.filter(({ endsInsideText }) => endsInsideText).length).toBeGreaterThan(2)
  expect(contentOf(joinerOf(parts).doc).vector).toEqual(contentOf(board).vector)
})

test('[FC8] a word that a late author made bold does not tie what that author did before to the note', () => {
  const early = Object.assign(new Y.Doc(), { clientID: 9 })
  early.transact(() => {
    const shape = new Y.Map()
    early.getMap('shapes').set('note', shape)
    shape.set('text', new Y.Text('first and last'))
  })
  const text = (doc: Y.Doc) => (doc.getMap('shapes').get('note') as Y.Map<unknown>).get('text') as Y.Text
  text(early).format(0, 5, { bold: true })
  const late = Object.assign(new Y.Doc(), { clientID: 5 })
  Y.applyUpdate(late, Y.encodeStateAsUpdate(early))
  for (let i = 0; i < 2000; i++) late.getMap('other').set(`${i}`, 'what this author did on its own')
  text(late).format(10, 4, { bold: true })
  const parts = partsOf(late, 2 * PART)
  expect(parts.length).toBeGreaterThan(15)
  expect(longest(parts)).toBeLessThanOrEqual(PART)
  expect(parts.some(({ endsInsideText }) => endsInsideText)).toBe(false)
  const { doc, tidied } = joinerOf(parts)
  expect(tidied).toBe(0)
  expect(text(doc).toDelta()).toEqual(text(late).toDelta())
})

test('[FC8] a board without formats is cut the same, whatever the bound', () => {
  const board = Object.assign(new Y.Doc(), { clientID: 1 })
  for (let i = 0; i < 400; i++) {
    board.getMap('shapes').set(`${i}`, { x: i, points: [i, i + 1, i + 2] })
    board.getText('title').insert(i % 7, 'some words ')
  }
  board.getText('title').delete(100, 500)
  const bytes = (parts: readonly DiffPart[]) => parts.map(({ update }) => Buffer.from(update).toString('hex'))
  const plain = bytes(partsOf(board, 0, 512))
  expect(plain.length).toBeGreaterThan(10)
  expect(bytes(partsOf(board, WHOLE, 512))).toEqual(plain)
})
