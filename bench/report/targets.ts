/** The targets of the project, as ratios within one run. */
import { LIMIT_P99_MS, passes } from '../scenarios/sweep.ts'
import { kibibytes, micros, millis } from './columns.ts'
import { best, find, isNoisy, type Line } from './summary.ts'

export interface Target {
  readonly scenario: string
  readonly what: string
  readonly measured: string
  readonly must: string
  readonly goal: string
  /** Null: cannot be said from what was measured. */
  readonly reachesMust: boolean | null
  readonly reachesGoal: boolean | null
}

const KiB = 1024
/** What the server may hold for a client by its promise FC1: the hard mark and one frame. */
const MOST_HELD = 1024 * KiB + 64 * KiB

const atLeast = (value: number, must: number, goal: number | null) =>
  verdicts(value, (bound) => value >= bound, must, goal)
const atMost = (value: number, must: number, goal: number | null) =>
  verdicts(value, (bound) => value <= bound, must, goal)
const verdicts = (value: number, holds: (bound: number) => boolean, must: number, goal: number | null) => ({
  reachesMust: Number.isFinite(value) ? holds(must) : null,
  reachesGoal: goal === null ? null : Number.isFinite(value) ? holds(goal) : null,
})

export function targets(lines: readonly Line[]): Target[] {
  const found: Target[] = []
  const add = (
    scenario: string,
    what: string,
    measured: string,
    must: string,
    goal: string,
    reached: Pick<Target, 'reachesMust' | 'reachesGoal'>,
  ): void => {
    if (lines.some((line) => line.scenario === scenario)) {
      const noise = isNoisy(lines, scenario) ? ' (noisy)' : ''
      found.push({ scenario, what, measured: measured + noise, must, goal, ...reached })
    }
  }
  const cpu = (scenario: string, server: Line['server']): number =>
    find(lines, scenario, server)?.mean.cpuPerDeliveryUs ?? Number.NaN
  const weir = (scenario: string, variant?: string) => find(lines, scenario, 'y-weir', variant)?.mean ?? {}
  const cheaper = (scenario: string, must: number, goal: number): void => {
    const ratio = cpu(scenario, 'y-websocket') / cpu(scenario, 'y-weir')
    const what = 'CPU per delivery, times cheaper than the y-websocket server'
    add(scenario, what, times(ratio), `${must} ×`, `${goal} ×`, atLeast(ratio, must, goal))
  }
  const p99 = (scenario: string, must: number): void => {
    const value = weir(scenario).p99 ?? Number.NaN
    add(scenario, 'p99 of all deliveries', `${millis(value)} ms`, `≤ ${must} ms`, '', atMost(value, must, null))
  }

  cheaper('studio', 2, 2.5)
  const overRelay = cpu('studio', 'y-weir') / cpu('studio', 'relay')
  add('studio', 'CPU per delivery, times the raw relay', times(overRelay), '≤ 3 ×', '≤ 2 ×', atMost(overRelay, 3, 2))
  cheaper('class', 7, 10)
  p99('class', 60)
  cheaper('hall', 20, 30)
  const relay = find(lines, 'hall', 'relay')
  const underRelay = (relay === undefined ? Number.NaN : best(relay, 'cpuPerDeliveryUs')) / cpu('hall', 'y-weir')
  const whatRelay = 'CPU per delivery, times cheaper than the raw relay at its best'
  add('hall', whatRelay, times(underRelay), '1.7 ×', '2.5 ×', atLeast(underRelay, 1.7, 2.5))
  p99('hall', 60)

  const light = weir('light').p50 ?? Number.NaN
  const added = light - (find(lines, 'light', 'relay')?.mean.p50 ?? Number.NaN)
  add(
    'light',
    'added delay of an edit, p50, over the raw relay',
    `${micros(added)} ms`,
    '≤ 1.5 ms',
    '≤ 0.5 ms',
    atMost(added, 1.5, 0.5),
  )

  const disk =
    (weir('storage', 'lmdb').cpuPerDeliveryUs ?? Number.NaN) /
    (weir('storage', 'memory').cpuPerDeliveryUs ?? Number.NaN)
  add('storage', 'CPU with storage on, times without', times(disk), '< 1.25 ×', '', atMost(disk, 1.25, null))

  const reading = weir('stall', 'all read')
  const stalled = weir('stall', 'a fifth stalled')
  const change = (stalled.p99 ?? Number.NaN) / (reading.p99 ?? Number.NaN) - 1
  const whatStall = 'change of p99 when a fifth does not read'
  const measuredStall = `${signedPercent(change)} (${millis(reading.p99)} → ${millis(stalled.p99)} ms)`
  add('stall', whatStall, measuredStall, '≤ +20 %', '', atMost(change, 0.2, null))
  const held = stalled.heldBytes ?? Number.NaN
  add(
    'stall',
    'most held for one client',
    `${kibibytes(held)} KiB`,
    `≤ ${MOST_HELD / KiB} KiB`,
    '',
    atMost(held, MOST_HELD, null),
  )

  const inTime =
    (weir('storm').allSyncedMs ?? Number.NaN) / (find(lines, 'storm', 'y-websocket')?.mean.allSyncedMs ?? Number.NaN)
  const whatStorm = 'time until all are synced, of the y-websocket server’s'
  add('storm', whatStorm, times(inTime), '≤ 0.5 ×', '≤ 0.25 ×', atMost(inTime, 0.5, 0.25))
  const worst = weir('storm').worstStallMs ?? Number.NaN
  add('storm', 'worst stall seen in another room', `${millis(worst)} ms`, '≤ 100 ms', '', atMost(worst, 100, null))

  const each = weir('idle').rssPerConnection ?? Number.NaN
  add('idle', 'RSS per connection', `${kibibytes(each)} KiB`, '≤ 8 KiB', '≤ 5 KiB', atMost(each, 8 * KiB, 5 * KiB))

  growthTargets(lines, add)

  const ours = clientsPerRoom(lines, 'y-weir')
  const theirs = clientsPerRoom(lines, 'y-websocket')
  const whatSweep = `clients per room at p99 ≤ ${LIMIT_P99_MS} ms, times the y-websocket server’s`
  const more = ours / theirs
  add('sweep', whatSweep, `${times(more)} (${ours} : ${theirs})`, '4 ×', '8 ×', atLeast(more, 4, 8))
  return found
}

