import type { LoopWork } from '../observe/metrics.ts'

/** A piece of work that takes up and leaves off. */
export interface Job {
  readonly kind: LoopWork
  /** Whom it would work for; of several, the one with the least virtual time. */
  readonly account: Account
  /**
   * Works from `started` until about `until`, clock ms, charges who it was for, and asks for more with `defer`. Should not
   * throw: what it throws is handed to `onError`.
   */
  run(started: number, until: number): void
}

/**
 * Who is served how much of what all share. Clients of one person or one address have one account, so that more connections
 * buy no larger part. All but `clients` is kept by `LoopTime`.
 */
export class Account {
  /**
   * Virtual time: loop time had so far, ms, counted from where everybody was when there was last nothing to do. Whoever has
   * least is served next.
   */
  virtual = 0
  /** What waits for a turn on its behalf, in order. */
  readonly jobs = new Set<Job>()
  /** The virtual time at which it stands in the queue. */
  place = 0
  /** Clients that use it. */
  clients = 0
}
