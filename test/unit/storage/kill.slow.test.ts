import { test } from 'vitest'
import { killRounds } from '../../support/kill-rounds.ts'

test('[ST1] [ST2] [ST3] 30 kills at random moments: the store opens and holds what was durable', async () => {
  await killRounds(30)
}, 180_000)
