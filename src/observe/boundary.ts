/**
 * Where what was thrown ends: counted, told, and never let through to the process. Who owned the callback pays if that is known
 * (a client is closed, a room rebuilt); here ends what nobody owns.
 */
import { type Clock, realClock } from './clock.ts'
import { EveryTenth } from './every-tenth.ts'
import type { Log } from './lazy-log.ts'
import type { CaughtAt, Metrics } from './metrics.ts'

export class Boundary {
  readonly #metrics: Metrics
  readonly #log: Pick<Log, 'error'>
  readonly #lines = new EveryTenth()

  constructor(metrics: Metrics, log: Pick<Log, 'error'>) {
    this.#metrics = metrics
    this.#log = log
  }

  caught(where: CaughtAt, error: unknown): void {
    this.#metrics.errorsCaught.add(where)
    if (this.#lines.due())
      this.#log.error({ event: 'unexpected_error', err: error, where, errors: this.#lines.count }, 'unexpected error')
  }
  /** Work that nobody waits for. */
  background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.caught('promise', error))
  }

  /** The real clock, with tasks that are held apart from each other and from the process. */
  clock(): Clock {
    return realClock(
      (task) => {
        try {
          task()
        } catch (error) {
          this.caught('immediate', error)
        }
      },
      (task) => {
        try {
          task()
        } catch (error) {
          this.caught('timer', error)
        }
      },
    )
  }
}
