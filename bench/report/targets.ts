/** The targets of the project, as ratios within one run. */
import { LIMIT_P99_MS, passes } from '../scenarios/ladder.ts'
import { roomsOf } from '../scenarios/rooms.ts'
import type { Figures } from '../scenarios/scenario.ts'
import type { ServerId } from '../servers/catalogue.ts'
import { kibibytes, micros, millis } from './columns.ts'
import { find, isNoisy, type Line } from './summary.ts'

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
/** Up to this share of its main thread a server counts as free: edits are to be prompt there. */
const FREE = 0.5

export function targets(lines: readonly Line[]): Target[] {
  const list = new TargetList(lines)
  promptTargets(list)
  costTargets(list)
  capacityTargets(list)
  contentTargets(list)
  growthTargets(list)
  return list.found
}

/** Rows, made from what was measured: a scenario that did not run has none. */
class TargetList {
  readonly lines: readonly Line[]
  readonly found: Target[] = []

  constructor(lines: readonly Line[]) {
    this.lines = lines
  }
  figures(scenario: string, server: ServerId, variant?: string): Figures {
    return find(this.lines, scenario, server, variant)?.mean ?? {}
  }
  weir(scenario: string, variant?: string): Figures {
    return this.figures(scenario, 'y-weir', variant)
  }
  atLeast(scenario: string, what: string, value: number, show: Show, must: number | null, goal: number | null): void {
    this.#add(scenario, what, value, show, must, goal, '', (bound) => value >= bound)
  }
  atMost(scenario: string, what: string, value: number, show: Show, must: number | null, goal: number | null): void {
    this.#add(scenario, what, value, show, must, goal, '≤ ', (bound) => value <= bound)
  }

  #add(
    scenario: string,
    what: string,
    value: number,
    show: Show,
    must: number | null,
    goal: number | null,
    sign: string,
    holds: (bound: number) => boolean,
  ): void {
    if (!this.lines.some((line) => line.scenario === scenario)) return
    const said = (bound: number | null): string => (bound === null ? '' : `${sign}${show(bound)}`)
    const reached = (bound: number | null): boolean | null =>
      bound === null || !Number.isFinite(value) ? null : holds(bound)
    this.found.push({
      scenario,
      what,
      measured: show(value) + (isNoisy(this.lines, scenario) ? ' (noisy)' : ''),
      must: said(must),
      goal: said(goal),
      reachesMust: reached(must),
      reachesGoal: reached(goal),
    })
  }
}

type Show = (value: number) => string
const inMillis: Show = (value) => `${millis(value)} ms`
const inTenths: Show = (value) => `${micros(value)} ms`
const times: Show = (value) => (Number.isFinite(value) ? `${value.toFixed(value < 10 ? 2 : 1)} ×` : '–')
const inKibibytes: Show = (value) => `${kibibytes(value)} KiB`
const inPercent: Show = (value) => (Number.isFinite(value) ? `${(value * 100).toFixed(0)} %` : '–')
const whole: Show = (value) => (Number.isFinite(value) ? String(value) : '–')
const known = (value: number | undefined): number => value ?? Number.NaN

/** Where the main thread is at most half busy, in any scenario that the relay takes part in: what is added to its delays. */
function promptTargets(list: TargetList): void {
  let [p50, p99, cursor] = [Number.NaN, Number.NaN, Number.NaN]
  const worse = (a: number, b: number): number => (Number.isNaN(a) ? b : Math.max(a, b))
  for (const { scenario, variant, server, mean } of list.lines) {
    if (server !== 'y-weir' || known(mean.mainShare) > FREE || mean.editP50 === undefined) continue
    if (mean.presenceP99 !== undefined) cursor = worse(cursor, mean.presenceP99)
    const relay = list.figures(scenario, 'relay', variant)
    if (relay.editP50 === undefined || relay.editP99 === undefined || known(relay.mainShare) > FREE) continue
    p50 = worse(p50, mean.editP50 - relay.editP50)
    p99 = worse(p99, known(mean.editP99) - relay.editP99)
  }
  list.atMost('rooms', 'main thread at most half busy: edit p50 over the relay’s, at worst', p50, inTenths, 0.5, 0.3)
  list.atMost('rooms', 'the same, edit p99', p99, inMillis, 8, 4)
  list.atMost('rooms', 'the same, cursor p99', cursor, inMillis, 20, 17)
}

