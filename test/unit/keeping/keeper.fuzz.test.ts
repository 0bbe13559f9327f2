import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { applyStored } from '../../../src/keeping/apply-stored.ts'
import { sliceUpdate } from '../../../src/update/update-slices.ts'
import { contentOf, fuzzSeed, Random, randomWorld } from '../../support/random-docs.ts'
import { type Board, loaded, type World, world } from './keeper-world.ts'

/** A life of one board: edits, failures, compactions with edits in between, crashes after which clients bring back theirs. */
async function life(seed: number): Promise<void> {
  const random = new Random(seed)
  const w = world()
  const { updates } = randomWorld(seed, { steps: 20 + random.int(100) })
  let board = await loaded(w)
  let given = 0
  const give = (count: number) => {
    for (; count > 0 && given < updates.length; count--) Y.applyUpdate(board.doc, updates[given++]!, 'client')
  }
  while (given < updates.length) {
    give(1 + random.int(5))
    if (random.chance(0.2)) w.storage.fails = random.chance(0.5) ? { append: 'no', compact: 'no' } : {}
    if (random.chance(0.3)) await w.clock.advance(random.int(3_000))
    if (random.chance(0.2)) await tidied(w, board, () => random.chance(0.5) && give(1))
    if (random.chance(0.1)) board = await crashed(w, board, updates.slice(0, given))
  }
  w.storage.fails = {}
  await w.clock.advance(10_000)
  expect(board.keeper.unsavedBytes).toBe(0)
  if (random.chance(0.5)) await tidied(w, board, () => {})
  const again = await loaded(w)
  expect(stateOf(again.doc), `seed ${seed}`).toEqual(stateOf(board.doc))
  expect(w.metrics.unsavedBytes).toBe(0)
}

async function tidied(w: World, board: Board, between: () => void): Promise<void> {
  for (let i = 0; i < 40; i++) board.doc.getMap('noise').set('n', 'x'.repeat(900))
  await w.clock.settle()
  board.beforePart = between
  const done = board.keeper.tidy()
  await w.clock.settle()
  await done
  board.beforePart = () => {}
}

/** What was not saved is gone here; every client sends what it has. */
async function crashed(w: World, board: Board, known: readonly Uint8Array[]): Promise<Board> {
  board.keeper.abandon()
  await w.clock.settle()
  const next = await loaded(w)
  const noise = board.doc.getMap('noise').size
  for (const update of known) Y.applyUpdate(next.doc, update, 'client')
  if (noise > 0) Y.applyUpdate(next.doc, Y.encodeStateAsUpdate(board.doc), 'client')
  return next
}

function stateOf(doc: Y.Doc): unknown {
  const vector = [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b)
  const deleted = [...Y.createDeleteSetFromStructStore(doc.store).clients].sort(([a], [b]) => a - b)
  const ranges = deleted.map(([client, items]) => [client, items.map(({ clock, len }) => [clock, len])])
  return { content: contentOf(doc), vector, ranges, pending: doc.store.pendingStructs }
}

test('[ST1] [ST3] [ST6] whatever happens to it, a board is stored as it is', async () => {
  const first = fuzzSeed()
  for (let seed = first; seed < first + 30; seed++) {
    try {
      await life(seed)
    } catch (error) {
      throw new Error(`FUZZ_SEED=${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
}, 120_000)

test('a board cut into pieces loads as it was, rich text included', () => {
  const first = fuzzSeed()
  for (let seed = first; seed < first + 50; seed++) {
    const whole = randomWorld(seed).merged()
    const cut = new Y.Doc()
    for (const piece of sliceUpdate(Y.encodeStateAsUpdate(whole), 300)) applyStored(cut, piece)
    expect(stateOf(cut), `FUZZ_SEED=${seed}`).toEqual(stateOf(whole))
  }
}, 120_000)
