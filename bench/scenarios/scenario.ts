/** What a scenario is, and what it gives. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sleep } from '../load/waiting.ts'
import type { ServerId, ServerKind } from '../servers/catalogue.ts'
import type { Cores } from '../servers/cores.ts'
import { coreBusyMs } from '../servers/process-figures.ts'
import { RunningServer } from '../servers/running-server.ts'

/** Names and units of everything that is measured. */
export interface Figures {
  /** Clients connected. */
  clients?: number
  /** Server CPU over the window, all threads, share of a core (0 … 1). */
  cpuShare?: number
  /** Of that, the main thread's. */
  mainShare?: number
  /** Server CPU for one client's message reaching one other client, µs. */
  cpuPerDeliveryUs?: number
  deliveriesPerSecond?: number
  /** Deliveries made of those due, 0 … 1. */
  share?: number
  /** Presence deliveries by a newer state, of all presence deliveries, 0 … 1. */
  superseded?: number
  /** Delays of all deliveries, ms. */
  p50?: number
  p99?: number
  editP50?: number
  editP99?: number
  presenceP50?: number
  presenceP99?: number
  rssBytes?: number
  bytesOutPerSecond?: number
  /** CPU of the load over the window, share of a core: near 1, delays are the load's own. */
  loadShare?: number
  /** What others used of the server's core and of the load's during the window, shares: noise. */
  foreignShare?: number
  foreignLoadShare?: number
  /** Time until everybody had the board, ms. */
  allSyncedMs?: number
  medianSyncedMs?: number
  /** Longest delay of an edit in another room meanwhile, ms, and with nobody joining. */
  worstStallMs?: number
  /** Until the last edit that was not prompt, from the end of a burst, ms. */
  promptAfterMs?: number
  quietStallMs?: number
  rssPerConnection?: number
  heapPerConnection?: number
  /** Most bytes the server held for one client. */
  heldBytes?: number
}

/**
 * `overloaded`: more work than the server could do within the deadline, so nothing could be compared at the end.
 * `FAILED`: it was done wrong.
 */
export type Verdict = 'ok' | 'overloaded' | 'FAILED'

export interface Measurement {
  readonly scenario: string
  /** Which of a scenario's runs, where it has several. */
  readonly variant: string
  readonly server: ServerId
  readonly label: string
  readonly round: number
  readonly verdict: Verdict
  readonly figures: Figures
  readonly notes: readonly string[]
}

export interface Timing {
  readonly quick: boolean
  /** How long a server works in other rooms first, so that its code is compiled. */
  readonly compileMs: number
  readonly warmupMs: number
  readonly windowMs: number
  /** How long the work may take to arrive everywhere after the last send. */
  readonly settleMs: number
}

export interface Scenario {
  readonly name: string
  readonly about: string
  /** Most time one server may take, ms. */
  readonly deadlineMs: number
  /** Servers it makes no sense for, with the reason. */
  readonly leaveOut?: Partial<Record<ServerId, string>>
  run(context: Context): Promise<Measurement[]>
}

/** How servers are measured, the same for all of a run. */
export interface Conditions {
  readonly cores: Cores
  readonly timing: Timing
  /** Where recordings of y-weir's windows go, or null. */
  readonly perf: string | null
}

/** What one run of a scenario against one server works with; everything it starts ends with it. */
export class Context {
  readonly scenario: string
  readonly kind: ServerKind
  readonly conditions: Conditions
  readonly round: number
  readonly say: (line: string) => void
  readonly #closers: (() => void | Promise<void>)[] = []
  #hasEnded = false

  constructor(scenario: string, kind: ServerKind, conditions: Conditions, round: number, say: (line: string) => void) {
    this.scenario = scenario
    this.kind = kind
    this.conditions = conditions
    this.round = round
    this.say = say
  }

