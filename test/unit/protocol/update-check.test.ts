import * as encoding from 'lib0/encoding'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  checkStateVector,
  checkUpdate,
  checkUpdateInSteps,
  MAX_CLOCK,
  MAX_VALUE_DEPTH,
  stripUnknownDeletes,
  type UpdateSummary,
} from '../../../src/protocol/update-check.ts'
import { fuzzSeed, Random, randomUpdates, randomWorld } from '../../support/random-docs.ts'

const KEY = [1, 1, 0x6d] // parent info 1: the root named `m`

/** An update of one author, 9, starting at clock 0: the structs' bytes, then an empty delete set unless given. */
function update(structs: number[][], deletes: number[] = [0]): Uint8Array {
  return Uint8Array.from([1, ...varuint(structs.length), 9, 0, ...structs.flat(), ...deletes])
}

function varuint(value: number): number[] {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, value)
  return [...encoding.toUint8Array(encoder)]
}

function varstring(text: string): number[] {
  const bytes = new TextEncoder().encode(text)
  return [...varuint(bytes.length), ...bytes]
}

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
  return {
    structs: structs.filter((each) => !(each instanceof Y.Skip)).length,
    skips: structs.filter((each) => each instanceof Y.Skip).length,
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
    for (let round = 0; round < 40; round++) {
      for (const bytes of randomUpdates(seed + round)) {
        const { isEmpty, containers, ...summary } = summaryOf(bytes)
        const said = decoded(bytes)
        expect(summary, `FUZZ_SEED=${seed + round}`).toEqual(said)
        expect(isEmpty).toBe(said.structs === 0 && said.deleteRanges === 0)
        expect(containers).toBeGreaterThanOrEqual(0)
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

const HUGE = varuint(2 ** 31)
const TEXT_A = [4, ...KEY, 1, 0x61]

/** name, bytes, reason */
const REFUSED: readonly (readonly [string, Uint8Array, string])[] = [
  ['nothing', new Uint8Array(0), 'empty'],
  ['a huge count of authors', Uint8Array.from([...HUGE, 1, 1, 0, 0, 1, 0]), 'count'],
  ['a huge count of structs', Uint8Array.from([1, ...HUGE, 9, 0, 0, 1, 0]), 'count'],
  ['a huge count of authors with deletes', Uint8Array.from([0, ...HUGE]), 'count'],
  ['a huge count of delete ranges', Uint8Array.from([0, 1, 9, ...HUGE, 0, 1]), 'count'],
  ['a huge count of values', update([[8, ...KEY, ...HUGE, 126]]), 'count'],
  ['a huge count of JSON values', update([[2, ...KEY, ...HUGE, 1, 0x31]]), 'count'],
  ['a huge array in a value', update([[8, ...KEY, 1, 117, ...HUGE, 126]]), 'count'],
  ['a huge object in a value', update([[8, ...KEY, 1, 118, ...HUGE, 0, 126]]), 'count'],
  ['a huge string', update([[4, ...KEY, ...HUGE, 0x61]]), 'truncated'],
  ['a huge blob', update([[3, ...KEY, ...HUGE, 0x61]]), 'truncated'],
  ['a run of 0xff', new Uint8Array(1 << 20).fill(0xff), 'varint'],
  ['a short run of 0xff', new Uint8Array(5).fill(0xff), 'truncated'],
  ['a run of 0x80, which lib0 reads as NaN', new Uint8Array(300).fill(0x80), 'varint'],
  ['a section without structs', Uint8Array.from([1, 0, 9, 0, 0]), 'count'],
  ['a GC of length 0', update([[0, 0]]), 'length'],
  ['a Skip of length 0', update([TEXT_A, [10, 0], [0, 1]]), 'length'],
  ['a deleted item of length 0', update([[1, ...KEY, 0]]), 'length'],
  ['an empty string', update([[4, ...KEY, 0]]), 'length'],
  ['no values', update([[8, ...KEY, 0]]), 'length'],
  ['no JSON values', update([[2, ...KEY, 0]]), 'length'],
  ['a length beyond any clock', update([[0, ...varuint(MAX_CLOCK + 1)]]), 'clock'],
  [
    'lengths that add up beyond any clock',
    update([
      [0, ...varuint(MAX_CLOCK)],
      [0, 1],
    ]),
    'clock',
  ],
  ['a start beyond any clock', Uint8Array.from([1, 1, 9, ...varuint(MAX_CLOCK + 1), 0, 1, 0]), 'clock'],
  ['an origin beyond any clock', update([[0x84, 8, ...varuint(MAX_CLOCK), 1, 0x61]]), 'clock'],
  ['authors in ascending order', Uint8Array.from([2, 1, 8, 0, 0, 1, 1, 9, 0, 0, 1, 0]), 'order'],
  ['an author twice', Uint8Array.from([2, 1, 9, 0, 0, 1, 1, 9, 5, 0, 1, 0]), 'order'],
  ['a flag on a GC', update([[0x80, 8, 0, 1]]), 'flags'],
  ['a reserved bit on a GC', update([[0x20, 1]]), 'flags'],
  ['a flag on a Skip', update([TEXT_A, [0x8a, 1], [0, 1]]), 'flags'],
  ['a parent that is neither root nor id', update([[4, 2, 1, 0x6d, 1, 0x61]]), 'flags'],
  ['struct kind 11', update([[11, ...KEY, 1]]), 'content'],
  ['struct kind 31', update([[31, ...KEY, 1]]), 'content'],
  ['shared type 7', update([[7, ...KEY, 7]]), 'content'],
  ['value tag 115', update([[8, ...KEY, 1, 115]]), 'content'],
  ['value tag 128', update([[8, ...KEY, 1, 128]]), 'content'],
  ['a subdocument whose options are null', update([[9, ...KEY, 1, 0x67, 126]]), 'content'],
  ['an origin that is the struct itself', update([[0x84, 9, 0, 1, 0x61]]), 'origin'],
  ['an origin in the own future', update([[0x84, 9, 7, 1, 0x61]]), 'origin'],
  ['a right origin in the own future', update([[0x44, 9, 7, 1, 0x61]]), 'origin'],
  ['a parent in the own future', update([[4, 0, 9, 7, 1, 0x61]]), 'origin'],
  ['a name that is not UTF-8', update([[4, 1, 1, 0xff, 1, 0x61]]), 'utf8'],
  ['text with a surrogate', update([[4, ...KEY, 3, 0xed, 0xa0, 0x80]]), 'utf8'],
  ['text in an overlong form', update([[4, ...KEY, 2, 0xc0, 0x80]]), 'utf8'],
  ['text that ends in a character', update([[4, ...KEY, 2, 0x61, 0xc3]]), 'utf8'],
  ['an embed that is no JSON', update([[5, ...KEY, ...varstring('{a:1}')]]), 'json'],
  ['an embed of `undefined`', update([[5, ...KEY, ...varstring('undefined')]]), 'json'],
  ['a format without a value', update([[6, ...KEY, ...varstring('bold'), 0]]), 'json'],
  ['JSON content that is no JSON', update([[2, ...KEY, 1, ...varstring('nul')]]), 'json'],
  [
    '5 000 arrays in each other',
    update([[8, ...KEY, 1, ...Array.from({ length: 5000 }, () => [117, 1]).flat(), 126]]),
    'nesting',
  ],
  [
    '5 000 objects in each other',
    update([[8, ...KEY, 1, ...Array.from({ length: 5000 }, () => [118, 1, 0]).flat(), 126]]),
    'nesting',
  ],
  ['an embed 5 000 deep', update([[5, ...KEY, ...varstring(`${'['.repeat(5000)}${']'.repeat(5000)}`)]]), 'nesting'],
  ['a delete range of length 0', Uint8Array.from([0, 1, 9, 1, 0, 0]), 'delete_set'],
  ['a delete range beyond any clock', Uint8Array.from([0, 1, 9, 1, 1, ...varuint(MAX_CLOCK)]), 'clock'],
  ['a byte too many', update([TEXT_A], [0, 0]), 'trailing'],
  ['a byte after an empty update', Uint8Array.of(0, 0, 0), 'trailing'],
  ['1 MB after the end', Uint8Array.from([...update([TEXT_A]), ...new Uint8Array(1 << 20)]), 'trailing'],
  [
    'one root name too many',
    update(Array.from({ length: 1025 }, (_, i) => [4, 1, ...varstring(`r${i}`), 1, 0x61])),
    'root_names',
  ],
]

describe('what Yjs never makes', () => {
  test.each(REFUSED)('[IN5] %s is refused in under 5 ms', (_name, bytes, reason) => {
    // The best of three: the machine may be busy with something else.
    const took = [1, 2, 3].map(() => {
      const before = performance.now()
      expect(checkUpdate(bytes)).toEqual({ ok: false, reason })
      return performance.now() - before
    })
    expect(Math.min(...took)).toBeLessThan(5)
  })

  test('[IN5] one author too many is refused, with structs or with deletes', () => {
    const limits = { rootNames: 10, authors: 3 }
    const sections = [9, 8, 7, 6].map((client) => [1, client, 0, 0, 1])
    const deletes = [9, 8, 7, 6].map((client) => [client, 1, 0, 1])
    for (const count of [3, 4]) {
      const expected = count === 3 ? { ok: true } : { ok: false, reason: 'authors' }
      const withStructs = Uint8Array.from([count, ...sections.slice(0, count).flat(), 0])
      const withDeletes = Uint8Array.from([0, count, ...deletes.slice(0, count).flat()])
      expect(checkUpdate(withStructs, limits)).toMatchObject(expected)
      expect(checkUpdate(withDeletes, limits)).toMatchObject(expected)
    }
  })

  test('[IN5] a check in steps pauses and says the same', () => {
    const inSteps = (bytes: Uint8Array, stepBytes: number) => {
      const steps = checkUpdateInSteps(bytes, stepBytes)
      for (let pauses = 0; ; pauses++) {
        const { done, value } = steps.next()
        if (done) return { check: value, pauses }
      }
    }
    for (const [, bytes, reason] of REFUSED) expect(inSteps(bytes, 3).check).toEqual({ ok: false, reason })
    const board = Y.encodeStateAsUpdate(randomWorld(11, { steps: 60 }).merged())
    expect(inSteps(board, 100).check).toEqual(checkUpdate(board))
    expect(inSteps(board, 100).pauses).toBeGreaterThan(5)
    expect(inSteps(board, 1 << 20).pauses).toBe(0)
  })

  test('[IN5] every proper beginning of an update is refused', () => {
    const bytes = Y.encodeStateAsUpdate(randomWorld(7, { steps: 20 }).merged())
    for (let end = 0; end < bytes.length; end++) expect(checkUpdate(bytes.subarray(0, end)).ok, `${end}`).toBe(false)
  })

  test('[IN5] V2 payloads are refused, or do nothing', () => {
    for (let seed = 0; seed < 100; seed++) {
      const v2 = Y.encodeStateAsUpdateV2(randomWorld(seed).merged())
      const check = checkUpdate(v2)
      expect(!check.ok || check.summary.isEmpty, `seed ${seed}`).toBe(true)
    }
  })

  test('[IN5] state vectors with false counts, junk or impossible clocks are refused', () => {
    const reasonOf = (...bytes: number[]) => checkStateVector(Uint8Array.from(bytes))
    expect(reasonOf()).toEqual({ ok: false, reason: 'empty' })
    expect(reasonOf(...HUGE, 1, 1)).toEqual({ ok: false, reason: 'count' })
    expect(reasonOf(1, 0xff, 0xff)).toEqual({ ok: false, reason: 'truncated' })
    expect(reasonOf(1, 1, 1, 0)).toEqual({ ok: false, reason: 'trailing' })
    expect(reasonOf(1, 1, ...varuint(MAX_CLOCK + 1))).toEqual({ ok: false, reason: 'clock' })
    expect(reasonOf(...new Uint8Array(300).fill(0xff))).toEqual({ ok: false, reason: 'varint' })
  })

  test('[IN5] the JSON walk agrees with JSON.parse', () => {
    const random = new Random(fuzzSeed())
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u12aF"',
      '"\\x"',
      '"',
      '0',
      '01',
      '-',
      '1.5',
      '.',
      'e3',
      'E-2',
      'true',
      'nul',
      'null',
      ' ',
      '\n',
      '\\',
      'é',
      '\u0001',
    ]
    for (let i = 0; i < 10_000; i++) {
      const valid = JSON.stringify({ a: [random.int(5), { b: '\u2028"', c: [] }], d: random.next(), e: {} })
      const at = random.int(valid.length)
      const text = random.chance(0.5)
        ? Array.from({ length: 1 + random.int(7) }, () => random.pick(pieces)).join('')
        : valid.slice(0, at) + random.pick(pieces) + valid.slice(at + random.int(3))
      let parses = true
      try {
        JSON.parse(text)
      } catch {
        parses = false
      }
      expect(checkUpdate(update([[5, ...KEY, ...varstring(text)]])).ok, text).toBe(parses)
    }
  })

  test('[IN5] the UTF-8 walk agrees with the strict decoder that Yjs uses', () => {
    const random = new Random(fuzzSeed())
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const likely = [0x41, 0x7f, 0x80, 0xa0, 0xbf, 0xc2, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0x9f, 0x90, 0x8f, 0xf5]
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from({ length: 1 + random.int(6) }, () =>
        random.chance(0.9) ? random.pick(likely) : random.int(256),
      )
      let units = -1
      try {
        units = strict.decode(Uint8Array.from(text)).length
      } catch {}
      const check = checkUpdate(update([[4, ...KEY, text.length, ...text]]))
      expect(check.ok ? check.summary.sections[0]!.to : -1, text.join()).toBe(units)
    }
  })
})

describe('deletes of what is not there', () => {
  test('[IN5] what remains parks nothing, and nothing that can be deleted is lost', () => {
    const seed = fuzzSeed()
    for (let round = 0; round < 40; round++) {
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
