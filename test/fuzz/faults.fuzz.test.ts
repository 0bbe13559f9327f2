import { afterAll, expect, test } from 'vitest'
import { YjsFaults } from '../support/yjs-faults.ts'
import { runScenario } from './scenario.ts'

const SEEDS = 200
const faults = new YjsFaults()
afterAll(() => faults.restore())

test(`[RB1] ${SEEDS} seeded lives of a room in which calls into Yjs throw end with everybody equal, and all of it stored`, async () => {
  const first = Number(process.env.FUZZ_SEED ?? 1)
  let rebuilt = 0
  for (let seed = first; seed < first + SEEDS; seed++) rebuilt += (await runScenario(seed, 240, faults)).rebuilt
  // The lives have to be hard ones, or the test says nothing.
  expect(faults.injected).toBeGreaterThan(2 * SEEDS)
  expect(rebuilt).toBeGreaterThan(SEEDS)
}, 240_000)
