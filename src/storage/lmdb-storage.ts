/**
 * Boards on disk, in LMDB: `DATA_DIR/boards`, and the directory's lock in `DATA_DIR/lock`.
 *   append, compact, … ──▶ commit queue ──▶ one batch, one fsync
 * Every transaction is flushed to disk before its promise resolves, so the store opens after any kill and holds what it
 * said it holds (ST1, ST2).
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../observe/clock.ts'
import { commitFailure } from './commit-failure.ts'
import { CommitQueue } from './commit-queue.ts'
import { type DirectoryLock, lockDirectory } from './directory-lock.ts'
import {
  authorsIn,
  type LmdbTables,
  META,
  numberIn,
  openTables,
  readChunk,
  reading,
  writeCounters,
} from './lmdb-tables.ts'
import { decodeQuarantined, encodeQuarantined, type Quarantined } from './quarantine-entry.ts'
import { endKey, firstKey, keyAfter, nameKey, placeOf, recordKey, uintOf } from './record-key.ts'
import { RoomIds } from './room-ids.ts'
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

export type { Quarantined } from './quarantine-entry.ts'

export interface LmdbStorageOptions {
  /** Made if it is not there, unless `readOnly`. */
  readonly directory: string
  readonly clock: Clock
  readonly metrics?: StorageMetrics
  /** Milliseconds since 1970, for the date of a quarantined record; the system's unless a test hands in another. */
  readonly date?: () => number
  /**
   * From one transaction's begin to the next, milliseconds, 0 to 250. What was told waits at most twice this and two
   * commits: it has to stay far below the second of ST1.
   */
  readonly commitIntervalMs?: number
  /** Takes no lock and writes nothing: for a look beside a running server. */
  readonly readOnly?: boolean
}

const DEFAULT_INTERVAL_MS = 50
const ZERO = Buffer.from([0])

export class LmdbStorage implements Storage {
  readonly kind = 'lmdb'
  readonly durable = true
  readonly #options: LmdbStorageOptions
  readonly #tables: LmdbTables
  readonly #lock: DirectoryLock | undefined
  readonly #metrics: StorageMetrics
  readonly #queue: CommitQueue
  readonly #ids: RoomIds
  #nextSeq: number
  #closing: Promise<void> | undefined

  /** Rejects with a StorageError when another process has the directory, or it cannot be opened. */
  static async open(options: LmdbStorageOptions): Promise<LmdbStorage> {
    const { directory, readOnly = false } = options
    const path = join(directory, 'boards')
    let lock: DirectoryLock | undefined
    try {
      if (!readOnly) {
        mkdirSync(directory, { recursive: true })
        lock = await lockDirectory(directory)
      }
      return new LmdbStorage(options, openTables(path, readOnly), lock)
    } catch (error) {
      await lock?.release()
      throw error instanceof StorageError ? error : new StorageError(reasonOf(error), { cause: error })
    }
  }