  get timing(): Timing {
    return this.conditions.timing
  }
  /** A server that has just started. */
  async startServer(kind: ServerKind = this.kind): Promise<RunningServer> {
    this.#expectTime()
    const server = await RunningServer.start(kind, this.conditions.cores)
    this.closeLater(() => server.stop())
    this.#expectTime()
    return server
  }
  /** Something that is closed when the run ends, the last one first. */
  use<T extends { close(): void | Promise<void> }>(thing: T): T {
    this.closeLater(() => thing.close())
    return thing
  }
  closeLater(close: () => void | Promise<void>): void {
    this.#closers.push(close)
  }
  async end(): Promise<void> {
    this.#hasEnded = true
    for (const close of this.#closers.splice(0).reverse()) await close()
  }

  /** A run whose deadline is over starts nothing more. */
  #expectTime(): void {
    if (!this.#hasEnded) return
    void this.end()
    throw new Error('the run has ended')
  }

  measurement(variant: string, verdict: Verdict, figures: Figures, notes: readonly string[] = []): Measurement {
    const { scenario, round } = this
    return { scenario, variant, server: this.kind.id, label: this.kind.label, round, verdict, figures, notes }
  }
}

export interface CpuUse
  extends Required<Pick<Figures, 'cpuShare' | 'mainShare' | 'loadShare' | 'foreignShare' | 'foreignLoadShare'>> {
  readonly elapsedMs: number
  readonly cpuMs: number
}

/** CPU of the server, of the load, and of everybody else on their cores, from now to `end`. */
export class CpuWindow {
  readonly #server: RunningServer
  readonly #cores: Cores
  readonly #at = performance.now()
  readonly #serverMs: number
  readonly #mainMs: number
  readonly #load = process.cpuUsage()
  readonly #serverCoreMs: number
  readonly #loadCoreMs: number

  constructor(server: RunningServer, cores: Cores) {
    this.#server = server
    this.#cores = cores
    this.#serverMs = server.cpuMs()
    this.#mainMs = server.mainThreadMs()
    this.#serverCoreMs = busyMs(cores.server)
    this.#loadCoreMs = busyMs(cores.load)
  }

  end(): CpuUse {
    const elapsedMs = performance.now() - this.#at
    const cpuMs = this.#server.cpuMs() - this.#serverMs
    const mainMs = this.#server.mainThreadMs() - this.#mainMs
    const { user, system } = process.cpuUsage(this.#load)
    const loadMs = (user + system) / 1000
    const ofOthers = (busy: number, own: number): number => Math.max(0, busy - own) / elapsedMs
    return {
      elapsedMs,
      cpuMs,
      cpuShare: cpuMs / elapsedMs,
      mainShare: mainMs / elapsedMs,
      loadShare: loadMs / elapsedMs,
      foreignShare: ofOthers(busyMs(this.#cores.server) - this.#serverCoreMs, cpuMs),
      foreignLoadShare: ofOthers(busyMs(this.#cores.load) - this.#loadCoreMs, loadMs),
    }
  }
}

const busyMs = (core: number | null): number => (core === null ? 0 : coreBusyMs(core))

/** Waits out a measured window. */
export async function window(
  server: RunningServer,
  { cores, perf }: Conditions,
  name: string,
  ms: number,
): Promise<CpuUse> {
  if (perf !== null && server.kind.id === 'y-weir') record(server.pid, join(perf, `${name}.perf`), ms)
  const cpu = new CpuWindow(server, cores)
  await sleep(ms)
  return cpu.end()
}

/** `perf report -i file` reads it, with the map of compiled functions that node leaves in /tmp. */
function record(pid: number, file: string, ms: number): void {
  mkdirSync(dirname(file), { recursive: true })
  const args = ['record', '-q', '-F', '997', '-g', '-p', String(pid), '-o', file, '--', 'sleep', String(ms / 1000)]
  spawn('perf', args, { stdio: 'ignore' }).on('error', () => {})
}
