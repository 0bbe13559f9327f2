/**
 * Group commit: whatever wants to be written joins a queue, and one transaction at a time takes what has gathered.
 *   append, append, append ──▶ [ one transaction, one fsync ] ──▶ each of them resolves or rejects
 */
import type { Clock } from '../observe/clock.ts'
import type { StorageMetrics } from './storage-metrics.ts'

/** One thing to write. */
export interface Job {
  /** Puts its records into the open transaction. A throw here concerns this job alone: nothing of it may be put before. */
  readonly write: () => void
  /** Reads the store to know what to write, so everything before it must be committed: it gets a transaction of its own. */
  readonly alone: boolean
  readonly bytes: number
}

interface Waiting extends Job {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface CommitQueueOptions {
  readonly clock: Clock
  readonly metrics: StorageMetrics
  /** Milliseconds from one transaction's begin to the next: at 50, 20 fsyncs a second at most. */
  readonly intervalMs: number
  /** Runs `write`, of `bytes`, in one transaction; resolves when it is on disk, rejects with what to tell the callers. */
  readonly transact: (write: () => void, bytes: number) => Promise<void>
}

export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #begun = Number.NEGATIVE_INFINITY
  #hurry: (() => void) | undefined
  #closing = false

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  /** Resolves when the job is on disk. Jobs of one queue are written in the order they came. */
  add(job: Job): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...job, resolve, reject })
      if (job.alone) this.#hurry?.()
      this.#running ??= this.#run()
    })
  }

  /** Writes what waits without delay; resolves when nothing is left. */
  async close(): Promise<void> {
    this.#closing = true
    this.#hurry?.()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#pause()
      const jobs = this.#next()
      this.#begun = this.#options.clock.now()
      await this.#commit(jobs)
    }
    this.#running = undefined
  }

  /** At least until the end of this turn, so that what is appended together is committed together. */
  #pause(): Promise<void> {
    const { clock, intervalMs } = this.#options
    const ms = this.#begun + intervalMs - clock.now()
    return new Promise((resolve) => {
      if (ms <= 0 || this.#closing || this.#waiting[0]!.alone) return clock.soon(resolve)
      // Not the clock's timer, which lets the process end: whoever waits for a commit has not got its data on disk yet.
      const timer = setTimeout(resolve, ms)
      this.#hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #next(): Waiting[] {
    this.#hurry = undefined
    if (this.#waiting[0]!.alone) return this.#waiting.splice(0, 1)
    const first = this.#waiting.findIndex((job) => job.alone)
    return this.#waiting.splice(0, first < 0 ? this.#waiting.length : first)
  }

  async #commit(jobs: readonly Waiting[]): Promise<void> {
    const { clock, metrics, transact } = this.#options
    const begun = clock.now()
    const bytes = jobs.reduce((sum, job) => sum + job.bytes, 0)
    const written: Waiting[] = []
    try {
      await transact(() => {
        for (const job of jobs) {
          try {
            job.write()
            written.push(job)
          } catch (error) {
            job.reject(error)
          }
        }
      }, bytes)
    } catch (error) {
      for (const job of written) job.reject(error)
      return
    }
    metrics.commits.add()
    metrics.commitSeconds.observe((clock.now() - begun) / 1000)
    metrics.bytes.add(bytes)
    for (const job of written) job.resolve()
  }
}