  private constructor(options: LmdbStorageOptions, tables: LmdbTables, lock: DirectoryLock | undefined) {
    this.#options = options
    this.#tables = tables
    this.#lock = lock
    this.#metrics = options.metrics ?? new StorageMetrics()
    this.#metrics.roomsStored = tables.rooms
    this.#ids = new RoomIds({
      names: tables.names,
      next: numberIn(tables.meta, META.nextId) ?? 1,
      shared: options.readOnly ?? false,
    })
    this.#nextSeq = numberIn(tables.meta, META.nextSeq) ?? 1
    this.#queue = new CommitQueue({
      clock: options.clock,
      metrics: this.#metrics,
      intervalMs: options.commitIntervalMs ?? DEFAULT_INTERVAL_MS,
      transact: (write, bytes) => this.#transact(write, bytes),
    })
  }

  async *load(room: string): AsyncGenerator<StoredRecord> {
    const id = this.#read(() => this.#ids.of(room))
    if (id === undefined) return
    yield* this.#records(id)
  }

  async append(room: string, updates: readonly Uint8Array[]): Promise<number> {
    const name = this.#writable(room)
    const first = this.#nextSeq
    this.#nextSeq += updates.length
    const write = () => {
      const id = this.#ids.ofOrNew(room, name)
      let seq = first
      for (const update of updates) void this.#tables.records.put(recordKey(id, { seq: seq++, part: 0 }), update)
    }
    await this.#queue.add({ write, alone: false, bytes: byteSum(updates) })
    return first + updates.length - 1
  }

  async compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void> {
    const name = this.#writable(room)
    const write = () => {
      const { records } = this.#tables
      const id = this.#ids.ofOrNew(room, name)
      let part = 0
      for (const key of this.#keys(id, through)) {
        const place = placeOf(key)
        if (place.seq === through) part = place.part
        void records.remove(key)
      }
      for (const bytes of parts) void records.put(recordKey(id, { seq: through, part: ++part }), bytes)
    }
    await this.#queue.add({ write, alone: true, bytes: byteSum(parts) })
    this.#metrics.compactions.add()
  }

  async quarantine(room: string, bad: readonly BadRecord[]): Promise<void> {
    this.#writable(room)
    const at = (this.#options.date ?? Date.now)()
    let moved = 0
    const write = () => {
      const { records, quarantine } = this.#tables
      const id = this.#ids.of(room)
      for (const { place, reason } of id === undefined ? [] : bad) {
        const key = recordKey(id!, place)
        const update = records.get(key)
        if (update === undefined) continue
        void quarantine.put(key, encodeQuarantined({ room, ...place, at, reason, update }))
        void records.remove(key)
        moved++
      }
    }
    await this.#queue.add({ write, alone: true, bytes: 0 })
    this.#metrics.quarantined.add(moved)
  }

  async buried(room: string): Promise<readonly number[]> {
    return this.#read(() => authorsIn(this.#tables.graves, Buffer.from(room)))
  }

  async delete(room: string, authors: readonly number[] = []): Promise<void> {
    const name = this.#writable(room)
    let known = false
    const write = () => {
      const { graves } = this.#tables
      if (authors.length > 0) {
        const all = [...new Set([...authorsIn(graves, name), ...authors])]
        void graves!.put(name, Buffer.from(JSON.stringify(all)))
      }
      const id = this.#ids.of(room)
      if (id === undefined) return
      known = true
      this.#ids.forget(room)
      for (const key of this.#keys(id)) void this.#tables.records.remove(key)
      void this.#tables.names.remove(name)
    }
    await this.#queue.add({ write, alone: true, bytes: 0 })
    if (known) this.#metrics.roomsStored--
  }

  async *rooms(): AsyncGenerator<StoredRoom> {
    let start: Buffer = ZERO
    for (;;) {
      const names = this.#read(() => [...this.#tables.names.getRange({ start, limit: 256 })])
      for (const { key, value } of names) yield await this.#measure(key.toString(), uintOf(value))
      const last = names.at(-1)
      if (last === undefined) return
      start = Buffer.concat([last.key, ZERO])
    }
  }

  /** What was moved out of the way, in the order of rooms' first records. */
  async *quarantined(): AsyncGenerator<Quarantined> {
    let start = firstKey(0)
    for (;;) {
      const found = this.#read(() => [...this.#tables.quarantine.getRange({ start, limit: 64 })])
      for (const { value } of found) yield decodeQuarantined(value)
      const last = found.at(-1)
      if (last === undefined) return
      start = Buffer.concat([last.key, ZERO])
    }
  }

  /** The names under which boards were deleted, with their authors. */
  async *graves(): AsyncGenerator<{ readonly room: string; readonly authors: readonly number[] }> {
    let start: Buffer = ZERO
    for (;;) {
      const found = this.#read(() => [...(this.#tables.graves?.getKeys({ start, limit: 64 }) ?? [])])
      for (const key of found) yield { room: String(key), authors: await this.buried(String(key)) }
      const last = found.at(-1)
      if (last === undefined) return
      start = Buffer.concat([last, ZERO])
    }
  }

  /** Writes a consistent copy of the store, without its free pages, to `directory`. Works beside a running server. */
  async backup(directory: string): Promise<void> {
    const path = join(directory, 'boards')
    if (existsSync(join(path, 'data.mdb'))) throw new StorageError(`${directory} holds boards already`)
    mkdirSync(path, { recursive: true })
    await this.#tables.root.backup(path, true)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#queue.close()
    await this.#tables.root.close()
    await this.#lock?.release()
    // LMDB for Node ends a read with a timer of 1 ms that it does not clear.
    await sleep(2)
  }

  #read<T>(read: () => T): T {
    if (this.#closing !== undefined) throw new StorageError('the store is closed')
    return reading(this.#tables, read)
  }

  /** The room's name as a key; throws when nothing may be written. */
  #writable(room: string): Buffer {
    if (this.#closing !== undefined) throw new StorageError('the store is closed')
    if (this.#options.readOnly === true) throw new StorageError('the store was opened to be read')
    return nameKey(room)
  }

  /** Keys of a room's records, all or up to `through`. Read at once: they are about to be removed. */
  #keys(id: number, through?: number): Buffer[] {
    const range = { start: firstKey(id), end: endKey(id, through) }
    return reading(this.#tables, () => [...this.#tables.records.getKeys(range)])
  }

  async *#records(id: number): AsyncGenerator<StoredRecord> {
    let start = firstKey(id)
    for (;;) {
      const { records, last } = this.#read(() => readChunk(this.#tables.records, start, endKey(id)))
      yield* records
      if (last) return
      start = keyAfter(records.at(-1)!, id)
      await this.#loopFree()
    }
  }

  async #measure(room: string, id: number): Promise<StoredRoom> {
    let [records, tail, bytes] = [0, 0, 0]
    for await (const { part, update } of this.#records(id)) {
      records++
      if (part === 0) tail++
      bytes += update.byteLength
    }
    await this.#loopFree()
    return { room, records, tail, bytes }
  }

  #loopFree(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.soon(resolve))
  }

  async #transact(write: () => void, bytes: number): Promise<void> {
    const { root, meta } = this.#tables
    this.#ids.begin()
    try {
      root.resetReadTxn()
      await root.batch(() => {
        write()
        writeCounters(meta, this.#ids.next, this.#nextSeq)
      })
      this.#metrics.roomsStored += this.#ids.committed()
    } catch (error) {
      this.#ids.failed()
      throw await commitFailure(error, this.#options.directory, bytes)
    }
  }
}
