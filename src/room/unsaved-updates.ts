/** Updates that no record holds yet, in the order they came: many in, few records of a bounded size out. */
import * as Y from 'yjs'

/** A record is closed before it outgrows this, bytes: as large as a snapshot's part, so that no load stalls on one. */
const RECORD_BYTES = 65_536
/** Updates merged into one record: 200 take 0.7 ms (measured), and the cost grows faster than their number. */
const RECORD_UPDATES = 200
/** What an update takes in memory beside its bytes. */
const OVERHEAD = 200

export interface UnsavedRecord {
  readonly update: Uint8Array
  /** Bytes of the updates in it, as they were pushed. */
  readonly bytes: number
}

export class UnsavedUpdates {
  #updates: Uint8Array[] = []
  #bytes = 0

  /** Bytes of the updates, as they were pushed. */
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

  /** Takes one record's worth from the front; undefined when there is nothing. */
  take(): UnsavedRecord | undefined {
    let count = 0
    let bytes = 0
    for (const { byteLength } of this.#updates) {
      if (count > 0 && (bytes + byteLength > RECORD_BYTES || count === RECORD_UPDATES)) break
      bytes += byteLength
      count++
    }
    if (count === 0) return undefined
    const updates = this.#updates.splice(0, count)
    this.#bytes -= bytes
    return { update: count === 1 ? updates[0]! : Y.mergeUpdates(updates), bytes }
  }

  /** Forgets all; returns the bytes it had. */
  clear(): number {
    const bytes = this.#bytes
    this.#updates = []
    this.#bytes = 0
    return bytes
  }
}
