/**
 * One room's keeper: brings the stored board into the document, and every change of the document to storage.
 *   storage ──load──▶ host.apply          once, before anyone is answered
 *   room's update events ──append──▶ unsaved updates ──one write at a time──▶ storage
 *   host.parts ──compact──▶ storage       when the tail has grown enough
 * While a write fails, its bytes stay here and are tried again; nothing is let go that the document has not got.
 */

import type { Boundary } from '../observe/boundary.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import { byteSum, reasonOf, type Storage, StorageError } from '../storage/storage.ts'
import type { StorageMetrics } from '../storage/storage-metrics.ts'
import { type BoardSizes, worthAtRest, worthWhileLive } from './compaction-policy.ts'
import { type LoadSource, type LoadTarget, loadBoard } from './load-board.ts'
import { type Failing, Retry } from './retry.ts'
import type { Slice, Slices } from './slices.ts'
import { type Batch, UnsavedUpdates } from './unsaved-updates.ts'

export type { Failing } from './retry.ts'

/** What the keeper needs of the room's document. */
export interface KeeperHost extends LoadTarget {
  /**
   * Applies one piece of the stored board, structurally checked, with `applyStored` and an origin of storage's own: what
   * it emits is not told to `append`. What the document can only park it should hold outside.
   */
  apply(update: Uint8Array): void
  /**
   * The document as it is now, as valid updates of about 64 KiB in causal order, delete set last. Read with the loop free
   * between parts; edits made meanwhile may ride along.
   */
  parts(): Iterable<Uint8Array>
  /**
   * Whether the document waits for something it has not got (pending structs or deletions). After a load this means that
   * records built on a bad one: `parts` has not got them, so they stay in the log until the gap is healed.
   */
  readonly hasGaps: boolean
}

/** What a document that broke can still tell, as valid updates. It awaits `pause` where the loop may be given back. */
export type Salvage = (pause: () => Promise<void>) => Promise<readonly Uint8Array[]>

export interface KeeperDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: StorageMetrics
  /** Shared by all keepers of the process. */
  readonly slices: Slices
  readonly errors: Boundary
}

/** Over this many bytes unsaved updates are let go and the whole document is written instead: it has them. */
const UNSAVED_BYTES = 4 << 20
/** After a compaction that failed: appending goes on meanwhile. */
const COMPACTION_RETRY_MS = 60_000
/** How long a store may take for what a room that is given up has not saved yet. */
const RETIRE_MS = 10_000
/** A write that takes longer is reported as failing, though it may still succeed. */
const HUNG_MS = 10_000

/** A store that cannot be read, for a document that is filled with what else there is. */
const NOTHING_STORED: LoadSource = { async *load() {}, quarantine: async () => {} }

export class Keeper {
  readonly #room: string
  readonly #storage: Storage
  readonly #host: KeeperHost
  readonly #deps: KeeperDeps
  readonly #retry: Retry

  #state: 'new' | 'loaded' | 'abandoned' = 'new'
  #loading: Promise<void> | undefined
  #closing: Promise<void> | undefined

  readonly #unsaved = new UnsavedUpdates()
  /** What is being written, or waits to be tried again. */
  #batch: Batch | undefined
  /** Bytes that were let go: the document has them, and owes storage a snapshot. */
  #owedBytes = 0
  #writingSince: number | undefined
  #waiters: (() => void)[] = []

  #lastSeq = 0
  #sizes: BoardSizes = { snapshotBytes: 0, tailBytes: 0, tailRecords: 0 }
  /** A bad record is still in the log: a compaction would delete its only copy. */
  #logIsPrecious = false
  /** Records were loaded that the document could only park. */
  #parked = false
  #compacting: Promise<void> | undefined
  #noCompactionBefore = Number.NEGATIVE_INFINITY
  /** The document is being filled anew: it has not got what a snapshot must have. */
  #reloading = false

  constructor(room: string, storage: Storage, host: KeeperHost, deps: KeeperDeps) {
    this.#room = room
    this.#storage = storage
    this.#host = host
    this.#deps = deps
    this.#retry = new Retry(deps.clock, deps.log)
  }

