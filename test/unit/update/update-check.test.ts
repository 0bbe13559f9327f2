import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { deleteSetOf } from '../../../src/update/delete-set.ts'
import { checkStateVector, checkUpdate, MAX_VALUE_DEPTH, type UpdateSummary } from '../../../src/update/update-check.ts'
import { fuzzSeed, randomUpdates, randomWorld } from '../../support/random-docs.ts'
import { KEY, update, varstring, varuint } from '../../support/update-bytes.ts'

function summaryOf(bytes: Uint8Array): UpdateSummary {
  const check = checkUpdate(bytes)
  if (!check.ok) throw new Error(`refused as ${check.reason}: ${Buffer.from(bytes).toString('hex')}`)
  return check.summary
}

/** What Yjs's own decoder says about an update. */
function decoded(bytes: Uint8Array) {
  const { structs, ds } = Y.decodeUpdate(bytes)
  const sections: { client: number; from: number; to: number }[] = []
  for (const { id, length } of structs) {
    const last = sections.at(-1)
    if (last?.client === id.client) last.to = id.clock + length
    else sections.push({ client: id.client, from: id.clock, to: id.clock + length })
  }
  const items = structs.filter((each) => each instanceof Y.Item)
  const roots = items.flatMap((each) => (typeof each.parent === 'string' ? [each.parent] : []))
  const deletes = [...ds.clients].map(([client, ranges]) => ({
    client,
    end: Math.max(...ranges.map((range) => range.clock + range.len)),
  }))
  const leansOnOthers = items.some(({ id, origin, rightOrigin, parent }) =>
    [origin, rightOrigin, parent instanceof Y.ID ? parent : null].some((on) => on !== null && on.client !== id.client),
  )
  return {
    structs: structs.filter((each) => !(each instanceof Y.Skip)).length,
    leansOnOthers,
    formats: items.some((each) => each.content instanceof Y.ContentFormat),
    skips: structs.filter((each) => each instanceof Y.Skip).length,
    collected: structs.filter((each) => each instanceof Y.GC).length,
    types: items.filter((each) => each.content instanceof Y.ContentType).length,
    subdocuments: items.filter((each) => each.content instanceof Y.ContentDoc).length,
    rootNames: [...new Set(roots)],
    authors: sections.length,
    deleteRanges: [...ds.clients.values()].reduce((sum, ranges) => sum + ranges.length, 0),
    sections,
    deletes,
  }
}

