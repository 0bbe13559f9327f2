import { expect, test } from 'vitest'
import { serverKillRounds } from '../support/server-kill-rounds.ts'

test('[ST1] [ST2] [ST3] the server is killed 30 times, while drawing, compacting and first saving', async (t) => {
  const figures = await serverKillRounds(t, 30, Math.floor(Math.random() * 2 ** 32))
  console.log(figures)
  // The kills came when they should: with something at stake, and among compactions.
  expect(figures.checked).toBeGreaterThan(1_000)
  expect(figures.healed).toBeGreaterThan(0)
  expect(figures.compactions).toBeGreaterThan(20)
  expect(figures.amidCompactions).toBeGreaterThan(0)
}, 600_000)
