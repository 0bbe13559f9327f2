/** The delay of edits in a room where nothing else happens, seen by a process of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Address } from './peer.ts'
import { within } from './waiting.ts'

export interface Delays {
  readonly max: number
  readonly p50: number
  readonly p99: number
  readonly total: number
  /** From the last `clear` to the arrival of the last edit that took longer than was asked about, ms; 0: there was none. */
  readonly lastSlowMs: number
}

const ANSWER_TIMEOUT_MS = 20_000
const program = fileURLToPath(new URL('./probe-process.ts', import.meta.url))

export class Probe {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(address: Address): Promise<Probe> {
    const probe = new Probe(fork(program, [JSON.stringify(address)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
    try {
      await within(ANSWER_TIMEOUT_MS, 'starting the probe', probe.#answer())
    } catch (error) {
      probe.close()
      throw error
    }
    return probe
  }

  /** Forgets what was seen. */
  async clear(): Promise<void> {
    await this.#ask('clear')
  }
  /** What was seen since the last `clear`. `slowMs`: an edit that takes longer is a slow one. */
  read(slowMs = Number.MAX_VALUE): Promise<Delays> {
    return this.#ask(slowMs)
  }
  close(): void {
    this.#child.kill('SIGKILL')
  }

  #ask(question: 'clear' | number): Promise<Delays> {
    const answer = this.#answer()
    this.#child.send(question)
    return within(ANSWER_TIMEOUT_MS, 'asking the probe', answer)
  }
  async #answer(): Promise<Delays> {
    return (await once(this.#child, 'message'))[0] as Delays
  }
}
