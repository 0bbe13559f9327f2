/** Updates that storage has not got yet, in the order they came. */

/** What one write takes at most, unless a single update is larger. Merging them instead costs ten times the storing. */
const BATCH_BYTES = 1 << 20
const BATCH_UPDATES = 4_096
/** What an update takes in memory beside its bytes. */
const OVERHEAD = 200

export interface Batch {
  readonly updates: readonly Uint8Array[]
  readonly bytes: number
}

export class UnsavedUpdates {
  #updates: Uint8Array[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** What they take in memory, about. */
  get weight(): number {
    return this.#bytes + this.#updates.length * OVERHEAD
  }

  push(update: Uint8Array): void {
    this.#updates.push(update)
    this.#bytes += update.byteLength
  }

  /** Takes what one write may hold from the front; undefined when there is nothing. */
  take(): Batch | undefined {
    let count = 0
    let bytes = 0
    for (const { byteLength } of this.#updates) {
      if (count > 0 && (bytes + byteLength > BATCH_BYTES || count === BATCH_UPDATES)) break
      bytes += byteLength
      count++
    }
    if (count === 0) return undefined
    this.#bytes -= bytes
    return { updates: this.#updates.splice(0, count), bytes }
  }

  /** All of them, in order. */
  get all(): readonly Uint8Array[] {
    return this.#updates
  }

  /** Forgets these; returns the bytes they had. */
  drop(updates: ReadonlySet<Uint8Array>): number {
    const before = this.#bytes
    this.#updates = this.#updates.filter((update) => !updates.has(update))
    this.#bytes = this.#updates.reduce((sum, { byteLength }) => sum + byteLength, 0)
    return before - this.#bytes
  }

  /** Forgets all; returns the bytes they had. */
  clear(): number {
    const bytes = this.#bytes
    this.#updates = []
    this.#bytes = 0
    return bytes
  }
}
