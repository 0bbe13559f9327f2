/**
 * Brings a stored board into a document, record by record:
 *   storage ──▶ check, cut ──▶ apply ──▶ what cannot be applied goes to quarantine, the rest is served (ST4, ST9)
 * A record that throws while it is applied breaks the document: it begins anew, without that record.
 */
import type { Log } from '../observe/lazy-log.ts'
import { type BadRecord, type RecordPlace, reasonOf, type Storage, StorageError } from '../storage/storage.ts'
import { SliceSize } from '../update/slice-size.ts'
import type { DeleteGuide } from '../update/update-slices.ts'
import { storedSlices } from './apply-stored.ts'
import type { BoardSizes } from './compaction-policy.ts'
import type { Slice, Slices } from './slices.ts'

export interface LoadDeps {
  readonly log: Log
  readonly slices: Slices
}

/** Where the records are. */
export type LoadSource = Pick<Storage, 'load' | 'quarantine'>

/** The document that is filled. */
export interface LoadTarget {
  /** Applies one piece, structurally checked. Throws when Yjs cannot, and is broken then. */
  apply(update: Uint8Array): void
  /** An empty document takes the place of one that broke. */
  renew(): void
  /** What deleting takes in it. */
  readonly deleteCosts?: DeleteGuide
  /** Makes a document that broke go on, good enough to find out which other records throw. */
  loosen(): void
}

export interface LoadedBoard {
  /** Of the last record; 0 without any. */
  readonly lastSeq: number
  readonly sizes: BoardSizes
  /** Records that could not be applied. */
  readonly bad: number
  /** Why they could not be moved away, if so: the log then holds their only copy, and has to be left as it is. */
  readonly stuck: unknown
  /** Those of `more` that could not be applied. */
  readonly refused: ReadonlySet<Uint8Array>
}

/**
 * A board with a record that breaks documents is loaded once more for each, so that only the record itself is left out. Beyond
 * these many there is somebody at work: all that throw in one go are left out together, at the risk that one of them only did
 * because of another. 16 MB take 1.6 s each time.
 */
const EXACT_TRIES = 4
const TRIES = 8

/**
 * Rejects with what storage says when it cannot be read; nothing was written then. `more`: updates that follow what is stored.
 */
export async function loadBoard(
  room: string,
  storage: LoadSource,
  target: LoadTarget,
  { log, slices }: LoadDeps,
  more: readonly Uint8Array[] = [],
): Promise<LoadedBoard> {
  const load = new Load(room, storage, target, slices)
  for (let tries = 1; !(await load.run(more, tries > EXACT_TRIES)); tries++) {
    if (tries === TRIES) throw new StorageError('too many of its records cannot be applied')
    target.renew()
  }
  const bad = [...load.bad.values()]
  const stuck = bad.length === 0 ? undefined : await quarantine(room, storage, bad, log)
  return { lastSeq: load.lastSeq, sizes: load.sizes, bad: bad.length, stuck, refused: load.refused }
}

/** Weight of a piece while nothing is dear: each is a transaction of its own. What is stored was taken in once. */
const PIECE_WEIGHT = 128

class Load {
  readonly bad = new Map<string, BadRecord>()
  readonly refused = new Set<Uint8Array>()
  lastSeq = 0
  sizes: BoardSizes = { snapshotBytes: 0, tailBytes: 0, tailRecords: 0 }
  readonly #room: string
  readonly #storage: LoadSource
  readonly #target: LoadTarget
  readonly #slices: Slices
  readonly #size = new SliceSize(PIECE_WEIGHT)
  #slice: Slice | null = null
  #isBroken = false

  constructor(room: string, storage: LoadSource, target: LoadTarget, slices: Slices) {
    this.#room = room
    this.#storage = storage
    this.#target = target
    this.#slices = slices
  }

  /** One go over everything that is not known to be bad. False: the document broke, and what did it is known now. */
  async run(more: readonly Uint8Array[], goesOn: boolean): Promise<boolean> {
    this.#isBroken = false
    let [snapshotBytes, tailBytes, tailRecords] = [0, 0, 0]
    for await (const { seq, part, update } of this.#storage.load(this.#room)) {
      await this.#begin()
      const key = keyOf({ seq, part })
      if (!this.bad.has(key)) {
        const reason = await this.#apply(update)
        if (reason !== null) this.bad.set(key, { place: { seq, part }, reason })
        if (this.#isBroken && !goesOn) return false
      }
      this.lastSeq = seq
      if (part > 0) snapshotBytes += update.byteLength
      else {
        tailBytes += update.byteLength
        tailRecords++
      }
    }
    this.sizes = { snapshotBytes, tailBytes, tailRecords }
    for (const update of more) {
      await this.#begin()
      if (this.refused.has(update)) continue
      if ((await this.#apply(update)) !== null) this.refused.add(update)
      if (this.#isBroken && !goesOn) return false
    }
    return !this.#isBroken
  }

  /** Null, or why it could not be applied. */
  async #apply(update: Uint8Array): Promise<string | null> {
    let pieces: Iterable<Uint8Array>
    try {
      pieces = storedSlices(update, this.#size, this.#target.deleteCosts)
    } catch (error) {
      return reasonOf(error)
    }
    for (const piece of pieces) {
      try {
        this.#target.apply(piece)
      } catch (error) {
        this.#isBroken = true
        this.#target.loosen()
        return reasonOf(error)
      }
      await this.#turn()
    }
    return null
  }

  /** Goes on after a record was waited for. */
  async #begin(): Promise<void> {
    if (this.#slice === null || this.#slice.resume()) this.#slice = await this.#slices.turn()
  }
  /** Gives the loop back where this turn is over. */
  async #turn(): Promise<void> {
    const slice = this.#slice!
    const isOver = slice.over()
    this.#size.took(slice.lap, this.#size.weight)
    if (isOver) this.#slice = await this.#slices.turn()
  }
}

function keyOf({ seq, part }: RecordPlace): string {
  return `${seq}.${part}`
}

async function quarantine(room: string, storage: LoadSource, bad: readonly BadRecord[], log: Log): Promise<unknown> {
  const facts = { room, records: bad.length, first: bad[0]!.place, reason: bad[0]!.reason }
  try {
    await storage.quarantine(room, bad)
    log.error(
      { event: 'records_quarantined', ...facts },
      'bad records were moved to quarantine, the rest of the board is served',
    )
    return undefined
  } catch (error) {
    log.error(
      { event: 'quarantine_failed', ...facts, failure: reasonOf(error) },
      'bad records could not be moved to quarantine',
    )
    return error
  }
}
