/** The measurement that most scenarios make: a crew works at a fixed pace, a window is looked at, the outcome is checked. */
import * as Y from 'yjs'
import { Crew, type CrewWork } from '../load/crew.ts'
import { difference, FullClient } from '../load/full-client.ts'
import type { Tally } from '../load/tally.ts'
import { sleep, within } from '../load/waiting.ts'
import type { RunningServer } from '../servers/running-server.ts'
import { type Context, type Figures, type Measurement, type Verdict, window } from './scenario.ts'

export interface SteadyWork extends Omit<CrewWork, 'longestMs' | 'roomPrefix'> {
  readonly variant?: string
  readonly roomPrefix?: string
  /** Done when everybody is in, before the warm-up. */
  readonly prepare?: (crew: Crew) => Promise<void>
  /** Called now and then during the window; may fail. */
  readonly look?: () => Promise<void>
  /** Done when the sending has stopped, before the outcome is checked. */
  readonly release?: (crew: Crew) => void
  readonly warmupMs?: number
  readonly windowMs?: number
}

const CONNECT_TIMEOUT_MS = 60_000
const WARMING = { rooms: 16, members: 4, editsPerSecond: 15, presencePerSecond: 15, echoes: false }
const FRESH_TIMEOUT_MS = 20_000
const LOOK_EVERY_MS = 1000
const LOAD_LIMIT = 0.9

/** A server of its own, warmed, for one measurement. */
export async function steadyAlone(context: Context, work: SteadyWork, kind = context.kind): Promise<Measurement> {
  const server = await context.startServer(kind)
  await warm(context, server)
  const row = await steady(context, server, work)
  await server.stop()
  return row
}

/** `server` may have other rooms; the crew leaves when it is measured. */
export async function steady(context: Context, server: RunningServer, work: SteadyWork): Promise<Measurement> {
  const { timing, conditions, kind } = context
  const { warmupMs = timing.warmupMs, windowMs = timing.windowMs, variant = '', roomPrefix = 'bench-' } = work
  const crew = context.use(new Crew(server.address, { ...work, roomPrefix, longestMs: warmupMs + windowMs + 5000 }))
  await crew.connect(CONNECT_TIMEOUT_MS)
  await work.prepare?.(crew)
  const countersBefore = await serverCounters(server)

  crew.start()
  await sleep(warmupMs)
  crew.tally.clear()
  const bytesBefore = crew.bytesRead
  const looking = work.look === undefined ? null : setInterval(() => void work.look!().catch(() => {}), LOOK_EVERY_MS)
  const windowName = [context.scenario, variant, context.round].filter((part) => part !== '').join('-')
  const { cpuMs, elapsedMs, ...shares } = await window(server, conditions, windowName.replaceAll(' ', '-'), windowMs)
  if (looking !== null) clearInterval(looking)
  const figures = {
    clients: work.rooms * work.members,
    ...tallied(crew.tally, cpuMs, elapsedMs),
    ...shares,
    rssBytes: server.residentBytes(),
    bytesOutPerSecond: ((crew.bytesRead - bytesBefore) / elapsedMs) * 1000,
  }
  crew.stop()
  work.release?.(crew)

  const outcome = await check(crew, server, timing.settleMs, kind.keepsBoards)
  const notes = [
    ...outcome.notes,
    ...crew.complaints(),
    ...(await serverCounters(server)).filter((line) => !countersBefore.includes(line)),
  ]
  if (shares.loadShare > LOAD_LIMIT) notes.push('the load was at its limit: delays and deliveries may be its own')
  if (crew.pace.skipped > 0) notes.push(`the load left out ${crew.pace.skipped} sends`)
  crew.close()
  return context.measurement(variant, outcome.verdict, figures, notes)
}

/**
 * Gets the server's code compiled: what runs once a tick in one big room runs thousands of times in sixteen small ones. A
 * server that has been up for an hour is what is of interest.
 */
