/** How figures look in tables, and which a scenario shows. */
import type { Figures } from '../scenarios/scenario.ts'
import type { Line } from './summary.ts'

export interface Column {
  readonly title: string
  cell(line: Line): string
}

const MISSING = '–'
const shown = (format: (value: number) => string) => (value: number | undefined) =>
  value === undefined || !Number.isFinite(value) ? MISSING : format(value)

/** Three digits or so. */
export const micros = shown((value) => (value < 10 ? value.toFixed(2) : value.toFixed(1)))
export const millis = shown((value) => (value < 10 ? value.toFixed(1) : value.toFixed(0)))
export const percent = shown((value) => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`)
const mebibytes = shown((value) => (value / 2 ** 20).toFixed(0))
export const kibibytes = shown((value) => (value / 1024).toFixed(1))
export const megabytes = shown((value) => (value / 1e6).toFixed(value < 1e7 ? 1 : 0))
const whole = shown((value) => Math.round(value).toLocaleString('en').replaceAll(',', ' '))

const figure = (title: string, name: keyof Figures, format: (value: number | undefined) => string): Column => ({
  title,
  cell: ({ mean }) => format(mean[name]),
})

const server: Column = { title: 'server', cell: ({ label }) => label }
const variant: Column = { title: 'run', cell: ({ variant }) => variant }
const verdict: Column = { title: 'outcome', cell: ({ verdict }) => verdict }

const STEADY: readonly Column[] = [
  figure('CPU / delivery, µs', 'cpuPerDeliveryUs', micros),
  figure('CPU', 'cpuShare', percent),
  figure('main thread', 'mainShare', percent),
  figure('edit p50, ms', 'editP50', millis),
  figure('edit p99', 'editP99', millis),
  figure('cursor p50', 'presenceP50', millis),
  figure('cursor p99', 'presenceP99', millis),
  figure('delivered', 'share', percent),
  figure('superseded', 'superseded', percent),
  figure('RSS, MiB', 'rssBytes', mebibytes),
  figure('out, MB/s', 'bytesOutPerSecond', megabytes),
  figure('load CPU', 'loadShare', percent),
  { title: 'others', cell: ({ mean }) => `${percent(mean.foreignShare)}, ${percent(mean.foreignLoadShare)}` },
]

function columnsOf(scenario: string): readonly Column[] {
  switch (scenario) {
    case 'storm':
      return [
        server,
        figure('all synced, ms', 'allSyncedMs', whole),
        figure('median, ms', 'medianSyncedMs', whole),
        figure('worst stall, ms', 'worstStallMs', millis),
        figure('before, ms', 'quietStallMs', millis),
        figure('RSS, MiB', 'rssBytes', mebibytes),
        figure('load CPU', 'loadShare', percent),
        verdict,
      ]
    case 'idle':
      return [
        server,
        figure('connections', 'clients', whole),
        figure('RSS each, KiB', 'rssPerConnection', kibibytes),
        figure('JS heap each, KiB', 'heapPerConnection', kibibytes),
        figure('RSS, MiB', 'rssBytes', mebibytes),
        verdict,
      ]
    case 'stall':
      return [server, variant, ...STEADY, figure('held for one, KiB', 'heldBytes', kibibytes), verdict]
    case 'neighbour':
      return [
        server,
        variant,
        figure('edit p50, ms', 'editP50', millis),
        figure('edit p99', 'editP99', millis),
        figure('worst', 'worstStallMs', millis),
        figure('prompt again after, ms', 'promptAfterMs', millis),
        figure('CPU', 'cpuShare', percent),
        figure('main thread', 'mainShare', percent),
        figure('load CPU', 'loadShare', percent),
        verdict,
      ]
    case 'rooms':
    case 'people':
    case 'growth':
    case 'storage':
      return [server, variant, ...STEADY, verdict]
    default:
      return [server, ...STEADY, verdict]
  }
}

/** A Markdown table that also reads well on a terminal. */
export function table(columns: readonly { readonly title: string }[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [line(columns.map(({ title }) => title)), rule, ...rows.map(line)].join('\n')
}

export function scenarioTable(scenario: string, lines: readonly Line[]): string {
  const columns = columnsOf(scenario)
  return table(
    columns,
    lines.map((line) => columns.map((column) => column.cell(line))),
  )
}