function growthTargets(
  lines: readonly Line[],
  add: (...row: [string, string, string, string, string, Pick<Target, 'reachesMust' | 'reachesGoal'>]) => void,
): void {
  const cost = (variant: string): number =>
    find(lines, 'growth', 'y-weir', variant)?.mean.cpuPerDeliveryUs ?? Number.NaN
  const rooms = cost('100 rooms') / cost('10 rooms')
  const both = (a: string, b: string): string => `${micros(cost(a))} → ${micros(cost(b))} µs`
  add(
    'growth',
    'CPU per delivery, 10 → 100 rooms',
    `${times(rooms)} (${both('10 rooms', '100 rooms')})`,
    '≤ 1.2 ×',
    '',
    atMost(rooms, 1.2, null),
  )
  const clients = cost('200 clients') / cost('20 clients')
  add(
    'growth',
    'CPU per delivery, 20 → 200 clients in a room',
    `${times(clients)} (${both('20 clients', '200 clients')})`,
    '< 1 ×',
    '',
    atMost(clients, 1, null),
  )
  const board = cost('10.0 MiB board') / cost('1.0 MiB board')
  add(
    'growth',
    'CPU per delivery, board of 1 → 10 MiB',
    `${times(board)} (${both('1.0 MiB board', '10.0 MiB board')})`,
    '',
    '',
    { reachesMust: null, reachesGoal: null },
  )
}

/** The largest size, of those tried in growing order, up to which every one worked in every round. */
export function clientsPerRoom(lines: readonly Line[], server: Line['server']): number {
  let most = 0
  for (const line of lines) {
    if (line.scenario !== 'sweep' || line.server !== server) continue
    if (!line.rounds.every(passes)) break
    most = line.mean.clients ?? most
  }
  return most === 0 ? Number.NaN : most
}

const signedPercent = (value: number): string => (Number.isFinite(value) ? `${(value * 100).toFixed(0)} %` : '–')
const times = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(value < 10 ? 2 : 1)} ×` : '–')
