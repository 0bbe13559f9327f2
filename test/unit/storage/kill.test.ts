import { test } from 'vitest'
import { killRounds } from '../../support/kill-rounds.ts'

test('[ST1] [ST2] [ST3] 3 kills at random moments: the store opens and holds what was durable', async () => {
  await killRounds(3)
}, 60_000)
