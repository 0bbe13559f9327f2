/**
 * One life of a room's document, with what reads it. Yjs is not exception-safe: after a throw in a transaction's clean-up a
 * document takes what comes and never emits again. So whatever throws out of a Yjs call condemns the whole of this, and the
 * room goes on with another (see rebuild in room.ts).
 */
import type * as Y from 'yjs'
import type { LoopTime } from '../budget/loop-time.ts'
import { DiffCursor, DiffSource, OwedDeletes, type StateVector } from '../diff/diff-cursor.ts'
import { applyStored } from '../keeping/apply-stored.ts'
import type { BreakSite } from '../observe/metrics.ts'
import { BoardDoc } from './board-doc.ts'
import { liveWeight } from './live-weight.ts'
import { RoomSize, type RoomSizeLimits } from './room-size.ts'

/** One Yjs `update` event. */
export interface BoardEvent {
  readonly update: Uint8Array
  readonly transaction: Y.Transaction
  /** The document's, with this in it. */
  readonly version: number
}

export interface BoardDeps {
  readonly settings: RoomSizeLimits
  readonly loop: LoopTime
  /** Reading the document threw. */
  readonly broke: (site: BreakSite, error: unknown) => void
}

/** Transaction origins. What storage or another node brought is not stored or published again. */
export const FROM_MEMBERS = Symbol('members')
export const FROM_STORAGE = Symbol('storage')
export const FROM_CLUSTER = Symbol('cluster')

/** The document is not this room's any more. */
export class BrokenBoardError extends Error {
  override readonly name = 'BrokenBoardError'
}

export class LiveBoard {
  readonly doc: Y.Doc = new BoardDoc()
  readonly source: DiffSource
  readonly size: RoomSize
  readonly #deps: BoardDeps
  #events: BoardEvent[] = []
  /** The clocks before the transaction whose events have not been told yet, of the authors that it looked at. */
  #before: StateVector | null = null
  #isBroken = false

  constructor(deps: BoardDeps) {
    this.#deps = deps
    this.source = new DiffSource(this.doc)
    this.source.broke = (error) => deps.broke('answer', error)
    this.size = new RoomSize(this.doc, deps.settings, deps.loop, {
      lengths: () => this.#measured(this.#lengths()),
      weights: () => this.#measured(liveWeight(this.doc)),
    })
    this.doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
      this.#events.push({ update, transaction, version: this.source.version })
    })
  }

  /**
   * Runs `work` in one transaction and returns what the document emitted for it. After a remote transaction Yjs tidies
   * rich-text formats, and can delete one that a later slice needs (4 of 300 format-heavy worlds, cut at 300 bytes). A server
   * only relays: with the transaction marked as its own, nothing is tidied. Throws what Yjs throws.
   */
  transact(origin: symbol, work: () => void): readonly BoardEvent[] {
    this.#events = []
    this.doc.transact((transaction) => {
      this.#before = transaction.beforeState
      work()
      transaction.local = true
    }, origin)
    return this.#events
  }
  /** The events of the last transaction are with everybody. */
  told(): void {
    this.#before = null
    this.#events = []
  }

  /** Applies one piece of the stored board; nobody is told. Throws what Yjs throws. */
  load(update: Uint8Array): void {
    applyStored(this.doc, update, FROM_STORAGE)
    this.size.loaded(update.length)
    this.#events = []
  }
  /**
   * After a throw in `load`: makes the document go on as far as it can. Good enough to find out which other pieces throw, and
   * for nothing else.
   */
  loosen(): void {
    const doc = this.doc as Y.Doc & { _transaction: unknown; _transactionCleanups: unknown[] }
    doc._transaction = null
    doc._transactionCleanups = []
    this.#events = []
  }

  /** The whole document in parts, for the store. Throws when it cannot be read, or is not the room's any more. */
  *parts(): Generator<Uint8Array> {
    try {
      yield* this.#read()
    } catch (error) {
      this.#deps.broke('compact', error)
      throw error
    }
  }
  *#lengths(): Generator<number> {
    for (const { length } of this.#read()) yield length
  }
  *#measured(pieces: Iterable<number>): Generator<number> {
    try {
      yield* pieces
    } catch (error) {
      // The sum is of no use any more, and neither is the document.
      this.#deps.broke('measure', error)
    }
  }
  *#read(): Generator<Uint8Array> {
    const cursor = new DiffCursor(this.source, new Map(), OwedDeletes.full())
    for (;;) {
      if (this.#isBroken) throw new BrokenBoardError('the document broke while it was read')
      const part = cursor.next()
      yield part.update
      if (part.last) return
    }
  }

  /**
   * What a client that is level has of a document that broke: never more than it was given. An older vector is always safe as
   * the base of a diff, so that in doubt it is nothing at all.
   */
  get level(): StateVector {
    const level = new Map<number, number>()
    try {
      for (const [client, structs] of this.doc.store.clients) {
        const last = structs.at(-1)!
        level.set(client, last.id.clock + last.length)
      }
      // Of the authors that the transaction looked at; no others can have changed.
      for (const [client, clock] of this.#before ?? []) level.set(client, clock)
      return level
    } catch {
      return new Map()
    }
  }

  /** Nobody reads it from now on. */
  condemn(): void {
    this.#isBroken = true
    this.size.stop()
    this.source.close()
  }
  destroy(): void {
    this.condemn()
    try {
      this.doc.destroy()
    } catch {
      // One that broke may not even let itself be taken apart: it is garbage either way.
    }
  }
}
