/** Delay and cost against load, as pictures: what a server saves on one it may make somebody wait for on the other. */
import { LIMIT_P99_MS } from '../scenarios/ladder.ts'
import type { Figures } from '../scenarios/scenario.ts'
import type { Line } from './summary.ts'
import { type Chart, chart, type Series } from './svg.ts'

/** The scenarios whose runs are loads that grow, and what grows. */
const LADDERS = [
  { scenario: 'rooms', x: 'people in rooms of four, each 15 edits and 15 cursor moves a second' },
  { scenario: 'people', x: 'people in one room, each 5 edits and 10 cursor moves a second' },
] as const

/** File name to title, for what is there to be shown. */
export function plotTitles(lines: readonly Line[]): Map<string, string> {
  return new Map(
    LADDERS.flatMap(({ scenario, x }) => pictures(lines, scenario, x).map(([file, { title }]) => [file, title])),
  )
}

/** File name to SVG; empty when no ladder ran. */
export function plots(lines: readonly Line[]): Map<string, string> {
  return new Map(
    LADDERS.flatMap(({ scenario, x }) => pictures(lines, scenario, x).map(([file, picture]) => [file, chart(picture)])),
  )
}

function pictures(lines: readonly Line[], scenario: string, x: string): [string, Chart][] {
  const own = lines.filter((line) => line.scenario === scenario)
  if (own.length === 0) return []
  const limit = { at: LIMIT_P99_MS, name: `${LIMIT_P99_MS} ms` }
  return [
    [`${scenario}-p50.svg`, { title: 'Delay of an edit, p50', x, y: 'ms', series: series(own, 'editP50'), limit }],
    [`${scenario}-p99.svg`, { title: 'Delay of an edit, p99', x, y: 'ms', series: series(own, 'editP99'), limit }],
    [`${scenario}-cost.svg`, { title: 'Server CPU per delivery', x, y: 'µs', series: series(own, 'cpuPerDeliveryUs') }],
    [
      `${scenario}-core.svg`,
      {
        title: 'Server CPU, share of one core',
        x,
        y: '%',
        series: series(own, 'cpuShare', 100),
        limit: { at: 100, name: 'one core' },
      },
    ],
  ]
}

function series(lines: readonly Line[], name: keyof Figures, factor = 1): Series[] {
  const byServer = new Map<string, [number, number][]>()
  for (const { label, mean } of lines) {
    const points = byServer.get(label) ?? []
    byServer.set(label, points)
    const value = mean[name]
    if (value !== undefined && Number.isFinite(value)) points.push([mean.clients!, value * factor])
  }
  return [...byServer].map(([label, points]) => ({ name: label, points: points.sort(([a], [b]) => a - b) }))
}
