/** Loads that grow, on one server, one after the other, until it cannot follow. */
import type { Context, Measurement } from './scenario.ts'
import { type SteadyWork, steady, warm } from './steady.ts'

/** Longest that 99 of 100 edits may take to be seen, ms. */
export const LIMIT_P99_MS = 60
const LEAST_SHARE = 0.97
/** Loads in a row at which it could not follow: one alone may be somebody else's noise. */
const FAILURES = 2
const WINDOW_MS = 5000
const WARMUP_MS = 2500

export async function ladder(context: Context, steps: readonly SteadyWork[]): Promise<Measurement[]> {
  const server = await context.startServer()
  await warm(context, server)
  const rows: Measurement[] = []
  let failures = 0
  for (const step of steps) {
    const row = await steady(context, server, {
      ...step,
      roomPrefix: `${context.scenario}-${rows.length}-`,
      warmupMs: context.timing.quick ? 700 : WARMUP_MS,
      windowMs: context.timing.quick ? 1500 : WINDOW_MS,
    })
    rows.push(row)
    const { editP50 = Number.NaN, editP99 = Number.NaN, cpuPerDeliveryUs = Number.NaN, share = 0 } = row.figures
    context.say(
      `${step.variant}: ${cpuPerDeliveryUs.toFixed(2)} µs a delivery, edits p50 ${editP50.toFixed(1)}, p99 ${editP99.toFixed(1)} ms, ${(share * 100).toFixed(0)} % delivered`,
    )
    failures = passes(row) ? 0 : failures + 1
    if (failures === FAILURES) break
  }
  return rows
}

/** Whether a load still works. */
export function passes({ verdict, figures: { editP99 = Number.NaN, share = 0 } }: Measurement): boolean {
  return verdict === 'ok' && editP99 <= LIMIT_P99_MS && share >= LEAST_SHARE
}
