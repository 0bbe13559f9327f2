import { expect, test } from 'vitest'
import { runScenario } from './scenario.ts'

const SEEDS = 200

test(`[FC4] [FR4] [IN2] ${SEEDS} seeded lives of a room end with every client equal to the server`, async () => {
  const first = Number(process.env.FUZZ_SEED ?? 1)
  const totals = { resyncs: 0, drops: 0, limited: 0, relayed: 0, gathered: 0 }
  for (let seed = first; seed < first + SEEDS; seed++) {
    const { resyncs, drops, limited, relayed, gathered } = await runScenario(seed)
    totals.resyncs += resyncs
    totals.drops += drops
    totals.limited += limited
    totals.relayed += relayed
    totals.gathered += gathered
  }
  // The lives have to be hard ones, or the test says nothing.
  expect(totals.resyncs).toBeGreaterThan(SEEDS)
  expect(totals.drops).toBeGreaterThan(SEEDS)
  expect(totals.limited).toBeGreaterThan(SEEDS / 10)
  // Both ways, often.
  expect(totals.relayed).toBeGreaterThan(SEEDS * 5)
  expect(totals.gathered).toBeGreaterThan(SEEDS * 5)
}, 120_000)
