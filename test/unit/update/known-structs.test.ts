import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { withoutKnown } from '../../../src/update/known-structs.ts'
import { checkUpdate } from '../../../src/update/update-check.ts'
import { contentOf, fuzzSeed, Random, randomUpdates } from '../../support/random-docs.ts'

test('[IN5] what is known is left out, wherever the cut falls, and the rest says what the whole said', () => {
  const seed = fuzzSeed()
  const random = new Random(seed)
  let cut = 0
  for (let round = 0; round < 4; round++) {
    const updates = randomUpdates(seed + round, { gc: true })
    for (const update of updates) {
      const facts = `FUZZ_SEED=${seed + round}`
      const [plain, spared] = [new Y.Doc(), new Y.Doc()]
      for (const other of updates) if (random.chance(0.15)) for (const doc of [plain, spared]) Y.applyUpdate(doc, other)
      const news = withoutKnown(update, (client) => Y.getState(spared.store, client))
      const check = checkUpdate(news)
      expect(check.ok, facts).toBe(true)
      if (check.ok) {
        for (const { client, from } of check.summary.sections) {
          expect(from, facts).toBeGreaterThanOrEqual(Y.getState(spared.store, client))
        }
      }
      if (news !== update) cut++
      Y.applyUpdate(plain, update)
      Y.applyUpdate(spared, news)
      expect(contentOf(spared), facts).toEqual(contentOf(plain))
      expect(Y.encodeStateVector(spared), facts).toEqual(Y.encodeStateVector(plain))
    }
  }
  expect(cut).toBeGreaterThan(20)
})

test('[IN5] text is cut between its units, half a character as Yjs does', () => {
  const doc = new Y.Doc()
  doc.clientID = 9
  doc.getText('t').insert(0, 'é漢😀z')
  const update = Y.encodeStateAsUpdate(doc)
  const texts = [1, 2, 3, 4].map((known) => {
    const [struct] = Y.decodeUpdate(withoutKnown(update, () => known)).structs as Y.Item[]
    expect(struct!.origin).toEqual(Y.createID(9, known - 1))
    return (struct!.content as Y.ContentString).str
  })
  expect(texts).toEqual(['漢😀z', '😀z', '\ufffdz', 'z'])
  expect(withoutKnown(update, () => 5)).toEqual(Uint8Array.of(0, 0))
  expect(withoutKnown(update, () => 0)).toBe(update)
})
