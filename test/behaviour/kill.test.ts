import { expect, test } from 'vitest'
import { serverKillRounds } from '../support/server-kill-rounds.ts'

test('[ST1] [ST2] [ST3] the server is killed twice: it starts again, with all that was seen a second before', async (t) => {
  const figures = await serverKillRounds(t, 2, Math.floor(Math.random() * 2 ** 32))
  expect(figures.checked).toBeGreaterThan(15)
}, 60_000)
