import type { Account, Job } from '../budget/account.ts'

/** A room's flush, as a job of the loop's. */
export class FlushJob implements Job {
  readonly kind = 'flush'
  readonly #payer: () => Account
  readonly #flush: (started: number, until: number) => void

  /** `payer`: on whose behalf it would run now. */
  constructor(payer: () => Account, flush: (started: number, until: number) => void) {
    this.#payer = payer
    this.#flush = flush
  }

  get account(): Account {
    return this.#payer()
  }
  run(started: number, until: number): void {
    this.#flush(started, until)
  }
}
