/**
 * How many log lines of one kind are written a second: whoever is refused, limited or closed on and on, from however many addresses,
 * must not fill a disk or take the loop with it.
 *   line ──▶ an error, or its event has a place left ──▶ written, with how many of its kind were left out before
 *        └─▶ left out and counted
 */
import type { LoggerOptions } from 'pino'

/** Lines of an event that may come at once, in seconds' worth. */
const BURST_S = 10
/** pino's number for `error`. From there on a line tells of a fault of the server or its store, and is always written. */
const ERROR_LEVEL = 50

interface Kind {
  /** Lines that may be written now. */
  places: number
  /** When that was counted, ms. */
  at: number
  /** Left out since the last line that was written. */
  leftOut: number
}

export class LineBudget {
  /** Lines left out so far, of all kinds. */
  leftOut = 0
  readonly #perSecond: number
  readonly #now: () => number
  /** By event: a closed list, so that this does not grow. */
  readonly #kinds = new Map<unknown, Kind>()

  /** `perSecond`: lines of one event, at least 1. `now`: monotonic ms. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** For pino: child loggers have it too, and all share the budget. */
  hooks(): NonNullable<LoggerOptions['hooks']> {
    const budget = this
    return {
      logMethod(args, method, level) {
        const facts: unknown = args[0]
        // A line without facts has no kind: it is the program's own, at its start or end.
        if (level >= ERROR_LEVEL || typeof facts !== 'object' || facts === null || !('event' in facts))
          return method.apply(this, args)
        const leftOut = budget.#take(facts.event)
        if (leftOut === null) return
        if (leftOut > 0) (args as unknown[])[0] = { ...facts, leftOut }
        method.apply(this, args)
      },
    }
  }

  /** How many lines of this kind were left out before this one; null: so is this one. */
  #take(event: unknown): number | null {
    const now = this.#now()
    const most = this.#perSecond * BURST_S
    let kind = this.#kinds.get(event)
    if (kind === undefined) {
      kind = { places: most, at: now, leftOut: 0 }
      this.#kinds.set(event, kind)
    }
    kind.places = Math.min(most, kind.places + ((now - kind.at) / 1000) * this.#perSecond)
    kind.at = now
    if (kind.places < 1) {
      kind.leftOut++
      this.leftOut++
      return null
    }
    kind.places--
    const { leftOut } = kind
    kind.leftOut = 0
    return leftOut
  }
}
