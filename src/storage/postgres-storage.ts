/**
 * Boards in PostgreSQL: `STORAGE=postgres`, `DATABASE_URL`. Several nodes may share one database.
 *   append, compact, … ──▶ commit queue ──▶ one transaction at a time ──▶ database
 * A promise resolves when the database has committed, so what it said it holds it holds through a kill of either (ST1).
 */
import postgres, { type Sql, type TransactionSql } from 'postgres'
import type { Clock } from '../observe/clock.ts'
import { CommitQueue } from './commit-queue.ts'
import { migrate } from './postgres-schema.ts'
import { DatabaseUse } from './postgres-use.ts'
import { type Append, writeAppends, writeCompaction, writeDeletion, writeQuarantine } from './postgres-writes.ts'
import type { Quarantined } from './quarantine-entry.ts'
import { nameKey } from './record-key.ts'
import {
  type BadRecord,
  byteSum,
  reasonOf,
  type Storage,
  StorageError,
  type StoredRecord,
  type StoredRoom,
} from './storage.ts'
import { StorageMetrics } from './storage-metrics.ts'

export interface PostgresStorageOptions {
  /** `postgres://user:password@host:port/database`, with what else the driver reads from it (`?sslmode=require`). */
  readonly url: string
  readonly clock: Clock
  readonly metrics?: StorageMetrics
  /** Milliseconds since 1970, for the date of a quarantined record. */
  readonly date?: () => number
  /** From one transaction's begin to the next, milliseconds: as for LMDB. */
  readonly commitIntervalMs?: number
  /** A statement that is not answered for so long has failed, milliseconds. */
  readonly timeoutMs?: number
  /** Changes nothing, the schema neither, and minds nobody: for a look beside running servers. */
  readonly readOnly?: boolean
  /** Nobody else may use the boards meanwhile: for commands that write. */
  readonly alone?: boolean
}

const DEFAULT_INTERVAL_MS = 50
/** Longer than a restart of the database takes, shorter than anybody waits for a board. */
const DEFAULT_TIMEOUT_MS = 15_000
/** One writes, the others load boards: so many boards come in at a time. */
const CONNECTIONS = 4
/** What is read before the loop is given back. */
const CHUNK_BYTES = 256 << 10
const CHUNK_RECORDS = 1024
const CHUNK_ROOMS = 256

/** What one transaction writes: appends of any rooms, or one thing that reads before it writes. */
interface Plan {
  readonly appends: Append[]
  alone: ((tx: TransactionSql) => Promise<void>) | undefined
}

export class PostgresStorage implements Storage {
  readonly kind = 'postgres'
  readonly durable = true
  readonly #sql: Sql
  readonly #use: DatabaseUse | undefined
  readonly #options: PostgresStorageOptions
  readonly #metrics: StorageMetrics
  readonly #queue: CommitQueue
  readonly #timeoutMs: number
  #plan: Plan = { appends: [], alone: undefined }
  #closing: Promise<void> | undefined

