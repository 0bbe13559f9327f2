import pino from 'pino'
import { expect, test } from 'vitest'
import { LineBudget } from '../../../src/observe/line-budget.ts'
import { HeldClock } from '../../support/held-clock.ts'

interface Line {
  readonly event: string
  readonly leftOut?: number
}

test('lines of one event are bounded per second, over all clients; others, and errors, are not touched', async () => {
  const clock = new HeldClock()
  const budget = new LineBudget(10, clock.now)
  const lines: Line[] = []
  const log = pino({ hooks: budget.hooks() }, { write: (line) => void lines.push(JSON.parse(line) as Line) })
  const written = (event: string) => lines.filter((line) => line.event === event)

  for (let client = 0; client < 1000; client++) log.child({ client }).info({ event: 'refused' }, 'refused')
  expect(written('refused')).toHaveLength(100)
  expect(budget.leftOut).toBe(900)

  log.warn({ event: 'flood' }, 'flood')
  expect(written('flood')).toHaveLength(1)
  for (let i = 0; i < 300; i++) log.error({ event: 'edits_lost' }, 'edits lost')
  expect(written('edits_lost')).toHaveLength(300)

  await clock.advance(1000)
  for (let i = 0; i < 50; i++) log.info({ event: 'refused' }, 'refused')
  expect(written('refused')).toHaveLength(110)
  expect(written('refused').map(({ leftOut }) => leftOut ?? 0)).toEqual([
    ...Array(100).fill(0),
    900,
    ...Array(9).fill(0),
  ])
  expect(budget.leftOut).toBe(940)
})
