/** Rounds put together: one line per scenario, variant and server. */
import type { Figures, Measurement, Verdict } from '../scenarios/scenario.ts'
import type { ServerId } from '../servers/catalogue.ts'

export interface Line {
  readonly scenario: string
  readonly variant: string
  readonly server: ServerId
  readonly label: string
  readonly rounds: readonly Measurement[]
  /** Means over the rounds. */
  readonly mean: Figures
  readonly verdict: Verdict
}

const BADNESS: readonly Verdict[] = ['ok', 'overloaded', 'FAILED']

export function summarise(measurements: readonly Measurement[]): Line[] {
  const groups = new Map<string, Measurement[]>()
  for (const measurement of measurements) {
    const key = `${measurement.scenario}|${measurement.variant}|${measurement.server}|${measurement.label}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [measurement])
    else group.push(measurement)
  }
  return [...groups.values()].map((rounds) => {
    const { scenario, variant, server, label } = rounds[0]!
    const worst = Math.max(...rounds.map(({ verdict }) => BADNESS.indexOf(verdict)))
    return { scenario, variant, server, label, rounds, mean: meanOf(rounds), verdict: BADNESS[worst]! }
  })
}

function meanOf(rounds: readonly Measurement[]): Figures {
  const mean: Figures = {}
  for (const name of Object.keys(rounds[0]!.figures) as (keyof Figures)[]) {
    const values = rounds.map(({ figures }) => figures[name]).filter((value) => value !== undefined)
    mean[name] = values.reduce((sum, value) => sum + value, 0) / values.length
  }
  return mean
}

/** Share of a core that others may take before figures mean little. A starved y-weir merges more and looks cheaper. */
const QUIET = 0.1

/** Whether something else was busy on the cores during more than a third of a scenario's runs. */
export function isNoisy(lines: readonly Line[], scenario: string): boolean {
  const runs = lines.filter((line) => line.scenario === scenario).flatMap(({ rounds }) => rounds)
  const disturbed = runs.filter(
    ({ figures: { foreignShare = 0, foreignLoadShare = 0 } }) => Math.max(foreignShare, foreignLoadShare) > QUIET,
  )
  return disturbed.length * 3 > runs.length
}

/** The line of one scenario and server. What was done wrong has no figures worth comparing. */
export function find(lines: readonly Line[], scenario: string, server: ServerId, variant?: string): Line | undefined {
  return lines.find(
    (line) =>
      line.scenario === scenario &&
      line.server === server &&
      line.verdict !== 'FAILED' &&
      (variant === undefined || line.variant === variant),
  )
}
