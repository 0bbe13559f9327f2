import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { SliceSize } from '../../../src/update/slice-size.ts'
import { checkUpdate, findGap, type UpdateSummary } from '../../../src/update/update-check.ts'
import { type DeleteGuide, sliceUpdate } from '../../../src/update/update-slices.ts'
import { contentOf, fuzzSeed, Random, randomUpdates, randomWorld } from '../../support/random-docs.ts'
import { varuint } from '../../support/update-bytes.ts'

function summaryOf(bytes: Uint8Array): UpdateSummary {
  const check = checkUpdate(bytes)
  if (!check.ok) throw new Error(`refused as ${check.reason}`)
  return check.summary
}

/**
 * Applies without letting Yjs tidy the formats of rich text afterwards: between two slices that can take away a format
 * that the next one gives a meaning.
 */
function apply(doc: Y.Doc, bytes: Uint8Array): void {
  doc.transact((transaction) => {
    Y.applyUpdate(doc, bytes)
    transaction.local = true
  })
}

/** Applies slices one by one to an empty doc and insists that nothing is parked after any of them. */
function applyAll(slices: Iterable<Uint8Array>, hint: string, onto = new Y.Doc({ gc: false })): Y.Doc {
  let count = 0
  for (const slice of slices) {
    apply(onto, slice)
    expect(onto.store.pendingStructs, `${hint}, slice ${count}`).toBeNull()
    count++
  }
  expect(onto.store.pendingDs, hint).toBeNull()
  return onto
}

function expectSame(a: Y.Doc, b: Y.Doc, hint: string): void {
  expect(Y.decodeStateVector(Y.encodeStateVector(a)), hint).toEqual(Y.decodeStateVector(Y.encodeStateVector(b)))
  expect(contentOf(a), hint).toEqual(contentOf(b))
  // What was deleted belongs to the state, too.
  expect(Y.createDeleteSetFromStructStore(a.store), hint).toEqual(Y.createDeleteSetFromStructStore(b.store))
}

/** Authors who type into each other's text: nearly every struct depends on another author's. */
function interleaved(authors: number, structs: number): Y.Doc {
  const docs = Array.from({ length: authors }, (_, i) => {
    const doc = new Y.Doc({ gc: false })
    doc.clientID = 1000 - i * 7
    return doc
  })
  const random = new Random(5)
  let last: Uint8Array[] = []
  for (const doc of docs) {
    doc.on('update', (bytes: Uint8Array, origin: unknown) => {
      if (origin === null) last.push(bytes)
    })
  }
  for (let i = 0; i < structs; i++) {
    const doc = docs[i % authors]!
    const text = doc.getText('text')
    // In front of what another one wrote just now, so that no two structs merge.
    text.insert(Math.min(text.length, random.int(40)), 'ab')
    for (const other of docs) if (other !== doc) for (const bytes of last) Y.applyUpdate(other, bytes, 'remote')
    last = []
  }
  return docs[0]!
}

