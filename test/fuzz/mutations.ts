import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { checkStateVector, checkUpdate, stripUnknownDeletes } from '../../src/update/update-check.ts'
import { sliceUpdate } from '../../src/update/update-slices.ts'
import { fuzzSeed, Random, randomUpdates } from '../support/random-docs.ts'

/** Bytes that mean something in many places: small counts, flags, value tags, lengths, ends of varints. */
const TELLING = [0, 1, 2, 4, 7, 10, 0x20, 0x40, 0x7f, 0x80, 0x84, 0x87, 0xc4, 0xff, 116, 117, 118, 119, 125, 127]

function mutate(random: Random, base: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = [...base]
  for (let i = random.pick([1, 1, 1, 2, 4]); i > 0; i--) {
    const at = random.int(bytes.length)
    switch (random.int(7)) {
      case 0:
        bytes[at] = random.int(256)
        break
      case 1:
        bytes[at] = random.pick(TELLING)
        break
      case 2:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.int(8))
        break
      case 3:
        bytes.splice(at, 1 + random.int(4))
        break
      case 4:
        bytes.splice(at, 0, random.pick(TELLING))
        break
      case 5:
        bytes.splice(at, random.int(8), ...other.subarray(random.int(other.length)).subarray(0, random.int(24)))
        break
      default:
        bytes[at] = ((bytes[at] ?? 0) + random.pick([1, -1])) & 0xff
    }
    if (bytes.length === 0) bytes.push(0)
  }
  return Uint8Array.from(bytes)
}

/** Mutates the bytes of updates that Yjs made, `mutations` times; the seed is printed. */
export function mutatedUpdates(mutations: number): void {
  test(`[IN5] ${mutations} mutated updates: the check never throws, and what it accepts Yjs can digest`, {
    timeout: 300_000,
  }, () => {
    const seed = fuzzSeed()
    const random = new Random(seed)
    let bases: Uint8Array[] = []
    let board: Uint8Array = new Uint8Array([0, 0])
    const tally = { refused: 0, applied: 0, threw: 0, spoiled: 0, slowest: 0, reasons: {} as Record<string, number> }
    const thrown: Record<string, number> = {}
    for (let i = 0; i < mutations; i++) {
      if (i % 2000 === 0) {
        bases = randomUpdates(seed + i, { steps: 40 }).filter((bytes) => bytes.length < 1500)
        board = random.pick(bases)
      }
      const bytes = mutate(random, random.pick(bases), random.pick(bases))
      const hex = () => `FUZZ_SEED=${seed} mutation ${i}: ${Buffer.from(bytes).toString('hex')}`
      try {
        checkStateVector(bytes)
        const check = checkUpdate(bytes)
        if (!check.ok) {
          tally.refused++
          tally.reasons[check.reason] = (tally.reasons[check.reason] ?? 0) + 1
          continue
        }
        stripUnknownDeletes(bytes, (client) => client % 50)
      } catch (error) {
        throw new Error(hex(), { cause: error })
      }
      for (const slice of sliceUpdate(bytes, 64)) expect(checkUpdate(slice).ok, hex()).toBe(true)
      const doc = new Y.Doc()
      if (random.chance(0.5)) Y.applyUpdate(doc, board)
      // The process's own time: a busy machine must not fail this.
      const before = process.cpuUsage()
      try {
        Y.applyUpdate(doc, bytes)
        tally.applied++
        // What the document then tells others must be something others can take.
        const state = checkUpdate(Y.encodeStateAsUpdate(doc))
        if (!state.ok) tally.spoiled++
      } catch (error) {
        tally.threw++
        const text = String(error)
        thrown[text] = (thrown[text] ?? 0) + 1
        if (process.env.FUZZ_SHOW !== undefined) console.log(hex(), (error as Error).stack)
      }
      const spent = process.cpuUsage(before)
      const took = (spent.user + spent.system) / 1000
      tally.slowest = Math.max(tally.slowest, took)
      expect(took, hex()).toBeLessThan(500)
    }
    console.log(`FUZZ_SEED=${seed}`, tally, thrown)
    expect(tally.spoiled, `FUZZ_SEED=${seed}`).toBe(0)
    expect(tally.applied).toBeGreaterThan(mutations / 20)
    // None of 98 000 accepted mutants has thrown in four runs. Whoever applies keeps one `try` around each all the same.
    expect(tally.threw / (tally.applied + tally.threw), `FUZZ_SEED=${seed}`).toBeLessThan(0.001)
  })
}
