/**
 * The benchmark: every scenario, on every server, one after the other and twice round.
 *   options ─▶ peers, build ─▶ scenario × round × server ─▶ measurements ─▶ table, RESULTS.md, plots
 * This process is the load.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { within } from './load/waiting.ts'
import { isStandard, type Options, readOptions, USAGE, UsageError } from './options.ts'
import { scenarioTable } from './report/columns.ts'
import { machine } from './report/machine.ts'
import { plots } from './report/plots.ts'
import { resultsText, type ScenarioRun, targetTable } from './report/results.ts'
import { summarise } from './report/summary.ts'
import { targets } from './report/targets.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type Conditions, Context, type Measurement, type Scenario, type Timing } from './scenarios/scenario.ts'
import { catalogue, type ServerKind } from './servers/catalogue.ts'
import { takeCores } from './servers/cores.ts'
import { buildServer, installPeers } from './servers/install.ts'

const TIMING: Timing = { quick: false, compileMs: 20_000, warmupMs: 4000, windowMs: 8000, settleMs: 20_000 }
const QUICK: Timing = { quick: true, compileMs: 1500, warmupMs: 1000, windowMs: 2000, settleMs: 5000 }

const here = fileURLToPath(new URL('.', import.meta.url))
const say = (line: string): void => console.log(line)
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function measure(
  scenario: Scenario,
  kind: ServerKind,
  conditions: Conditions,
  round: number,
): Promise<Measurement[]> {
  const where = `${scenario.name} · round ${round} · ${kind.label}`
  say(`${new Date().toTimeString().slice(0, 8)}  ${where}`)
  const context = new Context(scenario.name, kind, conditions, round, (line) => say(`          ${line}`))
  try {
    return await within(scenario.deadlineMs, where, scenario.run(context))
  } catch (error) {
    say(`          FAILED: ${error instanceof Error ? error.message : error}`)
    return [context.measurement('', 'FAILED', {}, [error instanceof Error ? error.message : String(error)])]
  } finally {
    await context.end()
    // What one run leaves must not be collected during the next.
    collect()
  }
}

async function runScenario(
  scenario: Scenario,
  kinds: readonly ServerKind[],
  conditions: Conditions,
  rounds: number,
): Promise<Pick<ScenarioRun, 'measurements' | 'notes'>> {
  const measurements: Measurement[] = []
  const notes = new Set<string>()
  for (let round = 1; round <= rounds; round++) {
    // Back again: a machine that gets slower or faster meanwhile favours nobody.
    for (const kind of round % 2 === 1 ? kinds : [...kinds].reverse()) {
      const reason = scenario.leaveOut?.[kind.id]
      if (reason !== undefined) notes.add(`${kind.label}: left out, ${reason}`)
      else measurements.push(...(await measure(scenario, kind, conditions, round)))
    }
  }
  for (const { note } of kinds) if (note !== null) notes.add(note)
  if (conditions.cores.note !== null) notes.add(conditions.cores.note)
  const lines = summarise(measurements)
  say(`\n${scenario.name}: ${scenario.about}\n${scenarioTable(scenario.name, lines)}`)
  for (const { label, variant, round, notes } of measurements) {
    for (const note of notes) say(`  ${label}${variant === '' ? '' : `, ${variant}`}, round ${round}: ${note}`)
  }
  say('')
  return { measurements, notes: [...notes] }
}

/** Scenarios are run together or one by one: the last run of each is kept, with its date. */
function report(run: ScenarioRun): void {
  const file = `${here}plots/results.json`
  mkdirSync(`${here}plots`, { recursive: true })
  const old = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ScenarioRun[]) : []
  const all = [...old.filter(({ scenario }) => scenario !== run.scenario), run]
  writeFileSync(file, `${JSON.stringify(all, null, 1)}\n`)
  writeFileSync(`${here}RESULTS.md`, resultsText(all, SCENARIOS))
  const lines = summarise(all.flatMap(({ measurements }) => measurements))
  for (const [name, svg] of plots(lines)) writeFileSync(`${here}plots/${name}`, svg)
}

async function main(options: Options): Promise<void> {
  installPeers(say)
  if (options.build) buildServer(say)
  const conditions = { cores: takeCores(), timing: options.quick ? QUICK : TIMING, perf: options.perf }
  const kinds = catalogue(options).filter(({ id }) => options.servers === null || options.servers.includes(id))
  const facts = machine()
  const versions = Object.fromEntries(kinds.map(({ label, version }) => [label, version]))
  const all: Measurement[] = []
  for (const scenario of SCENARIOS) {
    if (!options.scenarios.includes(scenario.name)) continue
    const { measurements, notes } = await runScenario(scenario, kinds, conditions, options.rounds)
    const date = new Date().toISOString().slice(0, 16).replace('T', ' ')
    // After each: a run that is stopped half way has not been for nothing.
    if (isStandard(options)) report({ scenario: scenario.name, date, machine: facts, versions, notes, measurements })
    all.push(...measurements)
  }
  say(targetTable(targets(summarise(all))))
  if (isStandard(options)) say('written: bench/RESULTS.md, bench/plots/')
  else say('bench/RESULTS.md is left alone: these were not the standard conditions')
  process.exitCode = all.some(({ verdict, server }) => server === 'y-weir' && verdict === 'FAILED') ? 1 : 0
}

// Servers end with this process, however it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))

try {
  await main(readOptions(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
