import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { MAX_TYPE_DEPTH, typeDepth } from '../../../src/update/type-nesting.ts'
import { fuzzSeed, randomWorld } from '../../support/random-docs.ts'

/** How many shared types a struct of a doc lies in. */
function levelIn(doc: Y.Doc): (client: number, clock: number) => number {
  return (client, clock) => {
    if (clock >= Y.getState(doc.store, client)) return 0
    const item = Y.getItem(doc.store, Y.createID(client, clock))
    return item instanceof Y.Item ? levelOf(item) : 0
  }
}

function levelOf(item: Y.Item): number {
  let level = 0
  for (let above = parentItem(item); above !== null; above = parentItem(above)) level++
  return level
}

function parentItem(item: Y.Item): Y.Item | null {
  return (item.parent as Y.AbstractType<unknown>)._item
}

function deepestIn(doc: Y.Doc): number {
  let deepest = 0
  for (const structs of doc.store.clients.values()) {
    for (const each of structs) {
      if (each instanceof Y.Item && each.content instanceof Y.ContentType)
        deepest = Math.max(deepest, levelOf(each) + 1)
    }
  }
  return deepest
}

function nested(depth: number): Y.Doc {
  const doc = new Y.Doc({ gc: false })
  doc.transact(() => {
    let inner: Y.Array<unknown> = doc.getArray('list')
    for (let i = 0; i < depth; i++) {
      const next = new Y.Array<unknown>()
      inner.insert(0, [next])
      inner = next
    }
  })
  return doc
}

describe('shared types in shared types', () => {
  test('[IN5] full states: as deep as in the document', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 30; round++) {
      const doc = randomWorld(seed + round, { gc: false, steps: 80 }).merged()
      expect(
        typeDepth(Y.encodeStateAsUpdate(doc), () => 0),
        `FUZZ_SEED=${seed + round}`,
      ).toBe(deepestIn(doc))
    }
  })

  test('[IN5] one update after the other: what is in the document already counts', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 15; round++) {
      const world = randomWorld(seed + round, { gc: false, authors: 3, steps: 80 })
      const server = new Y.Doc({ gc: false })
      let deepest = 0
      for (const bytes of world.updates) {
        deepest = Math.max(deepest, typeDepth(bytes, levelIn(server)))
        Y.applyUpdate(server, bytes)
        expect(deepest, `FUZZ_SEED=${seed + round}`).toBe(deepestIn(server))
      }
    }
  })

  test('[IN5] 5 000 arrays in each other are seen, in one update or in two', () => {
    expect(typeDepth(Y.encodeStateAsUpdate(nested(MAX_TYPE_DEPTH)), () => 0)).toBe(MAX_TYPE_DEPTH)
    expect(typeDepth(Y.encodeStateAsUpdate(nested(MAX_TYPE_DEPTH + 1)), () => 0)).toBe(MAX_TYPE_DEPTH + 1)
    expect(typeDepth(Y.encodeStateAsUpdate(nested(2000)), () => 0)).toBe(255)
    const doc = nested(90)
    const before = Y.encodeStateVector(doc)
    let inner = doc.getArray<unknown>('list')
    while (inner.length > 0) inner = inner.get(0) as Y.Array<unknown>
    inner.insert(0, [new Y.Map([['deeper', new Y.Map()]])])
    expect(typeDepth(Y.encodeStateAsUpdate(doc, before), levelIn(nested(0)))).toBe(3)
    expect(typeDepth(Y.encodeStateAsUpdate(doc, before), levelIn(doc))).toBe(92)
  })
})