  /** Rejects with a StorageError when the database cannot be reached, or its boards are of a newer program. */
  static async open(options: PostgresStorageOptions): Promise<PostgresStorage> {
    const storage = new PostgresStorage(options)
    try {
      if (storage.#use !== undefined) await storage.#within(storage.#use.begin())
      if (options.readOnly !== true) await storage.#within(migrate(storage.#sql))
      const [row] = await storage.#within(storage.#sql`select count(*) as rooms from y_weir.rooms`)
      storage.#metrics.roomsStored = Number(row!.rooms)
      return storage
    } catch (error) {
      await storage.close()
      throw error
    }
  }

  private constructor(options: PostgresStorageOptions) {
    const { url, clock, readOnly = false, alone = false } = options
    this.#options = options
    this.#metrics = options.metrics ?? new StorageMetrics()
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    const timeoutMs = this.#timeoutMs
    this.#sql = connect(url, { timeoutMs, readOnly, connections: CONNECTIONS })
    const lockedBy = (lost: () => void) => connect(url, { timeoutMs, readOnly, connections: 1, lost })
    this.#use = readOnly ? undefined : new DatabaseUse(lockedBy, alone ? 'alone' : 'together')
    this.#queue = new CommitQueue({
      clock,
      metrics: this.#metrics,
      intervalMs: options.commitIntervalMs ?? DEFAULT_INTERVAL_MS,
      transact: (write) => this.#transact(write),
    })
  }

  async *load(room: string): AsyncGenerator<StoredRecord> {
    const name = this.#open(room)
    let [seq, part] = [-1, 0]
    for (;;) {
      const rows = await this.#read(
        (sql) => sql`
          select seq, part, bytes from (
            select r.seq, r.part, r.bytes, sum(octet_length(r.bytes)) over (order by r.seq, r.part) - octet_length(r.bytes) as before
            from y_weir.records r join y_weir.rooms on rooms.id = r.room
            where rooms.name = ${name} and (r.seq, r.part) > (${seq}, ${part})
            order by r.seq, r.part limit ${CHUNK_RECORDS}
          ) as chunk where before < ${CHUNK_BYTES} order by seq, part`,
      )
      if (rows.length === 0) return
      for (const row of rows) {
        seq = Number(row.seq)
        part = row.part as number
        yield { seq, part, update: row.bytes as Uint8Array }
      }
    }
  }

  async append(room: string, updates: readonly Uint8Array[]): Promise<number> {
    const name = this.#writable(room)
    let last = 0
    const told = (seq: number) => {
      last = seq
    }
    const write = () => {
      this.#plan.appends.push({ name, updates, told })
    }
    await this.#queue.add({ write, alone: false, bytes: byteSum(updates) })
    return last
  }

  async compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void> {
    const name = this.#writable(room)
    let made = 0
    await this.#alone(byteSum(parts), async (tx) => {
      made = await writeCompaction(tx, name, through, parts)
    })
    this.#metrics.roomsStored += made
    this.#metrics.compactions.add()
  }

  async quarantine(room: string, bad: readonly BadRecord[]): Promise<void> {
    const name = this.#writable(room)
    let moved = 0
    await this.#alone(0, async (tx) => {
      moved = await writeQuarantine(tx, name, bad, (this.#options.date ?? Date.now)())
    })
    this.#metrics.quarantined.add(moved)
  }

  async delete(room: string, authors: readonly number[] = []): Promise<void> {
    const name = this.#writable(room)
    let gone = 0
    await this.#alone(0, async (tx) => {
      gone = await writeDeletion(tx, name, authors)
    })
    this.#metrics.roomsStored -= gone
  }

  async buried(room: string): Promise<readonly number[]> {
    const name = this.#open(room)
    const rows = await this.#read((sql) => sql`select author from y_weir.graves where name = ${name}`)
    return rows.map(({ author }) => Number(author))
  }

  async *rooms(): AsyncGenerator<StoredRoom> {
    let after = Buffer.alloc(0)
    for (;;) {
      const rows = await this.#read(
        (sql) => sql`
          select rooms.name, count(r.room) as records, count(r.room) filter (where r.part = 0) as tail,
            coalesce(sum(octet_length(r.bytes)), 0) as bytes
          from (select id, name from y_weir.rooms where name > ${after} order by name limit ${CHUNK_ROOMS}) as rooms
          left join y_weir.records r on r.room = rooms.id
          group by rooms.name order by rooms.name`,
      )
      for (const { name, records, tail, bytes } of rows) {
        yield { room: String(name), records: Number(records), tail: Number(tail), bytes: Number(bytes) }
      }
      if (rows.length === 0) return
      after = rows.at(-1)!.name as Buffer<ArrayBuffer>
    }
  }

  /** What was moved out of the way, in the order in which it was. */
  async *quarantined(): AsyncGenerator<Quarantined> {
    let after = 0
    for (;;) {
      const rows = await this.#read(
        (sql) => sql`select * from y_weir.quarantine where id > ${after} order by id limit 16`,
      )
      for (const { name, seq, part, at, reason, bytes } of rows) {
        yield { room: String(name), seq: Number(seq), part, at: Number(at), reason, update: bytes }
      }
      if (rows.length === 0) return
      after = Number(rows.at(-1)!.id)
    }
  }

  /** The names under which boards were deleted, with their authors. */
  async *graves(): AsyncGenerator<{ readonly room: string; readonly authors: readonly number[] }> {
    const names = await this.#read((sql) => sql`select distinct name from y_weir.graves order by name`)
    for (const { name } of names) yield { room: String(name), authors: await this.buried(String(name)) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#queue.close()
    // Nothing of ours is under way any more; after a lost connection the driver waits for what will never come.
    await Promise.all([this.#sql.end({ timeout: 1 }), this.#use?.end()])
  }

  /** The room's name as it is stored; throws when the store is closed. */
  #open(room: string): Buffer {
    if (this.#closing !== undefined) throw new StorageError('the store is closed')
    return nameKey(room)
  }

  #writable(room: string): Buffer {
    if (this.#options.readOnly === true) throw new StorageError('the store was opened to be read')
    return this.#open(room)
  }

  #alone(bytes: number, run: (tx: TransactionSql) => Promise<void>): Promise<void> {
    const write = () => {
      this.#plan.alone = run
    }
    return this.#queue.add({ write, alone: true, bytes })
  }

  async #transact(write: () => void): Promise<void> {
    const plan: Plan = { appends: [], alone: undefined }
    this.#plan = plan
    write()
    let made = 0
    const transaction = this.#sql.begin(async (tx) => {
      if (plan.appends.length > 0) made = await writeAppends(tx, plan.appends)
      await plan.alone?.(tx)
    })
    await this.#within(transaction)
    this.#metrics.roomsStored += made
  }

  async #read<T>(query: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new StorageError('the store is closed')
    return this.#within(query(this.#sql))
  }

  /**
   * What the database answers; a StorageError when it fails, or is silent for too long: a machine that is gone without a word
   * would keep its callers waiting. What was sent may be carried out all the same: a record that is there twice is one to Yjs.
   */
  async #within<T>(work: PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      const late = () => reject(new StorageError(`the database has not answered for ${this.#timeoutMs} ms`))
      timer = setTimeout(late, this.#timeoutMs)
    })
    try {
      return await Promise.race([work, silence])
    } catch (error) {
      throw error instanceof StorageError ? error : new StorageError(said(error), { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }
}

interface ConnectOptions {
  readonly timeoutMs: number
  readonly readOnly: boolean
  readonly connections: number
  /** Called when a connection is lost. */
  readonly lost?: () => void
}

function connect(url: string, { timeoutMs, readOnly, connections, lost }: ConnectOptions): Sql {
  return postgres(url, {
    max: connections,
    connect_timeout: timeoutMs / 1000,
    // Back within 5 s of the database's return (CL2), whatever came before.
    backoff: (tries: number) => Math.min(0.1 * 2 ** tries, 2),
    // A connection is not given up for its age: a lock goes with it.
    max_lifetime: null,
    keep_alive: 15,
    onnotice: () => {},
    onclose: () => lost?.(),
    connection: {
      application_name: 'y-weir',
      statement_timeout: timeoutMs,
      idle_in_transaction_session_timeout: timeoutMs,
      ...(readOnly ? { default_transaction_read_only: true } : {}),
    },
  })
}

/** A refused connection comes as several errors, one an address, without a word of its own. */
function said(error: unknown): string {
  const { code } = error as { code?: string }
  return `the database failed: ${reasonOf(error) || code || 'no reason given'}`
}
