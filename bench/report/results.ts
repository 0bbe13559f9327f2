/** bench/RESULTS.md. */
import type { Measurement, Scenario } from '../scenarios/scenario.ts'
import { scenarioTable, table } from './columns.ts'
import type { Machine } from './machine.ts'
import { plotTitles } from './plots.ts'
import { predictions } from './predictions.ts'
import { summarise } from './summary.ts'
import { type Target, targets } from './targets.ts'

/** One scenario as it was run last. */
export interface ScenarioRun {
  readonly scenario: string
  readonly date: string
  readonly machine: Machine
  /** Label and version of each server. */
  readonly versions: Readonly<Record<string, string>>
  readonly notes: readonly string[]
  readonly measurements: readonly Measurement[]
}

const said = (reached: boolean | null, bound: string): string =>
  bound === '' ? '' : reached === null ? 'not measured' : reached ? 'reached' : 'MISSED'

export function targetTable(rows: readonly Target[]): string {
  const columns = ['scenario', 'what', 'measured', 'must', '', 'goal', ''].map((title) => ({ title }))
  return table(
    columns,
    rows.map(({ scenario, what, measured, must, goal, reachesMust, reachesGoal }) => [
      scenario,
      what,
      measured,
      must,
      said(reachesMust, must),
      goal,
      said(reachesGoal, goal),
    ]),
  )
}

/** Notes of single measurements, each once per server and run. */
function remarks(measurements: readonly Measurement[]): string[] {
  const lines = measurements.flatMap(({ label, variant, round, notes }) =>
    notes.map((note) => `- ${label}${variant === '' ? '' : `, ${variant}`}, round ${round}: ${note}`),
  )
  return [...new Set(lines)]
}

export function resultsText(runs: readonly ScenarioRun[], scenarios: readonly Scenario[]): string {
  const lines = summarise(runs.flatMap(({ measurements }) => measurements))
  const text: string[] = [
    '# Results',
    '',
    'Written by `npm run bench`; how it is measured is in [README.md](README.md). Every figure is the mean of the rounds, cost and delay side by side.',
    'CPU is the server process, all threads, over the measured window; `main thread` is its loop alone; `load CPU` near 100 % means that delays are the load’s',
    'own, `others` is what anything else took of the server’s core and of the load’s meanwhile. `overloaded`: the server was so far behind that',
    'not everything had arrived when the time was over.',
    '',
    '## Targets',
    '',
    'Ratios within one run. `noisy`: in more than a third of the runs others took over a tenth of one of the two cores.',
    '',
    targetTable(targets(lines)),
    '',
    '## Measured',
  ]
  for (const { name, about } of scenarios) {
    const run = runs.find(({ scenario }) => scenario === name)
    if (run === undefined) continue
    const { machine, versions, date, measurements, notes } = run
    text.push('', `### ${name}`, '', `${about}.`, '')
    text.push(
      scenarioTable(
        name,
        lines.filter(({ scenario }) => scenario === name),
      ),
      '',
    )
    text.push(...remarks(measurements), ...notes.map((note) => `- ${note}`), '')
    const servers = Object.entries(versions).map(([label, version]) => `${label} ${version}`)
    const { cpu, cores, memoryGiB, kernel, node, revision } = machine
    text.push(
      `${date} · ${cpu}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}, Node ${node} · y-weir at ${revision} · ${servers.join(' · ')}`,
    )
  }
  for (const [file, title] of plotTitles(lines)) text.push('', `![${title}](plots/${file})`)
  const foreseen = predictions(lines)
  if (foreseen.length > 0) {
    text.push(
      '',
      '## Predicted',
      '',
      'Arithmetic on the above, not measured: CPU taken to grow with the number of rooms.',
      '',
    )
    text.push(...foreseen.map((line) => `- ${line}`))
  }
  return `${text.join('\n').replaceAll(/\n{3,}/g, '\n\n')}\n`
}
