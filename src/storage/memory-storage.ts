/**
 * Boards in this process's memory: `STORAGE=memory`, and tests. Same contract as the LMDB one; nothing survives `close()`,
 * and unless told otherwise nothing survives a room either (`durable: false`: keepers then store nothing at all).
 */
import { type BadRecord, byteSum, type Storage, StorageError, type StoredRecord, type StoredRoom } from './storage.ts'
import { StorageMetrics } from './storage-metrics.ts'

/** What quarantine keeps. */
export interface QuarantinedRecord extends StoredRecord {
  readonly room: string
  readonly reason: string
}

export class MemoryStorage implements Storage {
  readonly kind = 'memory'
  readonly durable: boolean
  /** For a person, or a test, to look at. */
  readonly quarantined: QuarantinedRecord[] = []
  readonly #metrics: StorageMetrics
  readonly #rooms = new Map<string, StoredRecord[]>()
  readonly #graves = new Map<string, Set<number>>()
  #seq = 0
  #closed = false

  /** `durable: true` keeps boards as long as this object lives: a stand-in for the real store in tests. */
  constructor(options: { durable?: boolean; metrics?: StorageMetrics } = {}) {
    this.durable = options.durable ?? false
    this.#metrics = options.metrics ?? new StorageMetrics()
  }

  async *load(room: string): AsyncGenerator<StoredRecord> {
    this.#open()
    yield* [...(this.#rooms.get(room) ?? [])]
  }

  async append(room: string, updates: readonly Uint8Array[]): Promise<number> {
    this.#open()
    const records = this.#rooms.get(room) ?? []
    this.#rooms.set(room, records)
    for (const update of updates) records.push({ seq: ++this.#seq, part: 0, update: update.slice() })
    this.#wrote(byteSum(updates))
    return this.#seq
  }

  async compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void> {
    this.#open()
    const before = this.#rooms.get(room) ?? []
    const tail = before.filter((record) => record.seq > through)
    const first = before.reduce((last, { seq, part }) => (seq === through ? Math.max(last, part) : last), 0) + 1
    const snapshot = parts.map((part, i) => ({ seq: through, part: first + i, update: part.slice() }))
    this.#rooms.set(room, [...snapshot, ...tail])
    this.#wrote(byteSum(parts))
    this.#metrics.compactions.add()
  }

  async quarantine(room: string, bad: readonly BadRecord[]): Promise<void> {
    this.#open()
    const records = this.#rooms.get(room) ?? []
    for (const { place, reason } of bad) {
      const at = records.findIndex((record) => record.seq === place.seq && record.part === place.part)
      const [record] = at < 0 ? [] : records.splice(at, 1)
      if (record === undefined) continue
      this.quarantined.push({ ...record, room, reason })
      this.#metrics.quarantined.add()
    }
    if (records.length === 0) this.#rooms.delete(room)
    this.#wrote(0)
  }

  async buried(room: string): Promise<readonly number[]> {
    this.#open()
    return [...(this.#graves.get(room) ?? [])]
  }

  async delete(room: string, authors: readonly number[] = []): Promise<void> {
    this.#open()
    this.#rooms.delete(room)
    if (authors.length > 0) this.#graves.set(room, new Set([...(this.#graves.get(room) ?? []), ...authors]))
    this.#wrote(0)
  }

  async *rooms(): AsyncGenerator<StoredRoom> {
    this.#open()
    const names = [...this.#rooms.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const room of names) {
      const records = this.#rooms.get(room)
      if (records === undefined) continue
      yield {
        room,
        records: records.length,
        tail: records.filter((record) => record.part === 0).length,
        bytes: records.reduce((sum, record) => sum + record.update.byteLength, 0),
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#rooms.clear()
  }

  #open(): void {
    if (this.#closed) throw new StorageError('the store is closed')
  }

  #wrote(bytes: number): void {
    this.#metrics.commits.add()
    this.#metrics.bytes.add(bytes)
    this.#metrics.roomsStored = this.#rooms.size
  }
}
