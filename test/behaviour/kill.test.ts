import { expect, test } from 'vitest'
import { serverKillRounds } from '../support/server-kill-rounds.ts'

test('[ST1] [ST2] [ST3] the server is killed 4 times: it starts again, with all that was seen a second before', async (t) => {
  const figures = await serverKillRounds(t, 4, Math.floor(Math.random() * 2 ** 32))
  expect(figures.checked).toBeGreaterThan(50)
  expect(figures.compactions).toBeGreaterThan(0)
}, 60_000)
