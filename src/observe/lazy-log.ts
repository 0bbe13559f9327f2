import type { Logger } from 'pino'
import type { LogFacts } from './log-events.ts'

/** The part of a logger that a client's and a room's parts use. */
export interface Log {
  info(facts: LogFacts, message: string): void
  warn(facts: LogFacts, message: string): void
  error(facts: LogFacts, message: string): void
}

/**
 * A child logger that is made when its first line is written: one costs over a kilobyte, and most of thousands of idle
 * clients never write a line.
 */
export class LazyLog implements Log {
  readonly #parent: Logger
  readonly #bindings: object
  #child: Logger | null = null

  constructor(parent: Logger, bindings: object) {
    this.#parent = parent
    this.#bindings = bindings
  }

  info(facts: LogFacts, message: string): void {
    this.#made().info(facts, message)
  }
  warn(facts: LogFacts, message: string): void {
    this.#made().warn(facts, message)
  }
  error(facts: LogFacts, message: string): void {
    this.#made().error(facts, message)
  }

  #made(): Logger {
    this.#child ??= this.#parent.child(this.#bindings)
    return this.#child
  }
}
