import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { stripUnknownDeletes } from '../../../src/update/unknown-deletes.ts'
import { checkUpdate } from '../../../src/update/update-check.ts'
import { fuzzSeed, randomWorld } from '../../support/random-docs.ts'
import { varuint } from '../../support/update-bytes.ts'

describe('deletes of what is not there', () => {
  test('[IN5] what remains parks nothing, and nothing that can be deleted is lost', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 25; round++) {
      const world = randomWorld(seed + round, { authors: 4, steps: 60 })
      const server = new Y.Doc()
      Y.applyUpdate(server, Y.encodeStateAsUpdate(world.docs[0]!))
      const plain = new Y.Doc()
      Y.applyUpdate(plain, Y.encodeStateAsUpdate(server))
      const vector = Y.decodeStateVector(Y.encodeStateVector(server))
      for (const bytes of [...world.updates, Y.encodeStateAsUpdate(world.docs[1]!)]) {
        const { bytes: kept, stripped } = stripUnknownDeletes(bytes, (client) => vector.get(client) ?? 0)
        expect(checkUpdate(kept).ok).toBe(true)
        if (stripped === 0) expect(kept).toBe(bytes)
        const before = new Y.Doc()
        Y.applyUpdate(before, Y.encodeStateAsUpdate(server))
        Y.applyUpdate(before, kept)
        if (before.store.pendingStructs === null) expect(before.store.pendingDs, `FUZZ_SEED=${seed + round}`).toBeNull()
        const direct = new Y.Doc()
        Y.applyUpdate(direct, Y.encodeStateAsUpdate(server))
        Y.applyUpdate(direct, bytes)
        expect(before.getText('text').toDelta()).toEqual(direct.getText('text').toDelta())
      }
    }
  })

  test('[IN5] 470 KB of ranges for an unknown author leave two bytes', () => {
    const ranges = Array.from({ length: 100_000 }, (_, i) => [...varuint(i * 2), 1]).flat()
    const bytes = Uint8Array.from([0, 1, 77, ...varuint(100_000), ...ranges])
    expect(stripUnknownDeletes(bytes, () => 0)).toEqual({ bytes: Uint8Array.of(0, 0), stripped: 100_000 })
  })

  test('[IN5] a range that reaches beyond is cut, an author with nothing left goes', () => {
    const bytes = Uint8Array.from([0, 2, 9, 3, 0, 2, 4, 10, 20, 1, 8, 1, 0, 1])
    const { bytes: kept, stripped } = stripUnknownDeletes(bytes, (client) => (client === 9 ? 6 : 0))
    expect([...kept]).toEqual([0, 1, 9, 2, 0, 2, 4, 2])
    expect(stripped).toBe(3)
  })
})
