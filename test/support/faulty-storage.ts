/** A store whose faults a test switches on and off, around a real one, and a server on it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { TestContext } from 'vitest'
import type { Config } from '../../src/server.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import {
  type BadRecord,
  byteSum,
  type Storage,
  StorageError,
  type StoredRecord,
  type StoredRoom,
} from '../../src/storage/storage.ts'
import { startServer, type TestServer } from './start-server.ts'

type Deed = 'load' | 'append' | 'compact' | 'delete'

export class FaultyStorage implements Storage {
  readonly #inner: Storage
  /** Boards that cannot be read: why, and after how many records. */
  readonly unreadable = new Map<string, { readonly reason: string; readonly after: number }>()
  /** While set, writes fail with it. */
  writeError: string | null = null
  writeDelayMs = 0
  /** How often each room was loaded. */
  readonly loads = new Map<string, number>()
  /** How often each was asked for, whatever came of it. */
  readonly asked: Record<Deed, number> = { load: 0, append: 0, compact: 0, delete: 0 }
  /** The most writes of one room that were under way together, compactions aside. */
  mostAppendsAtOnce = 0
  /** Bytes of the largest append. */
  largestAppend = 0
  readonly #appending = new Map<string, number>()
  readonly #gates = new Map<Deed, Promise<void>>()

  constructor(inner: Storage) {
    this.#inner = inner
  }
  get kind(): Storage['kind'] {
    return this.#inner.kind
  }
  get durable(): boolean {
    return this.#inner.durable
  }

  /** From now on, deeds of this kind wait until the returned function is called. */
  hold(deed: Deed): () => void {
    let open = (): void => {}
    this.#gates.set(
      deed,
      new Promise((resolve) => {
        open = resolve
      }),
    )
    return () => {
      this.#gates.delete(deed)
      open()
    }
  }

  async *load(room: string): AsyncGenerator<StoredRecord> {
    this.loads.set(room, (this.loads.get(room) ?? 0) + 1)
    this.asked.load++
    await this.#gates.get('load')
    const fault = this.unreadable.get(room)
    let records = 0
    for await (const record of this.#inner.load(room)) {
      if (fault !== undefined && records++ >= fault.after) break
      yield record
    }
    if (fault !== undefined) throw new StorageError(fault.reason)
  }

  async append(room: string, updates: readonly Uint8Array[]): Promise<number> {
    const atOnce = (this.#appending.get(room) ?? 0) + 1
    this.#appending.set(room, atOnce)
    this.mostAppendsAtOnce = Math.max(this.mostAppendsAtOnce, atOnce)
    this.largestAppend = Math.max(this.largestAppend, byteSum(updates))
    try {
      return await this.#write('append', () => this.#inner.append(room, updates))
    } finally {
      this.#appending.set(room, this.#appending.get(room)! - 1)
    }
  }
  compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void> {
    return this.#write('compact', () => this.#inner.compact(room, through, parts))
  }
  quarantine(room: string, bad: readonly BadRecord[]): Promise<void> {
    return this.#inner.quarantine(room, bad)
  }
  delete(room: string, authors?: readonly number[]): Promise<void> {
    return this.#write('delete', () => this.#inner.delete(room, authors))
  }
  buried(room: string): Promise<readonly number[]> {
    return this.#inner.buried(room)
  }
  rooms(): AsyncIterable<StoredRoom> {
    return this.#inner.rooms()
  }
  close(): Promise<void> {
    return this.#inner.close()
  }

  async #write<T>(deed: Deed, write: () => Promise<T>): Promise<T> {
    this.asked[deed]++
    await this.#gates.get(deed)
    if (this.writeDelayMs > 0) await sleep(this.writeDelayMs)
    if (this.writeError !== null) throw new StorageError(this.writeError)
    return write()
  }
}

/** A server on a store with faults. The store is LMDB in `dataDir`. */
export async function startFaultyServer(
  t: Pick<TestContext, 'onTestFinished'>,
  config: Partial<Config> & Pick<Config, 'dataDir'>,
  log?: Logger,
): Promise<TestServer & { readonly storage: FaultyStorage }> {
  let storage: FaultyStorage | undefined
  const server = await startServer(t, { storage: 'lmdb', ...config }, log, {
    openStorage: async (...given) => {
      storage = new FaultyStorage(await openStorage(...given))
      return storage
    },
  })
  return { ...server, storage: storage! }
}
