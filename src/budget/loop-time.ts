/**
 * The loop's time is one budget: in one turn of the event loop all rooms together take so much of it for applying, flushing,
 * answering, loading and measuring, and what does not fit goes on in the next turn, after the sockets were served (LT1).
 *   job ── run ──▶ at once, while the turn has time and nobody waits
 *       ── defer ─▶ queue, by virtual time ──▶ next turn
 * The queue is fair (start-time fair queueing): what a job took is charged to the accounts that it worked for, and whoever
 * had least is next. So one whose work is a hundred times dearer waits behind itself, and one who comes with a small edit
 * waits for nobody's heavy one (LT2).
 */
import type { Clock } from '../observe/clock.ts'
import type { Histogram, LabelledCounter } from '../observe/counters.ts'
import type { LoopWork } from '../observe/metrics.ts'
import { Account, type Job } from './account.ts'

export type { Job } from './account.ts'

/** Work in one turn, ms: half of what a display frame takes, so that a turn and what follows it pass unnoticed. */
export const TURN_MS = 10
/** Longest stretch that one job is given at once, ms: what it began (a transaction, frames to everybody) comes on top. */
export const STRETCH_MS = 4
/** Shortest: less, and what a job costs beside its work would be most of it. */
export const LEAST_STRETCH_MS = 1
/** Nothing was worked for this long, ms: the loop has gone round, and served its sockets, meanwhile. */
const FRESH_MS = 1

export interface LoopTimeDeps {
  readonly clock: Clock
  readonly metrics: {
    readonly loopWork: LabelledCounter<LoopWork>
    readonly loopPostponed: LabelledCounter<LoopWork>
    readonly loopTurn: Histogram
  }
  readonly onError: (error: unknown) => void
}

export class LoopTime {
  readonly clock: Clock
  /** For work that is nobody's in particular. */
  readonly common = new Account()
  readonly #deps: LoopTimeDeps
  readonly #accounts = new Map<string, Account>()
  /** Accounts with jobs, by their places, the least last: they are taken from the end. */
  readonly #queue: Account[] = []
  /** Jobs that wait, and with whom. */
  readonly #waiting = new Map<Job, Account>()
  /** Virtual time of who is served; nobody is behind it. */
  #virtual = 0
  /** The furthest that an account has come. */
  #furthest = 0
  /** Worked in this turn, ms. */
  #spent = 0
  #endedAt = Number.NEGATIVE_INFINITY
  #isAsked = false
  #stopped = false
  readonly #onTurn = (): void => this.#turn()

  constructor(deps: LoopTimeDeps) {
    this.clock = deps.clock
    this.#deps = deps
  }

