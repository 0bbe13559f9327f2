import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { findContradiction } from '../../../src/room/contradiction.ts'
import { fuzzSeed, randomWorld } from '../../support/random-docs.ts'

/** A document of client 5 with what `edit` writes, and its update. */
function written(edit: (doc: Y.Doc) => void): { doc: Y.Doc; update: Uint8Array } {
  const doc = new Y.Doc()
  doc.clientID = 5
  doc.transact(() => edit(doc))
  return { doc, update: Y.encodeStateAsUpdate(doc) }
}

const EDITS: readonly ((doc: Y.Doc) => void)[] = [
  (doc) => doc.getMap('m').set('a', 1),
  (doc) => doc.getMap('m').set('b', 1),
  (doc) => doc.getMap('n').set('a', 1),
  (doc) => doc.getMap('m').set('a', 2),
  (doc) => doc.getMap('m').set('a', 'text'),
  (doc) => doc.getMap('m').set('a', { x: 1 }),
  (doc) => doc.getMap('m').set('a', [1]),
  (doc) => doc.getMap('m').set('a', new Y.Map()),
  (doc) => doc.getMap('m').set('a', new Y.Text()),
  (doc) => doc.getMap('m').set('a', new Y.Doc({ guid: 'one' })),
  (doc) => doc.getMap('m').set('a', new Y.Doc({ guid: 'two' })),
  (doc) => doc.getText('t').insert(0, 'abc'),
  (doc) => doc.getText('t').insert(0, 'abd'),
  (doc) => doc.getArray('t').insert(0, [1, 2]),
  (doc) => doc.getText('t').insertEmbed(0, { image: 'a' }),
  (doc) => {
    doc.getText('t').insert(0, 'b')
    doc.getText('t').insert(0, 'a')
  },
]

test('[IN8] whatever two clients write differently under one id is told apart, and nobody is told apart from himself', () => {
  for (const [i, one] of EDITS.entries()) {
    for (const [j, other] of EDITS.entries()) {
      const found = findContradiction(written(one).doc, written(other).update)
      if (i === j) expect(found, `${i}`).toBeNull()
      else expect(found?.client, `${i} and ${j}`).toBe(5)
    }
  }
})

test('[IN8] what is sent again, in any cut and by anybody, contradicts nothing', () => {
  const seed = fuzzSeed()
  for (let round = 0; round < 25; round++) {
    const world = randomWorld(seed + round)
    const merged = world.merged()
    const server = new Y.Doc()
    for (const update of world.updates) Y.applyUpdate(server, update)
    const again = [...world.updates, Y.mergeUpdates(world.updates.length > 0 ? world.updates : [Uint8Array.of(0, 0)])]
    for (const doc of [...world.docs, merged]) {
      again.push(Y.encodeStateAsUpdate(doc))
      for (const other of world.docs) again.push(Y.encodeStateAsUpdate(doc, Y.encodeStateVector(other)))
    }
    for (const doc of [server, merged, ...world.docs]) {
      for (const update of again) {
        // What waits says nothing of what is there.
        const found = findContradiction(doc, update)
        expect(found, `FUZZ_SEED=${seed + round}`).toBeNull()
      }
    }
  }
})

test('[IN8] objects that a page changed in place, and text cut inside of a character, are no contradiction', () => {
  const value = { done: false }
  const { doc, update } = written((each) => {
    each.getMap('m').set('a', value)
    each.getText('t').insert(0, 'x😀y')
  })
  const server = new Y.Doc()
  Y.applyUpdate(server, update)
  value.done = true
  server.getText('t').insert(2, '-')
  expect(findContradiction(server, Y.encodeStateAsUpdate(doc))).toBeNull()
})
