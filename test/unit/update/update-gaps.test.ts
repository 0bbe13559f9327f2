import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { checkUpdate } from '../../../src/update/update-check.ts'
import { findGap, gapOf } from '../../../src/update/update-gaps.ts'
import { fuzzSeed, Random, randomWorld } from '../../support/random-docs.ts'

const knownBy = (doc: Y.Doc) => {
  const vector = Y.decodeStateVector(Y.encodeStateVector(doc))
  return (client: number) => vector.get(client) ?? 0
}

describe('gaps', () => {
  test('[IN4] a gap is seen before the update is applied: no gap, nothing parked, and the other way round', () => {
    const seed = fuzzSeed()
    const tally = { gaps: 0, whole: 0, quick: 0 }
    for (let round = 0; round < 25; round++) {
      const world = randomWorld(seed + round, { authors: 4, steps: 60 })
      const random = new Random(seed + round)
      const server = new Y.Doc()
      for (const bytes of world.updates) {
        const sent = random.chance(0.2) ? Y.mergeUpdates([bytes, random.pick(world.updates)]) : bytes
        if (random.chance(0.2)) continue
        const gap = findGap(sent, knownBy(server))
        const check = checkUpdate(sent)
        const quick = check.ok ? gapOf(check.summary, knownBy(server)) : undefined
        if (quick !== undefined) {
          tally.quick++
          expect(quick, `FUZZ_SEED=${seed + round}`).toEqual(gap)
        }
        const trial = new Y.Doc()
        Y.applyUpdate(trial, Y.encodeStateAsUpdate(server))
        Y.applyUpdate(trial, sent)
        expect(trial.store.pendingStructs !== null, `FUZZ_SEED=${seed + round}`).toBe(gap !== null)
        if (gap === null) {
          tally.whole++
          Y.applyUpdate(server, sent)
        } else {
          tally.gaps++
          expect(knownBy(trial)(gap.client)).toBeLessThanOrEqual(gap.clock)
        }
      }
      // Its author's full state always fills it.
      expect(findGap(Y.encodeStateAsUpdate(world.merged()), knownBy(server))).toBeNull()
    }
    expect(tally.gaps).toBeGreaterThan(20)
    expect(tally.whole).toBeGreaterThan(20)
    expect(tally.quick).toBeGreaterThan(20)
  })

  test('[IN4] says whose struct is missing, and from where on', () => {
    const doc = new Y.Doc()
    doc.clientID = 5
    const updates: Uint8Array[] = []
    doc.on('update', (bytes: Uint8Array) => updates.push(bytes))
    for (const letter of 'abc') doc.getText('t').insert(0, letter)
    expect(findGap(updates[2]!, () => 1)).toEqual({ client: 5, clock: 1 })
    expect(findGap(updates[2]!, () => 2)).toBeNull()
    const other = new Y.Doc()
    other.clientID = 6
    Y.applyUpdate(other, Y.encodeStateAsUpdate(doc))
    const vector = Y.encodeStateVector(other)
    other.getText('t').insert(1, 'x')
    const leaning = Y.encodeStateAsUpdate(other, vector)
    expect(findGap(leaning, () => 0)).toEqual({ client: 5, clock: 0 })
    expect(findGap(leaning, (client) => (client === 5 ? 3 : 0))).toBeNull()
  })
})
