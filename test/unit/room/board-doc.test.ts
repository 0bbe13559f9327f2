import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { BoardDoc } from '../../../src/room/board-doc.ts'
import { fuzzSeed, randomWorld } from '../../support/random-docs.ts'

const EVENTS = [
  'beforeTransaction',
  'beforeObserverCalls',
  'afterTransaction',
  'afterTransactionCleanup',
  'update',
] as const

/** What a document tells while it takes in some updates, in order. */
function told(doc: Y.Doc, updates: readonly Uint8Array[]): string[] {
  const lines: string[] = []
  for (const event of EVENTS) {
    doc.on(event, (...args: unknown[]) => {
      const [first] = args
      lines.push(`${event} ${args.length} ${first instanceof Uint8Array ? Buffer.from(first).toString('hex') : ''}`)
    })
  }
  for (const update of updates) Y.applyUpdate(doc, update, 'origin')
  return lines
}

// It stands in for lib0's own way of calling listeners: should that change, this says so.
test('a board’s document tells what a Y.Doc tells, in the same order', () => {
  const seed = fuzzSeed()
  const { updates } = randomWorld(seed, { authors: 3, steps: 80 })
  const lines = told(new BoardDoc(), updates)
  expect(lines.length).toBeGreaterThan(100)
  expect(lines, `FUZZ_SEED=${seed}`).toEqual(told(new Y.Doc(), updates))
})

test('listeners may leave, come only once, and come while others are told', () => {
  const doc = new BoardDoc()
  const calls: string[] = []
  const late = (): void => void calls.push('late')
  const leaving = (): void => void calls.push('leaving')
  doc.once('update', () => {
    calls.push('once')
    doc.on('update', late)
  })
  doc.on('update', leaving)
  doc.getMap('m').set('a', 1)
  doc.off('update', leaving)
  doc.getMap('m').set('a', 2)
  expect(calls).toEqual(['once', 'leaving', 'late'])
})
