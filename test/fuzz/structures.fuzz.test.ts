import { expect, test } from 'vitest'
import { fuzzSeed } from '../support/random-docs.ts'
import { runStructures } from './structures.ts'

const WORLDS = 2000

test(`[IN5] ${WORLDS} worlds of updates made struct by struct: what is taken can be written again, and all agree`, {
  timeout: 300_000,
}, () => {
  const seed = fuzzSeed()
  const refused: Record<string, number> = {}
  let applied = 0
  for (let world = seed; world < seed + WORLDS; world++) {
    const tally = runStructures(world, { contradictions: world % 4 === 0 })
    applied += tally.applied
    for (const [reason, count] of Object.entries(tally.refused)) refused[reason] = (refused[reason] ?? 0) + count
  }
  // The worlds have to be hard ones, or the test says nothing.
  expect(applied, `FUZZ_SEED=${seed}`).toBeGreaterThan(5 * WORLDS)
  for (const reason of ['map_entry', 'neighbours', 'content', 'origin']) {
    expect(refused[reason] ?? 0, `FUZZ_SEED=${seed}, ${reason}`).toBeGreaterThan(0)
  }
})
