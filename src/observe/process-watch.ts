/** What is looked at on a timer because asking on demand would miss it or cost too much: loop lag and resident memory. */
import { closeSync, openSync, readSync } from 'node:fs'
import { type Clock, every } from './clock.ts'
import { RecentMax } from './counters.ts'

/** How often the loop's lag is measured, ms. */
const LAG_INTERVAL_MS = 100
/** How often resident memory is read, ms. */
const MEMORY_INTERVAL_MS = 1_000

export class ProcessWatch {
  readonly #clock: Clock
  readonly #lag = new RecentMax()
  readonly #stop: readonly (() => void)[]
  readonly #memory = new ResidentMemory()
  /** Resident memory at the last look, bytes. */
  residentBytes = this.#memory.read()

  constructor(clock: Clock) {
    this.#clock = clock
    let due = clock.now() + LAG_INTERVAL_MS
    this.#stop = [
      every(clock, LAG_INTERVAL_MS, () => {
        const now = clock.now()
        this.#lag.note(Math.max(0, now - due) / 1000, now)
        due = now + LAG_INTERVAL_MS
      }),
      every(clock, MEMORY_INTERVAL_MS, () => {
        this.residentBytes = this.#memory.read()
      }),
    ]
  }

  /** Resident memory now, bytes. */
  readResident(): number {
    this.residentBytes = this.#memory.read()
    return this.residentBytes
  }
  /** How late a timer was, worst of the last minute, seconds. */
  get lagSeconds(): number {
    return this.#lag.get(this.#clock.now())
  }
  stop(): void {
    for (const stop of this.#stop) stop()
    this.#memory.close()
  }
}

/**
 * Reads what this process has in memory without opening anything: `process.memoryUsage.rss()` opens a file for each look and
 * throws at the descriptor limit, where it is needed most.
 */
class ResidentMemory {
  readonly #text = Buffer.alloc(128)
  #file = openStatm()
  #last = 0

  /** Resident bytes; those of the last look where the system does not say. Never throws. */
  read(): number {
    try {
      this.#last = this.#file === null ? process.memoryUsage.rss() : this.#readPages(this.#file) * PAGE_BYTES
    } catch {}
    return this.#last
  }
  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  /** The second number of the line is the resident set, pages (proc(5)). */
  #readPages(file: number): number {
    const length = readSync(file, this.#text, 0, this.#text.length, 0)
    return Number(this.#text.toString('latin1', 0, length).split(' ')[1])
  }
}

/** Of x86-64 and of nearly every arm64 kernel; where it is another, the file is not used. */
const PAGE_BYTES = 4096

/** Null where there is no such file, or where its pages are of another size. */
function openStatm(): number | null {
  try {
    const file = openSync('/proc/self/statm', 'r')
    const text = Buffer.alloc(128)
    const length = readSync(file, text, 0, text.length, 0)
    const pages = Number(text.toString('latin1', 0, length).split(' ')[1])
    const ratio = process.memoryUsage.rss() / (pages * PAGE_BYTES)
    if (ratio > 0.5 && ratio < 2) return file
    closeSync(file)
  } catch {}
  return null
}
