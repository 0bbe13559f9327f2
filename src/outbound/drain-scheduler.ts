/**
 * Whose turn it is to drain. `drain` events and ticks only ask for a turn here; the writing happens in a later loop turn
 * (a send from inside uWS's `drain` can stall the socket), out of the budget that all work shares: clients
 * of one account take turns, and accounts are served by what they had.
 */
import type { Account, Job } from '../budget/account.ts'
import type { LoopTime } from '../budget/loop-time.ts'

/** What the scheduler needs of an outbox. */
export interface Drainable {
  /** Who is charged for what it takes to write to it. */
  readonly account: Account
  /**
   * Sends a batch, until about `until` (clock ms). `more`: it ended with room left in the socket, so it must go on in a later
   * turn (FC5).
   */
  pump(until: number): 'more' | 'idle'
  /** Looks at amounts and ages again. Returns whether it wants to be looked at further. */
  check(): boolean
  /** One of the two threw. Must not throw itself. */
  failed(error: unknown): void
}

/** How often clients that hold anything are looked at, ms. uWS can flush a backlog without a `drain` event. */
export const CHECK_INTERVAL_MS = 100

export class DrainScheduler {
  readonly #loop: LoopTime
  readonly #drains = new Map<Account, Drain>()
  readonly #watched = new Set<Drainable>()
  #cancelCheck: (() => void) | null = null
  #stopped = false

  constructor(loop: LoopTime) {
    this.#loop = loop
  }

  /** Asks for a turn. Asking twice is asking once. */
  ready(outbox: Drainable): void {
    if (this.#stopped) return
    const { account } = outbox
    let drain = this.#drains.get(account)
    if (drain === undefined) {
      drain = new Drain(account, this.#loop, this.#drains)
      this.#drains.set(account, drain)
    }
    drain.add(outbox)
  }
  /** Looks at this outbox every `CHECK_INTERVAL_MS` until its `check` says enough. */
  watch(outbox: Drainable): void {
    this.#watched.add(outbox)
    if (this.#cancelCheck === null && !this.#stopped) {
      this.#cancelCheck = this.#loop.clock.after(CHECK_INTERVAL_MS, () => this.#check())
    }
  }
  forget(outbox: Drainable): void {
    this.#drains.get(outbox.account)?.remove(outbox)
    this.#watched.delete(outbox)
  }
  /** No timer is left afterwards. */
  stop(): void {
    this.#stopped = true
    this.#cancelCheck?.()
    for (const drain of this.#drains.values()) this.#loop.forget(drain)
    this.#drains.clear()
    this.#watched.clear()
  }

  #check(): void {
    this.#cancelCheck = null
    for (const outbox of this.#watched) if (!look(outbox)) this.#watched.delete(outbox)
    if (this.#watched.size > 0 && !this.#stopped) {
      this.#cancelCheck = this.#loop.clock.after(CHECK_INTERVAL_MS, () => this.#check())
    }
  }
}

/** The clients of one account that wait for a turn. There while there are any. */
class Drain implements Job {
  readonly kind = 'drain'
  readonly account: Account
  readonly #loop: LoopTime
  readonly #all: Map<Account, Drain>
  #ready = new Set<Drainable>()

  constructor(account: Account, loop: LoopTime, all: Map<Account, Drain>) {
    this.account = account
    this.#loop = loop
    this.#all = all
  }

  add(outbox: Drainable): void {
    this.#ready.add(outbox)
    if (this.#ready.size === 1) this.#loop.defer(this)
  }
  remove(outbox: Drainable): void {
    if (this.#ready.delete(outbox)) this.#rest()
  }

  run(started: number, until: number): void {
    const queue = this.#ready
    this.#ready = new Set()
    let now = started
    for (const outbox of queue) {
      queue.delete(outbox)
      if (pump(outbox, until)) this.#ready.add(outbox)
      now = this.#loop.clock.now()
      if (now >= until) break
    }
    // Those that waited stand before those that go on.
    if (queue.size > 0) this.#ready = new Set([...queue, ...this.#ready])
    this.#loop.charge(this.account, now - started)
    if (this.#ready.size > 0) this.#loop.defer(this)
    else this.#rest()
  }

  #rest(): void {
    if (this.#ready.size > 0) return
    this.#loop.forget(this)
    if (this.#all.get(this.account) === this) this.#all.delete(this.account)
  }
}

/** Each outbox for itself: what one throws is not the others' business. Whether it goes on. */
function pump(outbox: Drainable, until: number): boolean {
  try {
    return outbox.pump(until) === 'more'
  } catch (error) {
    outbox.failed(error)
    return false
  }
}
function look(outbox: Drainable): boolean {
  try {
    return outbox.check()
  } catch (error) {
    outbox.failed(error)
    return false
  }
}
