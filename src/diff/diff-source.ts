/**
 * One room's document as its cursors read it, and the work they share.
 *   doc transactions ──▶ version, deletes since the snapshot      cursors ──▶ parts, whole delete set
 */
import * as Y from 'yjs'
import { collectedIn } from './collected-deletes.ts'
import { DeleteScan, DeleteSnapshot } from './delete-snapshot.ts'
import { DIFF_CACHE_LIMITS, DiffCache, type DiffCacheLimits, type StateVector } from './diff-cache.ts'
import { MarkSearch } from './formatted-text.ts'
import { OwedDeletes } from './owed-deletes.ts'
import { RootTypes } from './root-types.ts'

/**
 * Changes for which a snapshot of the delete set is kept when no client asks for it. Reading one takes 10 ms on a 20 MB
 * board; keeping it current costs about a microsecond per change.
 */
const SNAPSHOT_IDLE_VERSIONS = 2048

/** Structs looked at per part of a joiner: 0.3 ms, and several times as many as a part of 64 KiB holds. */
const SCAN_STRUCTS = 8192

export interface DiffSourceLimits extends DiffCacheLimits {
  /**
   * Authors that are remembered with their last change, so that a cursor need not look through all that a board ever had
   * after every edit.
   */
  readonly recentAuthors: number
}

/** As many as write at a time in a large room. */
const RECENT_AUTHORS = 128

interface HeldSnapshot {
  readonly scan: DeleteScan
  snapshot: DeleteSnapshot | null
  /** What was deleted since the scan began. */
  since: OwedDeletes
  usedAt: number
}

export class DiffSource {
  readonly doc: Y.Doc
  readonly names: RootTypes
  readonly cache: DiffCache
  /** Called by whoever reads the document when that throws: it is broken, and its room has to do without it. */
  broke: (error: unknown) => void = (error) => {
    throw error
  }
  /**
   * Called before the document is read: what everybody has and the document has not is to be brought into it. False: that broke it.
   */
  settle: () => boolean = () => true
  private readonly marks: MarkSearch
  private changes = 0
  /** With which change an author's last structs came, the oldest first; complete for all changes after `recentFrom`. */
  private readonly recent = new Map<number, number>()
  private recentFrom = 0
  private readonly recentAuthors: number
  /** Sum of all authors' clocks, once somebody has asked for it. */
  private clocks: number | null = null
  private vector: { readonly version: number; readonly bytes: Uint8Array } | null = null
  private held: HeldSnapshot | null = null
  private readonly onTransaction: (transaction: Y.Transaction) => void

  /** Listens to `doc` until `close()`. */
  constructor(doc: Y.Doc, limits: Partial<DiffSourceLimits> = {}) {
    this.doc = doc
    this.recentAuthors = limits.recentAuthors ?? RECENT_AUTHORS
    this.names = new RootTypes(doc)
    this.cache = new DiffCache({ ...DIFF_CACHE_LIMITS, ...limits })
    this.marks = new MarkSearch(doc.store)
    this.onTransaction = (transaction) => this.noteChange(transaction)
    // The first event after a transaction's body: whoever reads the document in a later one sees the new version.
    doc.on('beforeObserverCalls', this.onTransaction)
  }

  /** Transactions that changed something. */
  get version(): number {
    return this.changes
  }

  /** Authors with structs newer than a version; null when that is too long ago to say. */
  authorsSince(version: number): readonly number[] | null {
    if (version < this.recentFrom) return null
    const authors: number[] = []
    for (const [client, changedAt] of this.recent) if (changedAt > version) authors.push(client)
    return authors
  }

  /** The document's state vector, encoded: walked through once a version, however many are asked with it. */
  stateVector(): Uint8Array {
    const known = this.vector
    if (known !== null && known.version === this.changes) return known.bytes
    const bytes = Y.encodeStateVector(this.doc)
    this.vector = { version: this.changes, bytes }
    return bytes
  }

