/** Which id a room's records lie under: looked up once, given when a room is first written, the recent ones at hand. */
import type { Database } from 'lmdb'
import { nameKey, uintBytes, uintOf } from './record-key.ts'

/** Ids that are kept at hand. Forgetting them costs a look-up each. */
const CACHED_IDS = 10_000

export interface RoomIdsOptions {
  /** room → id */
  readonly names: Database<Uint8Array, Buffer>
  /** The first id that was never given. */
  readonly next: number
  /** Whether another process may delete a room and name it anew: then nothing is kept. */
  readonly shared: boolean
}

export class RoomIds {
  readonly #names: Database<Uint8Array, Buffer>
  readonly #shared: boolean
  readonly #cached = new Map<string, number>()
  /** Rooms named for the first time by the transaction being written. */
  #named: string[] = []
  #next: number

  constructor({ names, next, shared }: RoomIdsOptions) {
    this.#names = names
    this.#next = next
    this.#shared = shared
  }

  /** The id that the next new room gets; never goes back, so that no id is given twice. */
  get next(): number {
    return this.#next
  }

  of(room: string): number | undefined {
    const known = this.#cached.get(room)
    if (known !== undefined) return known
    const bytes = this.#names.get(nameKey(room))
    if (bytes === undefined) return undefined
    const id = uintOf(bytes)
    if (!this.#shared) this.#remember(room, id)
    return id
  }

  /** The room's id, given now if it has none. Inside a transaction only. */
  ofOrNew(room: string, name: Buffer): number {
    const known = this.of(room)
    if (known !== undefined) return known
    const id = this.#next++
    void this.#names.put(name, uintBytes(id))
    this.#named.push(room)
    this.#remember(room, id)
    return id
  }

  /** The room is being deleted. */
  forget(room: string): void {
    this.#cached.delete(room)
  }

  /** Before every transaction. */
  begin(): void {
    this.#named = []
  }
  /** The transaction is on disk: how many rooms it named. */
  committed(): number {
    return this.#named.splice(0).length
  }
  /** It is not: the store does not know the rooms that it named. */
  failed(): void {
    for (const room of this.#named.splice(0)) this.#cached.delete(room)
  }

  #remember(room: string, id: number): void {
    // Not those of this transaction: the store does not know them yet.
    if (this.#cached.size >= CACHED_IDS && this.#named.length === 0) this.#cached.clear()
    this.#cached.set(room, id)
  }
}