export async function warm(context: Context, server: RunningServer): Promise<void> {
  const { compileMs } = context.timing
  const crew = context.use(new Crew(server.address, { ...WARMING, longestMs: compileMs, roomPrefix: 'warm-' }))
  await crew.connect(CONNECT_TIMEOUT_MS)
  crew.start()
  await sleep(compileMs)
  crew.stop()
  await crew.settled(context.timing.settleMs)
  crew.close()
}

function tallied(tally: Tally, cpuMs: number, elapsedMs: number): Figures {
  const deliveries = tally.edits + tally.presence
  const due = tally.dueEdits + tally.duePresence
  const all = tally.editDelay.with(tally.presenceDelay)
  return {
    cpuPerDeliveryUs: (cpuMs * 1000) / deliveries,
    deliveriesPerSecond: (deliveries / elapsedMs) * 1000,
    // What was sent just before the window arrives in it, what is sent last arrives after it.
    share: Math.min(1, deliveries / due),
    p50: all.quantile(0.5),
    p99: all.quantile(0.99),
    editP50: tally.editDelay.quantile(0.5),
    editP99: tally.editDelay.quantile(0.99),
    ...(tally.presence > 0 && {
      superseded: tally.superseded / tally.presence,
      presenceP50: tally.presenceDelay.quantile(0.5),
      presenceP99: tally.presenceDelay.quantile(0.99),
    }),
  }
}

/** Everybody has everything, and the member with a document equals a newcomer. */
async function check(
  crew: Crew,
  server: RunningServer,
  settleMs: number,
  keepsBoards: boolean,
): Promise<{ verdict: Verdict; notes: string[] }> {
  if (!(await crew.settled(settleMs))) {
    if (server.hasExited) return { verdict: 'FAILED', notes: [`the server died: ${server.complaints}`] }
    return {
      verdict: crew.complaints().length === 0 ? 'overloaded' : 'FAILED',
      notes: [`not everything had arrived ${Math.round(settleMs / 1000)} s after the last send`],
    }
  }
  const doc = crew.witness.doc!
  const { ledger, clients } = crew.rooms[0]!
  const had = Y.decodeStateVector(Y.encodeStateVector(doc))
  const sent = clients.map((_, author) => ledger.endClock(author))
  const lost = sent.filter((clock, author) => (had.get(ledger.clientId(author)) ?? 0) !== clock).length
  if (crew.gapped > 0) return { verdict: 'FAILED', notes: [] }
  if (lost > 0) return { verdict: 'FAILED', notes: [`the witness lacks edits of ${lost} authors`] }
  if (!keepsBoards) return { verdict: 'ok', notes: [] }
  const fresh = new FullClient(server.address, crew.rooms[0]!.name)
  try {
    await within(FRESH_TIMEOUT_MS, 'joining at the end', fresh.joined)
    const differs = difference(doc, fresh.doc)
    return differs === null
      ? { verdict: 'ok', notes: [] }
      : { verdict: 'FAILED', notes: [`witness and newcomer: ${differs}`] }
  } catch (error) {
    return { verdict: 'FAILED', notes: [String(error)] }
  } finally {
    fresh.close()
  }
}

/** What y-weir itself counted that should be nothing in a benchmark. */
async function serverCounters(server: RunningServer): Promise<string[]> {
  if (server.kind.id !== 'y-weir' || server.hasExited) return []
  const watched =
    /^(ws_rate_limit_exceeded_total|ws_backpressure_drops_total|ws_clients_dropped_total|ws_resyncs_total|ws_message_errors_total)(\{.*\})? (\d+)$/
  const counters: string[] = []
  const text = await server.get('/metrics').catch((error: unknown) => String(error))
  if (!text.startsWith('#')) return [`/metrics did not answer: ${text.slice(0, 100)}`]
  for (const line of text.split('\n')) {
    const match = watched.exec(line)
    if (match !== null && match[3] !== '0') counters.push(`${match[1]}${match[2] ?? ''} ${match[3]}`)
  }
  return counters
}
