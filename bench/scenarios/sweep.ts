/** A room that grows, at hall's rates, until what anybody does takes longer than 100 ms to be seen. */
import { HALL } from './drawing.ts'
import type { Measurement, Scenario } from './scenario.ts'
import { steady, warm } from './steady.ts'

const SIZES = [2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100, 125, 150, 200, 250, 300, 400, 500]
const QUICK_SIZES = [2, 10, 30, 50, 100, 200]
export const LIMIT_P99_MS = 100
const LEAST_SHARE = 0.97

export const sweep: Scenario = {
  name: 'sweep',
  about: 'clients per room from 2 to 500 at 5 edits and 10 cursor moves a second each, until p99 passes 100 ms',
  deadlineMs: 400_000,
  run: async (context) => {
    const server = await context.startServer()
    await warm(context, server)
    const rows: Measurement[] = []
    for (const members of context.timing.quick ? QUICK_SIZES : SIZES) {
      const row = await steady(context, server, {
        ...HALL,
        members,
        variant: `${members} clients`,
        roomPrefix: `sweep-${members}-`,
        warmupMs: context.timing.quick ? 500 : 2000,
        windowMs: context.timing.quick ? 1000 : 4000,
      })
      rows.push(row)
      const { p99 = Number.NaN, share = 0 } = row.figures
      context.say(`${members} clients: p99 ${p99.toFixed(1)} ms, ${(share * 100).toFixed(0)} % delivered`)
      if (!passes(row)) break
    }
    return rows
  },
}

/** Whether a room of this size still works. */
export function passes({ verdict, figures: { p99 = Number.NaN, share = 0 } }: Measurement): boolean {
  return verdict === 'ok' && p99 <= LIMIT_P99_MS && share >= LEAST_SHARE
}
