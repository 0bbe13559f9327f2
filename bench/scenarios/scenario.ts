/** What a scenario is, and what it gives. */
import { sleep } from '../load/waiting.ts'
import type { ServerId, ServerKind } from '../servers/catalogue.ts'
import type { Cores } from '../servers/cores.ts'
import { coreBusyMs } from '../servers/process-figures.ts'
import { RunningServer } from '../servers/running-server.ts'

/** Names and units of everything that is measured. */
export interface Figures {
  /** Clients connected. */
  clients?: number
  /** Server CPU over the window, share of a core (0 … 1). */
  cpuShare?: number
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
  /** What others used of the server's core during the window, share: noise. */
  foreignShare?: number
  /** Time until everybody had the board, ms. */
  allSyncedMs?: number
  medianSyncedMs?: number
  /** Longest delay of an edit in another room meanwhile, ms, and with nobody joining. */
  worstStallMs?: number
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

/** What one run of a scenario against one server works with; everything it starts ends with it. */
export class Context {
  readonly scenario: string
  readonly kind: ServerKind
  readonly cores: Cores
  readonly timing: Timing
  readonly round: number
  readonly say: (line: string) => void
  readonly #closers: (() => void | Promise<void>)[] = []

  constructor(
    scenario: string,
    kind: ServerKind,
    cores: Cores,
    timing: Timing,
    round: number,
    say: (line: string) => void,
  ) {
    this.scenario = scenario
    this.kind = kind
    this.cores = cores
    this.timing = timing
    this.round = round
    this.say = say
  }

  async startServer(kind: ServerKind = this.kind): Promise<RunningServer> {
    const server = await RunningServer.start(kind, this.cores)
    this.closeLater(() => server.stop())
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
    for (const close of this.#closers.splice(0).reverse()) await close()
  }

  measurement(variant: string, verdict: Verdict, figures: Figures, notes: readonly string[] = []): Measurement {
    const { scenario, round } = this
    return { scenario, variant, server: this.kind.id, label: this.kind.label, round, verdict, figures, notes }
  }
}

/** CPU of the server, of the load, and of everybody else on the server's core, over a window. */
export class CpuWindow {
  readonly #server: RunningServer
  readonly #cores: Cores
  readonly #at = performance.now()
  readonly #serverMs: number
  readonly #load = process.cpuUsage()
  readonly #coreMs: number

  constructor(server: RunningServer, cores: Cores) {
    this.#server = server
    this.#cores = cores
    this.#serverMs = server.cpuMs()
    this.#coreMs = cores.server === null ? 0 : coreBusyMs(cores.server)
  }

  end(): { elapsedMs: number; cpuMs: number; cpuShare: number; loadShare: number; foreignShare: number } {
    const elapsedMs = performance.now() - this.#at
    const cpuMs = this.#server.cpuMs() - this.#serverMs
    const load = process.cpuUsage(this.#load)
    const coreMs = this.#cores.server === null ? cpuMs : coreBusyMs(this.#cores.server) - this.#coreMs
    return {
      elapsedMs,
      cpuMs,
      cpuShare: cpuMs / elapsedMs,
      loadShare: (load.user + load.system) / 1000 / elapsedMs,
      foreignShare: Math.max(0, coreMs - cpuMs) / elapsedMs,
    }
  }
}

/** Waits out a window in which nothing may hold the loop. */
export async function window(server: RunningServer, cores: Cores, ms: number): Promise<ReturnType<CpuWindow['end']>> {
  const cpu = new CpuWindow(server, cores)
  await sleep(ms)
  return cpu.end()
}