describe('what Yjs makes', () => {
  test('[IN5] every update that Yjs makes is accepted, and the summary says what Yjs decodes', () => {
    const seed = fuzzSeed()
    const kinds = new Set<string>()
    for (let round = 0; round < 25; round++) {
      for (const bytes of randomUpdates(seed + round)) {
        const { isEmpty, containers, deletedUnits, deleteSetAt, places, neighbours, ...rest } = summaryOf(bytes)
        const { lastClient, lastClock, lastIsKeyed, ...summary } = rest
        const said = decoded(bytes)
        expect(summary, `FUZZ_SEED=${seed + round}`).toEqual(said)
        expect(isEmpty).toBe(said.structs === 0 && said.deleteRanges === 0)
        expect(containers).toBeGreaterThanOrEqual(0)
        const last = Y.decodeUpdate(bytes).structs.at(-1)
        if (last instanceof Y.Item) {
          const follows = last.origin ?? last.rightOrigin
          expect(lastClient).toBe(follows?.client ?? -1)
          if (follows !== null) expect(lastClock).toBe(follows.clock)
          else expect(lastIsKeyed).toBe(last.parentSub !== null)
        }
        const { ds } = Y.decodeUpdate(bytes)
        expect(Y.decodeUpdate(Uint8Array.from([0, ...bytes.subarray(deleteSetAt)])).ds).toEqual(ds)
        const deletes = [...ds.clients].filter(([, ranges]) => ranges.length > 0)
        expect([...deleteSetOf(bytes, deleteSetAt).clients]).toEqual(
          deletes.map(([client, ranges]) => [client, ranges.map(({ clock, len }) => ({ clock, len }))]),
        )
        if (places === 'fine') expect(neighbours).toEqual([])
        if (places === 'if_neighbours') expect(neighbours.length % 5).toBe(0)
        for (const struct of Y.decodeUpdate(bytes).structs) {
          kinds.add(struct instanceof Y.Item ? struct.content.constructor.name : struct.constructor.name)
        }
      }
    }
    // The generator has to make all of it, or the property says little.
    const all = ['GC', 'Skip', 'Deleted', 'Binary', 'String', 'Embed', 'Format', 'Type', 'Any', 'Doc']
    expect([...kinds].map((kind) => kind.replace(/^_?Content/, '')).sort()).toEqual(all.sort())
  })

  test('[IN5] state vectors that Yjs makes are accepted and counted', () => {
    for (let seed = 0; seed < 50; seed++) {
      const doc = randomWorld(seed).merged()
      const vector = Y.encodeStateVector(doc)
      expect(checkStateVector(vector)).toEqual({ ok: true, clients: Y.decodeStateVector(vector).size })
    }
  })

  test('[IN5] an update without anything is empty, not malformed', () => {
    expect(summaryOf(Uint8Array.of(0, 0))).toMatchObject({ isEmpty: true, structs: 0, deleteRanges: 0 })
  })

  test('[IN5] 100 000 characters typed and deleted offline are a few bytes with a high clock', () => {
    const doc = new Y.Doc()
    doc.getText('t').insert(0, 'x'.repeat(100_000))
    doc.getText('t').delete(0, 100_000)
    const bytes = Y.encodeStateAsUpdate(doc)
    expect(bytes.length).toBeLessThan(40)
    expect(summaryOf(bytes).sections[0]).toMatchObject({ from: 0, to: 100_000 })
  })

  test('[IN5] legacy JSON content is accepted, `undefined` included', () => {
    const json = [
      2,
      ...KEY,
      3,
      ...varstring('{"a":[1,-2.5e+3,"\\u00e9\\n"]}'),
      ...varstring('undefined'),
      ...varstring(' null '),
    ]
    const bytes = update([json])
    expect(summaryOf(bytes)).toMatchObject({ structs: 1, containers: 2, sections: [{ client: 9, from: 0, to: 3 }] })
    expect(decoded(bytes).sections).toEqual([{ client: 9, from: 0, to: 3 }])
  })

  test('[IN5] values nested 100 deep pass, 101 deep do not', () => {
    const nested = (levels: number) => {
      let value: unknown = 1
      for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { k: value }
      return value
    }
    for (const [levels, ok] of [
      [MAX_VALUE_DEPTH, true],
      [MAX_VALUE_DEPTH + 1, false],
    ] as const) {
      const doc = new Y.Doc()
      doc.getMap('m').set('any', nested(levels))
      expect(checkUpdate(Y.encodeStateAsUpdate(doc)).ok).toBe(ok)
      const rich = new Y.Doc()
      rich.getText('t').insertEmbed(0, nested(levels) as object)
      expect(checkUpdate(Y.encodeStateAsUpdate(rich)).ok).toBe(ok)
    }
  })

  test('[IN5] the summary tells of 200 000 maps in 2 MB', () => {
    const maps = Array.from({ length: 200_000 }, () => [7 | 0x80, 8, 0, 1])
    const bytes = Uint8Array.from([1, ...varuint(maps.length), 9, 0, ...maps.flat(), 0])
    expect(summaryOf(bytes)).toMatchObject({ structs: 200_000, types: 200_000 })
  })

  test('[IN5] values of many tiny objects are counted', () => {
    const doc = new Y.Doc()
    doc.getMap('m').set(
      'list',
      Array.from({ length: 1000 }, () => ({})),
    )
    expect(summaryOf(Y.encodeStateAsUpdate(doc)).containers).toBe(1001)
  })
})
