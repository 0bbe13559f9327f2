/**
 * Whose turn it is to drain. `drain` events and ticks only ask for a turn here; the writing happens in a later loop turn
 * (a send from inside uWS's `drain` can stall the socket, DESIGN 5 rule 6), a few clients at a time: a turn that has lasted
 * a slice gives the loop back and the rest follow in the next one.
 */
import type { Clock } from '../observe/clock.ts'

/** What the scheduler needs of an outbox. */
export interface Drainable {
  /** Sends a batch. `more`: it ended with room left in the socket, so it must go on in a later turn (FC5). */
  pump(): 'more' | 'idle'
  /** Looks at amounts and ages again. Returns whether it wants to be looked at further. */
  check(): boolean
  /** One of the two threw. Must not throw itself. */
  failed(error: unknown): void
}

/** Longest stretch of draining without giving the loop back, ms. Half of it stays under a display frame. */
const SLICE_MS = 8
/** How often clients that hold anything are looked at, ms. uWS can flush a backlog without a `drain` event. */
export const CHECK_INTERVAL_MS = 100

export class DrainScheduler {
  readonly #clock: Clock
  #ready = new Set<Drainable>()
  readonly #watched = new Set<Drainable>()
  #turnAsked = false
  #cancelCheck: (() => void) | null = null
  #stopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Asks for a turn. Asking twice is asking once. */
  ready(outbox: Drainable): void {
    this.#ready.add(outbox)
    this.#askTurn()
  }
  /** Looks at this outbox every `CHECK_INTERVAL_MS` until its `check` says enough. */
  watch(outbox: Drainable): void {
    this.#watched.add(outbox)
    if (this.#cancelCheck === null && !this.#stopped) {
      this.#cancelCheck = this.#clock.after(CHECK_INTERVAL_MS, () => this.#check())
    }
  }
  forget(outbox: Drainable): void {
    this.#ready.delete(outbox)
    this.#watched.delete(outbox)
  }
  /** No timer is left afterwards. */
  stop(): void {
    this.#stopped = true
    this.#cancelCheck?.()
    this.#ready.clear()
    this.#watched.clear()
  }

  #askTurn(): void {
    if (this.#turnAsked || this.#stopped) return
    this.#turnAsked = true
    this.#clock.soon(() => this.#turn())
  }
  #turn(): void {
    this.#turnAsked = false
    const until = this.#clock.now() + SLICE_MS
    const queue = this.#ready
    this.#ready = new Set()
    for (const outbox of queue) {
      queue.delete(outbox)
      if (this.#pump(outbox)) this.#ready.add(outbox)
      if (this.#clock.now() >= until) break
    }
    // Those that waited stand before those that go on.
    if (queue.size > 0) this.#ready = new Set([...queue, ...this.#ready])
    if (this.#ready.size > 0) this.#askTurn()
  }
  #check(): void {
    this.#cancelCheck = null
    for (const outbox of this.#watched) if (!this.#look(outbox)) this.#watched.delete(outbox)
    if (this.#watched.size > 0 && !this.#stopped) {
      this.#cancelCheck = this.#clock.after(CHECK_INTERVAL_MS, () => this.#check())
    }
  }

  /** Each outbox for itself: what one throws is not the others' business. Whether it goes on. */
  #pump(outbox: Drainable): boolean {
    try {
      return outbox.pump() === 'more'
    } catch (error) {
      outbox.failed(error)
      return false
    }
  }
  #look(outbox: Drainable): boolean {
    try {
      return outbox.check()
    } catch (error) {
      outbox.failed(error)
      return false
    }
  }
}
