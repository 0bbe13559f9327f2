import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { BoardDoc } from '../../../src/room/board-doc.ts'
import { cpuMicros, manyAuthors } from '../../support/many-authors.ts'
import { fuzzSeed, Random, randomUpdates } from '../../support/random-docs.ts'

/** Thousands were tried by hand; these take a few seconds. */
const WORLDS = 60

// Yjs says so there when it gives a document a new id.
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => {}))
afterEach(() => void vi.restoreAllMocks())

interface Told {
  readonly updates: string[]
  /** Per transaction, of every author that was there or came: its clock before, and after where it changed. */
  readonly clocks: string[]
}

/** How two documents are driven in one world; the same for both. */
interface Script {
  readonly clientId: number
  readonly batches: readonly (readonly Uint8Array[])[]
  /** Of each batch: whether its transaction passes for a local one, as it does in a room. */
  readonly local: readonly boolean[]
  readonly typed: boolean
  /** An observer writes in turn: its transaction runs while the first one cleans up. */
  readonly answers: boolean
  /** Every author is looked at in every transaction. */
  readonly looks: boolean
}

function scriptOf(seed: number): Script {
  const random = new Random(seed)
  const updates = randomUpdates(seed)
  const batches: Uint8Array[][] = []
  for (let at = 0; at < updates.length; ) {
    const count = 1 + random.int(4)
    batches.push(updates.slice(at, at + count))
    at += count
  }
  const authors = [...Y.decodeStateVector(Y.encodeStateVectorFromUpdate(Y.mergeUpdates(updates))).keys()]
  const taken = authors.length > 0 && random.chance(0.1)
  return {
    clientId: taken ? random.pick(authors) : 77,
    batches,
    local: batches.map(() => random.chance(0.5)),
    typed: random.chance(0.5),
    answers: !taken && random.chance(0.3),
    looks: random.chance(0.3),
  }
}

function drive(doc: Y.Doc, script: Script): Told {
  const told: Told = { updates: [], clocks: [] }
  const known = new Set<number>()
  doc.clientID = script.clientId
  if (script.typed) doc.getText('text')
  doc.on('update', (update: Uint8Array) => told.updates.push(Buffer.from(update).toString('hex')))
  doc.on('afterTransactionCleanup', ({ beforeState, afterState }: Y.Transaction) => {
    const line: string[] = []
    for (const client of afterState.keys()) known.add(client)
    for (const client of [...known].sort((a, b) => a - b)) {
      const [before, after] = [beforeState.get(client), afterState.get(client)]
      if (after !== undefined && after !== before) line.push(`${client}: ${before} → ${after}`)
      else if (script.looks) line.push(`${client}: ${before}`)
    }
    told.clocks.push(line.join(', '))
  })
  if (script.answers) {
    let left = 5
    doc.getMap('shapes').observe(() => {
      if (left-- > 0) doc.getMap('answers').set(`a${left}`, doc.store.clients.size)
    })
  }
  for (const [i, batch] of script.batches.entries()) {
    doc.transact((transaction) => {
      for (const update of batch) Y.applyUpdate(doc, update)
      if (script.looks) for (const client of known) transaction.beforeState.get(client)
      transaction.local = script.local[i]!
    })
    // What a room does too: reading between two transactions.
    if (i % 3 === 0) told.updates.push(Buffer.from(Y.encodeStateVector(doc)).toString('hex'))
  }
  return told
}

test('[HI1] what a board’s document emits, and what it takes for its state before, is what a Y.Doc says, byte for byte', () => {
  const first = fuzzSeed()
  let events = 0
  for (let seed = first; seed < first + WORLDS; seed++) {
    const script = scriptOf(seed)
    const [plain, board] = [new Y.Doc(), new BoardDoc()]
    const [expected, told] = [drive(plain, script), drive(board, script)]
    expect(told, `FUZZ_SEED=${seed}`).toEqual(expected)
    expect(Buffer.from(Y.encodeStateAsUpdate(board)).equals(Buffer.from(Y.encodeStateAsUpdate(plain))), `${seed}`).toBe(
      true,
    )
    expect(board.clientID === script.clientId, `FUZZ_SEED=${seed}`).toBe(plain.clientID === script.clientId)
    events += told.updates.length
  }
  expect(events).toBeGreaterThan(WORLDS)
}, 60_000)

test('[HI1] a transaction names the authors that it looked at, and a walk outside of it names all', () => {
  const doc = new BoardDoc()
  Y.applyUpdate(doc, manyAuthors(1000))
  const other = new Y.Doc()
  other.getMap('m').set('mine', 1)
  const update = Y.encodeStateAsUpdate(other)
  const seen: number[] = []
  doc.on('afterTransaction', ({ afterState }: Y.Transaction) => seen.push(afterState.size))
  doc.transact(() => Y.applyUpdate(doc, update))
  Y.applyUpdate(doc, update)
  expect(seen).toEqual([1, 1001])
  expect(Y.decodeStateVector(Y.encodeStateVector(doc)).size).toBe(1001)
  expect([...doc.store.clients].length).toBe(1001)
})

test('a transaction that throws leaves a document that walks all again', () => {
  const doc = new BoardDoc()
  Y.applyUpdate(doc, manyAuthors(10))
  expect(() =>
    doc.transact(() => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(Y.decodeStateVector(Y.encodeStateVector(doc)).size).toBe(10)
})

test('[HI1] an edit costs no more on a board of 60 000 past authors than on one of 10', () => {
  const author = new Y.Doc()
  const edits: Uint8Array[] = []
  author.on('update', (update: Uint8Array) => edits.push(update))
  for (let i = 0; i < 3000; i++) author.getMap('shapes').set(`s${i % 50}`, { x: i, y: i })
  const cost = (authors: number): number => {
    const doc = new BoardDoc()
    doc.transact(() => Y.applyUpdate(doc, manyAuthors(authors)))
    let emitted = 0
    doc.on('update', () => emitted++)
    const micros = cpuMicros(() => {
      for (const edit of edits) doc.transact(() => Y.applyUpdate(doc, edit))
    })
    expect(emitted).toBe(edits.length)
    return micros / edits.length
  }
  cost(10)
  const [few, many, most] = [cost(10), cost(10_000), cost(60_000)]
  // It was 6 000 and 50 000 µs against 15: twice the promise leaves room for a busy machine.
  expect(many).toBeLessThan(2 * 1.5 * few)
  expect(most).toBeLessThan(2 * 3 * few)
})
