import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { checkStateVector, checkUpdate, checkUpdateInSteps, MAX_CLOCK } from '../../../src/update/update-check.ts'
import { fuzzSeed, Random, randomWorld } from '../../support/random-docs.ts'
import { ascii, KEY, update, varstring, varuint } from '../../support/update-bytes.ts'

const HUGE = varuint(2 ** 31)
const TEXT_A = [4, ...KEY, 1, 0x61]

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
/** A subdocument `g` with one option. */
const subdocument = (option: number[]): Uint8Array => update([[9, ...KEY, 1, 0x67, 118, 1, ...option]])

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
  ['[I1] a subdocument whose options have a guid', hex('01014d0009010178016776010467756964750000'), 'content'],
  ['a subdocument that is told what to collect', subdocument([0x08, ...ascii('gcFilter'), 120]), 'content'],
  ['a subdocument whose meta is its prototype', subdocument([0x09, ...ascii('__proto__'), 118, 0]), 'content'],
  ['a subdocument with a constructor', subdocument([0x0b, ...ascii('constructor'), 126]), 'content'],
  ['a subdocument that collects `1`', subdocument([2, ...ascii('gc'), 125, 1]), 'content'],
  ['a subdocument that loads `null`', subdocument([8, ...ascii('autoLoad'), 126]), 'content'],
  ['a subdocument in the collection `[]`', subdocument([0x0c, ...ascii('collectionid'), 117, 0]), 'content'],
  ['a value with bytes for a prototype', update([[8, ...KEY, 1, 118, 1, 9, ...ascii('__proto__'), 116, 0]]), 'content'],
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
    // The best of ten, of the process's own time: the machine may be busy, and the compiler late.
    const took = Array.from({ length: 10 }, () => {
      const before = process.cpuUsage()
      expect(checkUpdate(bytes)).toEqual({ ok: false, reason })
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    expect(Math.min(...took)).toBeLessThan(5)
  })

  test('[IN5] the options that Yjs gives a subdocument, or a port of it does, are taken as they are', () => {
    const map = new Y.Doc().getMap('m')
    map.set('a', new Y.Doc({ guid: 'a', gc: false, autoLoad: true, meta: { title: 'inner', tags: [1, 2] } }))
    map.set('b', new Y.Doc())
    expect(checkUpdate(Y.encodeStateAsUpdate(map.doc!))).toMatchObject({ ok: true, summary: { subdocuments: 2 } })
    for (const option of [
      [2, ...ascii('gc'), 120],
      [10, ...ascii('shouldLoad'), 121],
      [12, ...ascii('collectionId'), 119, 1, 0x63],
      [8, ...ascii('encoding'), 122, 0, 0, 0, 0, 0, 0, 0, 1],
    ]) {
      expect(checkUpdate(subdocument(option)).ok, String.fromCharCode(...option)).toBe(true)
    }
    // A key called `__proto__` that changes nothing does no harm.
    expect(checkUpdate(update([[8, ...KEY, 1, 118, 1, 9, ...ascii('__proto__'), 126]])).ok).toBe(true)
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