function costTargets(list: TargetList): void {
  const cost = (scenario: string, server: ServerId, variant?: string): number =>
    known(list.figures(scenario, server, variant).cpuPerDeliveryUs)
  const against = (server: ServerId, scenario: string, variant?: string): number =>
    cost(scenario, 'y-weir', variant) / cost(scenario, server, variant)
  const bounds: readonly [string, number, number | null][] = [
    [roomsOf(1, 2), 1, null],
    [roomsOf(1), 0.7, null],
    [roomsOf(10), 0.6, null],
    [roomsOf(50), 0.48, 0.4],
  ]
  for (const [variant, must, goal] of bounds) {
    const what = `${variant}: CPU per delivery, times the y-websocket server’s`
    list.atMost('rooms', what, against('y-websocket', 'rooms', variant), times, must, goal)
  }
  const whatRelay = `${roomsOf(50)}: CPU per delivery, times the raw relay’s`
  list.atMost('rooms', whatRelay, against('relay', 'rooms', roomsOf(50)), times, 1.8, 1.4)
  const cheaper = 'CPU per delivery, times cheaper than the y-websocket server'
  list.atLeast('class', cheaper, 1 / against('y-websocket', 'class'), times, 7, 10)
  list.atMost('class', 'edit p99', known(list.weir('class').editP99), inMillis, 15, 8)
  list.atLeast('hall', `${cheaper} at what it delivers`, 1 / against('y-websocket', 'hall'), times, 12, 20)
  list.atMost('hall', 'edit p99', known(list.weir('hall').editP99), inMillis, 45, 30)
  const disk =
    known(list.weir('storage', 'lmdb').cpuPerDeliveryUs) / known(list.weir('storage', 'memory').cpuPerDeliveryUs)
  list.atMost('storage', 'CPU with storage on, times without', disk, times, 1.25, null)
}

function capacityTargets(list: TargetList): void {
  const ours = capacity(list.lines, 'rooms', 'y-weir')
  const theirs = capacity(list.lines, 'rooms', 'y-websocket')
  const limit = `edit p99 ≤ ${LIMIT_P99_MS} ms`
  list.atLeast(
    'rooms',
    `people in rooms of four at ${limit} (${whole(ours)} : ${whole(theirs)}), times the y-websocket server’s`,
    ours / theirs,
    times,
    2.5,
    4,
  )
  const many = capacity(list.lines, 'people', 'y-weir')
  const few = capacity(list.lines, 'people', 'y-websocket')
  list.atLeast(
    'people',
    `people in one room at ${limit} (${whole(many)} : ${whole(few)}), times the y-websocket server’s`,
    many / few,
    times,
    6,
    null,
  )
  list.atLeast('people', `people in one room at ${limit}`, many, whole, 500, 1000)

  const beside = list.weir('neighbour', 'beside a hall')
  list.atMost('neighbour', 'the pair’s edits beside a hall of 200: p50', known(beside.editP50), inTenths, 2, 1)
  list.atMost('neighbour', 'the same, p99', known(beside.editP99), inMillis, 12, 6)
  list.atMost(
    'neighbour',
    'a burst ends: prompt again after',
    known(list.weir('neighbour', 'after it').promptAfterMs),
    inMillis,
    1000,
    300,
  )
}

function contentTargets(list: TargetList): void {
  const reading = known(list.weir('stall', 'all read').editP99)
  const stalled = list.weir('stall', 'a fifth stalled')
  const what = `change of edit p99 when a fifth does not read (${inMillis(reading)} → ${inMillis(known(stalled.editP99))})`
  // Where all of it is a few milliseconds, a share says nothing.
  list.atMost(
    'stall',
    `${what}, beyond 5 ms`,
    Math.max(0, known(stalled.editP99) - 5) / reading - 1,
    inPercent,
    0.2,
    null,
  )
  list.atMost('stall', 'most held for one client', known(stalled.heldBytes), inKibibytes, MOST_HELD, null)

  const inTime = known(list.weir('storm').allSyncedMs) / known(list.figures('storm', 'y-websocket').allSyncedMs)
  list.atMost('storm', 'time until all are synced, of the y-websocket server’s', inTime, times, 0.5, 0.25)
  list.atMost('storm', 'worst stall seen in another room', known(list.weir('storm').worstStallMs), inMillis, 100, null)
  list.atMost('idle', 'RSS per connection', known(list.weir('idle').rssPerConnection), inKibibytes, 7.5 * KiB, 5 * KiB)
}

function growthTargets(list: TargetList): void {
  const cost = (variant: string): number => known(list.weir('growth', variant).cpuPerDeliveryUs)
  const both = (a: string, b: string): string => `(${micros(cost(a))} → ${micros(cost(b))} µs)`
  const row = (what: string, from: string, to: string, must: number | null): void =>
    list.atMost('growth', `CPU per delivery, ${what} ${both(from, to)}`, cost(to) / cost(from), times, must, null)
  row('10 → 100 rooms', '10 rooms', '100 rooms', 1.2)
  row('20 → 200 clients in a room', '20 clients', '200 clients', 1)
  row('board of 1 → 10 MiB', '1.0 MiB board', '10.0 MiB board', null)
}

/** Clients at the largest load, of those tried, that worked in every round. */
export function capacity(lines: readonly Line[], scenario: string, server: ServerId): number {
  let most = 0
  for (const line of lines) {
    if (line.scenario !== scenario || line.server !== server) continue
    if (line.rounds.every(passes)) most = Math.max(most, line.mean.clients ?? 0)
  }
  return most === 0 ? Number.NaN : most
}
