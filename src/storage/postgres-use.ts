/**
 * Who works with the database: servers together, or one command that writes boards alone. A lock of the database's own, which
 * goes with the connection of whoever holds it, so that a kill leaves nothing behind.
 */
import type { Sql } from 'postgres'
import { StorageError } from './storage.ts'

/** Any number, the same for everybody. */
const USE_LOCK = 8_941_734_121
/** How soon a lost connection's lock is asked for again, ms. */
const RETRY_MS = 1000

/** `together`: a server, beside others. `alone`: nobody else may use the boards meanwhile. */
export type Use = 'together' | 'alone'

export class DatabaseUse {
  readonly #sql: Sql
  readonly #use: Use
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** `connect` makes a pool of one connection that calls back when that is lost. */
  constructor(connect: (lost: () => void) => Sql, use: Use) {
    this.#use = use
    this.#sql = connect(() => this.#again())
  }

  /** Rejects with a StorageError when others use the boards in a way that excludes this one. */
  async begin(): Promise<void> {
    if (await this.#lock()) return
    throw new StorageError(
      this.#use === 'alone'
        ? 'a server uses the boards of this database'
        : 'a command works on the boards of this database',
    )
  }

  async end(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#sql.end({ timeout: 1 })
  }

  async #lock(): Promise<boolean> {
    const [row] =
      this.#use === 'alone'
        ? await this.#sql`select pg_try_advisory_lock(${USE_LOCK}::bigint) as held`
        : await this.#sql`select pg_try_advisory_lock_shared(${USE_LOCK}::bigint) as held`
    return row!.held as boolean
  }

  /** A server that was cut off takes part again as soon as it can: it has boards in memory whatever the lock says. */
  #again(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#lock().then(
        (held) => held || this.#again(),
        () => this.#again(),
      )
    }, RETRY_MS)
    this.#timer.unref()
  }
}