  /** Jobs that wait for a turn. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The account of `key`, for one client more; to be given back with `close`. */
  open(key: string): Account {
    let account = this.#accounts.get(key)
    if (account === undefined) {
      account = new Account()
      this.#accounts.set(key, account)
    }
    account.clients++
    return account
  }
  close(key: string, account: Account): void {
    if (--account.clients === 0 && this.#accounts.get(key) === account) this.#accounts.delete(key)
  }

  /** Charges an account with `ms` of work. */
  charge(account: Account, ms: number): void {
    account.virtual = this.virtualOf(account) + ms
    if (account.virtual > this.#furthest) this.#furthest = account.virtual
  }
  /** Where an account stands among all. What it did not use while it had nothing to do is not saved up. */
  virtualOf({ virtual }: Account): number {
    return virtual > this.#virtual ? virtual : this.#virtual
  }
  /** Whether an account has had no more than whoever waits. */
  isNext(account: Account): boolean {
    const next = this.#queue.at(-1)
    return next === undefined || next === account || this.virtualOf(account) <= next.place
  }
  /** Whether an account has had more than the one that is served, so that others come first. */
  isAhead({ virtual }: Account): boolean {
    return virtual > this.#virtual
  }

  /** Runs a job now if this turn has time for it and nobody waits, else in a turn to come. */
  run(job: Job): void {
    if (this.#queue.length === 0 && this.#hasTime) {
      this.#serve(job)
      return
    }
    this.#deps.metrics.loopPostponed.values[job.kind]++
    this.defer(job)
  }
  /** Whether this turn has time for something small and nobody waits. */
  get hasTimeNow(): boolean {
    return this.#queue.length === 0 && this.#hasTime
  }
  /** Something small was done beside all jobs, because `hasTimeNow`; clock ms. Whoever it was for pays by `charge`. */
  worked(kind: LoopWork, started: number, ended: number): void {
    this.#beginsAt(started)
    this.#took(kind, started, ended)
  }

  /** Runs a job in a turn to come, or later in this one. Asking again is asking once, on behalf of who has least by now. */
  defer(job: Job): void {
    if (this.#stopped) return
    const { account } = job
    const known = this.#waiting.get(job)
    if (known !== undefined) {
      if (known === account || this.virtualOf(known) <= this.virtualOf(account)) return
      this.#remove(job, known)
    }
    this.#waiting.set(job, account)
    if (account.jobs.size === 0) this.#enqueue(account)
    account.jobs.add(job)
    this.#ask()
  }
  /** A job is over: it is not run any more. */
  forget(job: Job): void {
    const known = this.#waiting.get(job)
    if (known !== undefined) this.#remove(job, known)
  }
  /** The rest of this turn belongs to work that goes on behind a promise: whoever else comes waits for the next one. */
  handOver(): void {
    this.#spent = TURN_MS
  }
  /** Nothing runs afterwards. */
  stop(): void {
    this.#stopped = true
    for (const { jobs } of this.#queue) jobs.clear()
    this.#queue.length = 0
    this.#waiting.clear()
  }

  get #hasTime(): boolean {
    return this.#spent < TURN_MS
  }

  #remove(job: Job, account: Account): void {
    this.#waiting.delete(job)
    account.jobs.delete(job)
    if (account.jobs.size === 0) this.#queue.splice(this.#queue.lastIndexOf(account), 1)
  }
  /** Behind those that have had as much. */
  #enqueue(account: Account): void {
    const place = this.virtualOf(account)
    let low = 0
    let high = this.#queue.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#queue[middle]!.place > place) low = middle + 1
      else high = middle
    }
    account.place = place
    this.#queue.splice(low, 0, account)
  }
  /** The first job of who has had least. */
  #next(): Job | null {
    for (;;) {
      const account = this.#queue.at(-1)
      if (account === undefined) return null
      // It was charged for something since it took its place.
      if (this.#queue.length > 1 && account.place < this.virtualOf(account)) {
        this.#queue.pop()
        this.#enqueue(account)
        if (this.#queue.at(-1) !== account) continue
      }
      this.#virtual = this.virtualOf(account)
      const [job] = account.jobs
      this.#remove(job!, account)
      return job!
    }
  }

  #serve(job: Job): void {
    const started = this.clock.now()
    this.#beginsAt(started)
    const left = (TURN_MS - this.#spent) / 2
    try {
      job.run(started, started + Math.max(LEAST_STRETCH_MS, Math.min(left, STRETCH_MS)))
    } catch (error) {
      this.#deps.onError(error)
    }
    this.#took(job.kind, started, this.clock.now())
    // With nobody waiting, nobody was kept from anything: all begin anew from the same place.
    if (this.#queue.length === 0) this.#virtual = this.#furthest
  }

  /** Work begins at `started`, clock ms: in another turn, if the loop has gone round since the last. */
  #beginsAt(started: number): void {
    if (started - this.#endedAt > FRESH_MS) this.#spent = 0
  }
  #took(kind: LoopWork, started: number, ended: number): void {
    this.#deps.metrics.loopWork.values[kind] += (ended - started) / 1000
    this.#spent += ended - started
    this.#endedAt = ended
    if (!this.#hasTime) this.#ask()
  }

  #ask(): void {
    if (this.#isAsked || this.#stopped) return
    this.#isAsked = true
    this.clock.soon(this.#onTurn)
  }
  #turn(): void {
    this.#isAsked = false
    this.#spent = 0
    if (this.#queue.length === 0) return
    // Not what was deferred meanwhile: a job that only asks for its next turn would run for ever where time stands still.
    const rounds = this.#waiting.size
    const started = this.clock.now()
    this.#endedAt = started
    for (let i = 0; i < rounds && this.#hasTime; i++) {
      const job = this.#next()
      if (job === null) break
      this.#serve(job)
    }
    this.#deps.metrics.loopTurn.observe((this.#endedAt - started) / 1000)
    if (this.#queue.length === 0) return
    for (const job of this.#waiting.keys()) this.#deps.metrics.loopPostponed.values[job.kind]++
    this.#ask()
  }
}