  /** The share of the document's structs that a client with this vector lacks, 0 to 1. */
  shareMissing(has: StateVector): number {
    this.clocks ??= sumOf(this.doc)
    if (this.clocks === 0) return 0
    let known = 0
    for (const [client, clock] of has) known += Math.min(clock, Y.getState(this.doc.store, client))
    return Math.max(0, this.clocks - known) / this.clocks
  }

  /** Whether any text is formatted. Looks at every struct once in the source's life, 10 ms on a 20 MB board. */
  get hasMarks(): boolean {
    return this.marks.any
  }

  /** Whether anything was. See `wasDeletedLately`. */
  get hasLateDeletes(): boolean {
    return this.held !== null && !this.held.since.isEmpty
  }
  /** Whether the item was deleted while the snapshot of the delete set is being read or kept: joiners are under way. */
  wasDeletedLately(client: number, clock: number): boolean {
    return this.held?.since.has(client, clock) ?? false
  }

  /** Does a share of the reading that `fullDeletes` needs; for every part before the deletes of a joiner. */
  prepareDeletes(): void {
    this.hold().scan.step(SCAN_STRUCTS)
  }

  /**
   * The document's whole delete set, as a snapshot and what was deleted after it. A snapshot that fits `maxBytes` is
   * always brought up to date, so that a small set goes out in one piece.
   */
  fullDeletes(maxBytes: number): { snapshot: DeleteSnapshot; since: OwedDeletes } {
    const held = this.hold()
    held.snapshot ??= held.scan.finish()
    if (!held.since.isEmpty && held.snapshot.size <= maxBytes) {
      const all = new OwedDeletes(Number.POSITIVE_INFINITY)
      for (const { client, bounds } of held.snapshot.ranges) {
        for (let i = 0; i < bounds.length; i += 2) all.addRange(client, bounds[i]!, bounds[i + 1]! - bounds[i]!)
      }
      all.addAll(held.since)
      held.snapshot = new DeleteSnapshot(all.byAuthor())
      held.since = new OwedDeletes()
    }
    return { snapshot: held.snapshot, since: held.since.clone() }
  }

  /** Gives back the memory of everything shared; cursors go on and write their parts anew. */
  forgetCache(): void {
    this.cache.clear()
    this.held = null
    this.vector = null
  }

  close(): void {
    this.doc.off('beforeObserverCalls', this.onTransaction)
    this.forgetCache()
  }

  private hold(): HeldSnapshot {
    this.held ??= { scan: new DeleteScan(this.doc.store), snapshot: null, since: new OwedDeletes(), usedAt: 0 }
    this.held.usedAt = this.changes
    return this.held
  }

  /** Remembers whose structs the change brought; of how many authors. */
  private noteClocks({ beforeState, afterState }: Y.Transaction): number {
    let grown = 0
    for (const [client, clock] of afterState) {
      const before = beforeState.get(client) ?? 0
      if (before === clock) continue
      grown++
      this.recent.delete(client)
      this.recent.set(client, this.changes + 1)
      if (this.clocks !== null) this.clocks += clock - before
    }
    for (const [client, changedAt] of this.recent) {
      if (this.recent.size <= this.recentAuthors) break
      this.recent.delete(client)
      this.recentFrom = changedAt
    }
    return grown
  }

  private noteChange(transaction: Y.Transaction): void {
    const grown = this.noteClocks(transaction)
    if (grown === 0 && transaction.changed.size === 0 && transaction.deleteSet.clients.size === 0) return
    this.changes++
    const { held } = this
    if (held === null) return
    held.since.add(transaction.deleteSet)
    const collected = collectedIn(transaction)
    if (collected !== null) held.since.add(collected)
    if (held.since.isFull || this.changes - held.usedAt > SNAPSHOT_IDLE_VERSIONS) this.held = null
  }
}

function sumOf({ store }: Y.Doc): number {
  let sum = 0
  for (const client of store.clients.keys()) sum += Y.getState(store, client)
  return sum
}
