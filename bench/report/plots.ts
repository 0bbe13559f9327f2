/** The sweep as pictures. */

import type { Figures } from '../scenarios/scenario.ts'
import { LIMIT_P99_MS } from '../scenarios/sweep.ts'
import type { Line } from './summary.ts'
import { chart, type Series } from './svg.ts'

/** File name to SVG; empty when there was no sweep. */
export function plots(lines: readonly Line[]): Map<string, string> {
  const sweep = lines.filter(({ scenario }) => scenario === 'sweep')
  const files = new Map<string, string>()
  if (sweep.length === 0) return files
  const x = 'clients in the room, each 5 edits and 10 cursor moves a second'
  files.set(
    'delay.svg',
    chart({
      title: 'Delay until another client has it, p99',
      x,
      y: 'ms',
      series: series(sweep, 'p99'),
      limit: { at: LIMIT_P99_MS, name: `${LIMIT_P99_MS} ms` },
    }),
  )
  files.set(
    'cpu.svg',
    chart({
      title: 'Server CPU per delivery',
      x,
      y: 'µs',
      series: series(sweep, 'cpuPerDeliveryUs'),
    }),
  )
  files.set(
    'core.svg',
    chart({
      title: 'Server CPU, share of one core',
      x,
      y: '%',
      series: series(sweep, 'cpuShare', 100),
      limit: { at: 100, name: 'one core' },
    }),
  )
  return files
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