describe('slices of an update', () => {
  test('[IN5] [FC8] random worlds arrive whole and park nothing after any slice', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 25; round++) {
      const hint = `FUZZ_SEED=${seed + round}`
      const world = randomWorld(seed + round, { authors: 1 + (round % 6), steps: 60, gc: round % 2 === 0 })
      const whole = Y.encodeStateAsUpdate(world.merged())
      const direct = new Y.Doc({ gc: false })
      apply(direct, whole)
      for (const sliceBytes of [40, 200, 1000]) {
        expectSame(applyAll(sliceUpdate(whole, sliceBytes), hint), direct, hint)
      }
    }
  })

  test('[IN5] every slice is a valid update of bounded size, authors descending, none twice, deletes last', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 25; round++) {
      for (const bytes of randomUpdates(seed + round)) {
        const whole = summaryOf(bytes)
        const limit = 150
        let structs = 0
        let deleteRanges = 0
        for (const slice of sliceUpdate(bytes, limit)) {
          const summary = summaryOf(slice)
          expect(summary.isEmpty && !whole.isEmpty).toBe(false)
          if (slice.length > limit) expect(summary.structs).toBe(1)
          if (bytes.length > limit) {
            expect(summary.skips).toBe(0)
            if (summary.deleteRanges > 0) expect(summary.structs).toBe(0)
            if (summary.structs > 0) expect(deleteRanges).toBe(0)
          }
          structs += summary.structs
          deleteRanges += summary.deleteRanges
        }
        expect({ structs, deleteRanges }, `FUZZ_SEED=${seed + round}`).toEqual({
          structs: whole.structs,
          deleteRanges: whole.deleteRanges,
        })
      }
    }
  })

  test('[IN5] [LT1] cut by structs and deleted units as well, however short the update is, they give the same document', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 15; round++) {
      const hint = `FUZZ_SEED=${seed + round}`
      const world = randomWorld(seed + round, { authors: 1 + (round % 4), steps: 60, gc: round % 2 === 0 })
      const whole = Y.encodeStateAsUpdate(world.merged())
      const direct = new Y.Doc({ gc: false })
      apply(direct, whole)
      // One struct at a time, then a few.
      for (const first of [1, 12]) {
        const size = new SliceSize(first)
        const slices: Uint8Array[] = []
        for (const slice of sliceUpdate(whole, 65_536, size)) {
          slices.push(slice)
          expect(summaryOf(slice).structs).toBeLessThanOrEqual(size.weight)
        }
        if (first === 1) expect(slices.length).toBeGreaterThanOrEqual(summaryOf(whole).structs)
        expectSame(applyAll(slices, hint), direct, hint)
      }
    }
  })

  test('[LT1] a long range of the delete set is cut where a guide says so', () => {
    const deletes = Uint8Array.from([0, 1, 9, 1, 0, ...varuint(100_000)])
    const guide: DeleteGuide = {
      reach: (_client, clock, end, budget) => ({
        to: Math.min(end, clock + budget),
        cost: Math.min(end - clock, budget),
      }),
    }
    const slices = [...sliceUpdate(deletes, 65_536, new SliceSize(32), guide)]
    expect(slices.length).toBe(Math.ceil(100_000 / 4096))
    expect(slices.map((slice) => summaryOf(slice).deletedUnits).reduce((a, b) => a + b)).toBe(100_000)
    expect([...sliceUpdate(deletes, 65_536, new SliceSize(32))]).toHaveLength(1)
  })

  test('[IN5] a diff with gaps, for a document that has what they leave out, parks nothing either', () => {
    const seed = fuzzSeed()
    let skips = 0
    for (let round = 0; round < 30; round++) {
      const hint = `FUZZ_SEED=${seed + round}`
      const world = randomWorld(seed + round, { authors: 4, steps: 60 })
      const random = new Random(seed + round)
      const receiver = new Y.Doc({ gc: false })
      const sent: Uint8Array[] = []
      for (const bytes of world.updates) {
        const vector = Y.decodeStateVector(Y.encodeStateVector(receiver))
        // Whatever would be parked there goes the other way: Yjs does not always come back to what it has parked.
        if (random.chance(0.2) || findGap(bytes, (client) => vector.get(client) ?? 0) !== null) sent.push(bytes)
        else apply(receiver, bytes)
      }
      if (sent.length === 0) continue
      const withGaps = Y.mergeUpdates(sent.concat(world.updates.filter(() => random.chance(0.3))))
      skips += summaryOf(withGaps).skips
      applyAll(sliceUpdate(withGaps, 60), hint, receiver)
      const direct = new Y.Doc({ gc: false })
      apply(direct, Y.mergeUpdates(world.updates))
      expectSame(receiver, direct, hint)
    }
    expect(skips).toBeGreaterThan(5)
  })

  test('[FC8] 20 000 structs of four interleaved authors, in 4 KiB slices', { timeout: 60_000 }, () => {
    const doc = interleaved(4, 20_000)
    const whole = Y.encodeStateAsUpdate(doc)
    expect(summaryOf(whole).structs).toBeGreaterThan(15_000)
    const before = performance.now()
    const slices = [...sliceUpdate(whole, 4096)]
    const took = performance.now() - before
    expect(slices.length).toBeGreaterThan(20)
    expect(Math.max(...slices.map((slice) => slice.length))).toBeLessThanOrEqual(4096)
    expect(took).toBeLessThan(1000)
    expectSame(applyAll(slices, 'interleaved'), doc, 'interleaved')
  })

  test('[IN5] thousands of authors, each leaning on the one before, are cut in linear time', () => {
    const doc = new Y.Doc({ gc: false })
    const authors = 2000
    for (let i = 0; i < authors; i++) {
      doc.clientID = 10 + ((i * 7919) % authors)
      doc.getText('text').insert(i === 0 ? 0 : doc.getText('text').length, 'x')
    }
    const whole = Y.encodeStateAsUpdate(doc)
    const before = performance.now()
    const slices = [...sliceUpdate(whole, 1000)]
    expect(performance.now() - before).toBeLessThan(1000)
    expectSame(applyAll(slices, 'chain'), doc, 'chain')
  })

  test('[FC8] a struct longer than a slice stands alone', () => {
    const doc = new Y.Doc()
    const map = doc.getMap<unknown>('shapes')
    map.set('before', 1)
    map.set('image', new Uint8Array(100_000))
    map.set('after', 2)
    const slices = [...sliceUpdate(Y.encodeStateAsUpdate(doc))]
    expect(slices.map((slice) => summaryOf(slice).structs)).toEqual([1, 1, 1])
    expectSame(applyAll(slices, 'image'), doc, 'image')
  })

  test('[IN5] while a big update is looked over, empty updates give the loop back', () => {
    const doc = new Y.Doc()
    for (const key of ['a', 'b', 'c', 'd']) doc.getMap<unknown>('shapes').set(key, new Uint8Array(1_500_000))
    const whole = Y.encodeStateAsUpdate(doc)
    const slices = [...sliceUpdate(whole)]
    const empty = slices.map((slice) => summaryOf(slice).isEmpty)
    expect(empty.slice(0, -4).every((isEmpty) => isEmpty)).toBe(true)
    expect(empty.slice(-4)).toEqual([false, false, false, false])
    expect(empty.length).toBeGreaterThan(6)
    const taken = Y.encodeStateAsUpdate(applyAll(slices, 'empty ones'))
    expect(Buffer.compare(taken, whole)).toBe(0)
  })

  test('[FC8] a large delete set is split as well', () => {
    const doc = new Y.Doc({ gc: false })
    const list = doc.getArray('list')
    list.insert(
      0,
      Array.from({ length: 4000 }, (_, i) => i),
    )
    doc.transact(() => {
      for (let i = 0; i < 2000; i++) list.delete(i, 1)
    })
    const whole = Y.encodeStateAsUpdate(doc)
    const slices = [...sliceUpdate(whole, 1000)]
    const deletesOnly = slices.map(summaryOf).filter((summary) => summary.structs === 0)
    expect(deletesOnly.length).toBeGreaterThan(3)
    expect(Math.max(...deletesOnly.map((summary) => summary.deleteRanges))).toBeLessThan(500)
    expectSame(applyAll(slices, 'deletes'), doc, 'deletes')
  })

  test('[IN5] an update that fits is handed back as it is; what is refused yields nothing', () => {
    const small = Y.encodeStateAsUpdate(randomWorld(3, { steps: 10 }).merged())
    expect([...sliceUpdate(small)]).toEqual([small])
    expect([...sliceUpdate(new Uint8Array(100_000).fill(0xff))]).toEqual([])
  })

  test('[IN5] references in a circle do not hang', () => {
    // 9:0 comes after 8:1, 8:0 comes after 9:1: nobody can have made it.
    const after = (client: number, clock: number) => [0x84, client, clock, 1, 0x61]
    const one = [2, 9, 0, ...after(8, 1), ...after(9, 0)]
    const two = [2, 8, 0, ...after(9, 1), ...after(8, 0)]
    const bytes = Uint8Array.from([2, ...one, ...two, 0])
    const structs = [...sliceUpdate(bytes, 12)].map((slice) => summaryOf(slice).structs)
    expect(structs.reduce((sum, count) => sum + count, 0)).toBe(4)
  })
})