  /**
   * Resolves when the stored board is in the document; every caller gets the same answer. Rejects with a StorageError when
   * the store cannot be read: nothing was written, nothing will be, and the room has to be thrown away.
   */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** What the document emitted. Never throws, never waits. */
  append(update: Uint8Array): void {
    if (!this.#storage.durable || this.#state === 'abandoned') return
    this.#unsaved.push(update)
    this.#deps.metrics.unsavedBytes += update.byteLength
    if (this.#unsaved.weight > UNSAVED_BYTES && this.#canCompact()) this.#owedBytes += this.#unsaved.clear()
    const waitsToRetry = this.#retry.failing !== null
    if (this.#state === 'loaded' && this.#writingSince === undefined && !waitsToRetry) this.#startWriting()
  }

  /**
   * The document broke: brings everything that was ever loaded or appended into the fresh one that the host has now. `salvage`
   * gives what the broken one can still tell; it is asked when the store has not got everything, or cannot be read. Rejects
   * when too much of it breaks documents.
   */
  async reload(salvage: Salvage): Promise<void> {
    this.#reloading = true
    try {
      await this.#reload(salvage)
    } finally {
      this.#reloading = false
    }
  }
  async #reload(salvage: Salvage): Promise<void> {
    const { log, slices, metrics } = this.#deps
    // Taken now: while it is read, a write may bring some of it to where it is read too, which is harmless.
    const unsaved = [...(this.#batch?.updates ?? []), ...this.#unsaved.all]
    const isAllStored = this.#storage.durable && this.#owedBytes === 0
    let refused: ReadonlySet<Uint8Array>
    try {
      const more = isAllStored ? unsaved : [...unsaved, ...(await salvage(this.#pauses()))]
      const loaded = await loadBoard(this.#room, this.#storage, this.#host, { log, slices }, more)
      if (loaded.stuck !== undefined) this.#logIsPrecious = true
      refused = loaded.refused
    } catch (error) {
      metrics.failures.add()
      log.error({ event: 'reload_failed', room: this.#room, reason: reasonOf(error) }, 'board could not be read again')
      // What the store has may be more than what can be saved: it must not be replaced.
      this.#logIsPrecious = true
      this.#host.renew()
      const more = [...unsaved, ...(await salvage(this.#pauses()))]
      refused = (await loadBoard(this.#room, NOTHING_STORED, this.#host, { log, slices }, more)).refused
    }
    if (refused.size > 0) this.#deps.metrics.unsavedBytes -= this.#unsaved.drop(refused)
    this.#parked = this.#host.hasGaps
  }

  /** Gives the loop back when a turn is over, for work that awaits it now and then. */
  #pauses(): () => Promise<void> {
    let slice: Slice | null = null
    return async () => {
      if (slice === null || slice.over()) slice = await this.#deps.slices.turn()
    }
  }

  /** Bytes that were told and are not durable. 0: everything is. */
  get unsavedBytes(): number {
    return this.#unsaved.bytes + (this.#batch?.bytes ?? 0) + this.#owedBytes
  }

  /** Set while writes fail or one takes over 10 s. */
  get failing(): Failing | null {
    if (this.#retry.failing !== null) return this.#retry.failing
    const since = this.#writingSince
    if (since === undefined || this.#deps.clock.now() - since < HUNG_MS) return null
    return { since, reason: 'a write does not finish' }
  }

  /** Resolves when nothing is unsaved. May take for ever while the disk is full: the caller has its own deadline. */
  saved(): Promise<void> {
    if (this.unsavedBytes === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  /**
   * Compacts if the board is better stored so before it rests. The room may live on: joins and edits during it are fine.
   * Called before the room is taken out, it leaves nothing slow for `close`. Never rejects.
   */
  tidy(): Promise<void> {
    return this.#compactIf(worthAtRest)
  }

  /**
   * The room leaves memory: waits until all is saved and tidy. Never rejects. No append may follow its resolution, and
   * until then the room must not be loaded a second time.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * The document is of no use any more and the room leaves memory: what was told is written as it is. Resolves when it is, or
   * when the store has not taken it for a while. Never rejects.
   */
  async retire(): Promise<void> {
    this.#reloading = true
    if (this.#owedBytes > 0) {
      this.#deps.log.error(
        { event: 'edits_lost', room: this.#room, bytes: this.#owedBytes },
        'edits are lost with the document that held them',
      )
      this.#deps.metrics.unsavedBytes -= this.#owedBytes
      this.#owedBytes = 0
    }
    // Giving up lets everybody go who waits until all is saved.
    const cancel = this.#deps.clock.after(RETIRE_MS, () => this.abandon())
    await this.saved()
    cancel()
    this.abandon()
  }

  /** Gives up what is unsaved, for a shutdown whose time is over. Nothing more is written; whoever waits is let go. */
  abandon(): void {
    this.#state = 'abandoned'
    this.#retry.stop()
    this.#deps.metrics.unsavedBytes -= this.unsavedBytes
    this.#unsaved.clear()
    this.#batch = undefined
    this.#owedBytes = 0
    this.#wake()
  }

  async #load(): Promise<void> {
    const { log, metrics, slices } = this.#deps
    try {
      const { lastSeq, sizes, stuck } = await loadBoard(this.#room, this.#storage, this.#host, { log, slices })
      this.#lastSeq = lastSeq
      this.#sizes = sizes
      this.#logIsPrecious = stuck !== undefined
      if (stuck !== undefined) metrics.failures.add()
    } catch (error) {
      metrics.failures.add()
      log.error({ event: 'load_failed', room: this.#room, reason: reasonOf(error) }, 'board could not be loaded')
      this.abandon()
      throw error instanceof StorageError ? error : new StorageError(reasonOf(error), { cause: error })
    }
    if (this.#state === 'abandoned') return
    this.#parked = this.#host.hasGaps
    if (this.#parked)
      log.warn({ event: 'board_has_gaps', room: this.#room }, 'board has records that build on missing ones')
    this.#state = 'loaded'
    if (this.unsavedBytes > 0) this.#startWriting()
  }

  #startWriting(): void {
    this.#deps.errors.background(this.#write())
  }
  /** Writes until nothing is left or a write fails. Runs once at a time. */
  async #write(): Promise<void> {
    const { clock, metrics } = this.#deps
    while (this.unsavedBytes > 0) {
      this.#writingSince = clock.now()
      try {
        if (this.#owedBytes === 0) this.#batch ??= this.#unsaved.take()
        if (this.#batch === undefined) await this.#writeOwed()
        else await this.#writeBatch(this.#batch)
      } catch (error) {
        if (this.#state === 'abandoned') return
        metrics.failures.add()
        const facts = { room: this.#room, unsavedBytes: this.unsavedBytes }
        this.#retry.failed(reasonOf(error), facts, () => this.#startWriting())
        return
      } finally {
        this.#writingSince = undefined
      }
      this.#retry.succeeded({ room: this.#room })
    }
    this.#wake()
    this.#deps.errors.background(this.#compactIf(worthWhileLive))
  }

  async #writeBatch({ updates, bytes }: Batch): Promise<void> {
    const seq = await this.#storage.append(this.#room, updates)
    if (this.#state === 'abandoned') return
    this.#batch = undefined
    this.#deps.metrics.unsavedBytes -= bytes
    this.#lastSeq = seq
    const { snapshotBytes, tailBytes, tailRecords } = this.#sizes
    this.#sizes = { snapshotBytes, tailBytes: tailBytes + bytes, tailRecords: tailRecords + updates.length }
  }

  async #writeOwed(): Promise<void> {
    if (this.#reloading) throw new StorageError('the board is being rebuilt')
    const covered = this.#owedBytes
    await this.#compacting
    await this.#deps.slices.exclusive(() => this.#compact())
    if (this.#state === 'abandoned') return
    this.#owedBytes -= covered
    this.#deps.metrics.unsavedBytes -= covered
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  #canCompact(): boolean {
    if (this.#parked) this.#parked = this.#host.hasGaps
    return this.#state === 'loaded' && !this.#reloading && !this.#logIsPrecious && !this.#parked
  }

  /** One at a time; the board is as safe without it, so a failure only waits for the next occasion. Never rejects. */
  #compactIf(worth: (sizes: BoardSizes) => boolean): Promise<void> {
    if (this.#compacting !== undefined) return this.#compacting
    const now = this.#deps.clock.now()
    const busy = this.#retry.failing !== null || this.#owedBytes > 0 || now < this.#noCompactionBefore
    if (busy || !worth(this.#sizes) || !this.#canCompact()) return Promise.resolve()
    this.#compacting = this.#deps.slices
      .exclusive(() => this.#compact())
      .catch((error: unknown) => {
        this.#noCompactionBefore = this.#deps.clock.now() + COMPACTION_RETRY_MS
        this.#deps.metrics.failures.add()
        this.#deps.log.warn(
          { event: 'compaction_failed', room: this.#room, reason: reasonOf(error) },
          'board could not be compacted',
        )
      })
      .finally(() => {
        this.#compacting = undefined
      })
    return this.#compacting
  }

  /**
   * Replaces what is durable now by the document. The cut comes first: what is appended while the parts are read survives
   * beside them, and meets itself in the parts at the next load, which is harmless.
   */
  async #compact(): Promise<void> {
    const through = this.#lastSeq
    const before = this.#sizes
    const parts: Uint8Array[] = []
    let slice = await this.#deps.slices.turn()
    for (const part of this.#host.parts()) {
      parts.push(part)
      if (slice.over()) slice = await this.#deps.slices.turn()
      if (this.#state === 'abandoned') return
    }
    await this.#storage.compact(this.#room, through, parts)
    this.#sizes = {
      snapshotBytes: byteSum(parts),
      tailBytes: this.#sizes.tailBytes - before.tailBytes,
      tailRecords: this.#sizes.tailRecords - before.tailRecords,
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#loading
    } catch {
      return // told by load: there is nothing of this room to store
    }
    await this.saved()
    await this.tidy()
    await this.saved()
    if (!this.#storage.durable) await this.#storage.delete(this.#room).catch(() => {})
  }
}
