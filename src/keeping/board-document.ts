/** A stored board as a document outside any room: for the tools that look at boards while nobody is in them. */
import * as Y from 'yjs'
import { DiffCursor, DiffSource, OwedDeletes, type StateVector } from '../diff/diff-cursor.ts'
import { type BadRecord, reasonOf, type Storage } from '../storage/storage.ts'
import { applyStored, storedSlices } from './apply-stored.ts'

export interface BoardDocument {
  readonly doc: Y.Doc
  readonly records: number
  /** Records appended since the last snapshot. */
  readonly tail: number
  readonly bytes: number
  /** Of the last record; 0 without any. */
  readonly lastSeq: number
  readonly bad: readonly BadRecord[]
}

/**
 * Reads all records that can be read; the others are told, and left where they are. One that throws while it is applied breaks
 * the document, which is then begun anew without it, as in a room.
 */
export async function readBoard(storage: Storage, room: string): Promise<BoardDocument> {
  const bad = new Map<string, BadRecord>()
  for (;;) {
    const board = await readOnce(storage, room, bad)
    if (board !== null) return board
  }
}

/** One go over everything that is not known to be bad. Null: something more is, and the document is of no use. */
async function readOnce(storage: Storage, room: string, known: Map<string, BadRecord>): Promise<BoardDocument | null> {
  const doc = new Y.Doc()
  // What a record brought has to be written as well as read: Yjs does so only for somebody who listens.
  doc.on('update', () => {})
  // Left in the document, what waits for a lost record would be gone through again with every record after it.
  const parked: Uint8Array[] = []
  let [records, tail, bytes, lastSeq] = [0, 0, 0, 0]
  for await (const { seq, part, update } of storage.load(room)) {
    records++
    bytes += update.byteLength
    lastSeq = seq
    if (part === 0) tail++
    const key = `${seq}.${part}`
    if (known.has(key)) continue
    const reason = applyChecked(doc, update)
    if (reason !== undefined) {
      known.set(key, { place: { seq, part }, reason })
      return null
    }
    if (hasGaps(doc)) parked.push(...takePending(doc))
  }
  if (parked.length > 0) {
    doc.transact((transaction) => {
      Y.applyUpdateV2(doc, Y.mergeUpdatesV2(parked))
      transaction.local = true
    })
  }
  return { doc, records, tail, bytes, lastSeq, bad: [...known.values()] }
}

/** Applies bytes that may be anything. Why they could not be, if so: the document may then be broken. */
export function applyChecked(doc: Y.Doc, update: Uint8Array): string | undefined {
  try {
    for (const piece of storedSlices(update)) applyStored(doc, piece)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** What the document could not integrate, taken out of it, as V2 updates. */
function takePending({ store }: Y.Doc): Uint8Array[] {
  const pending = [store.pendingStructs?.update, store.pendingDs].filter((update) => update instanceof Uint8Array)
  store.pendingStructs = null
  store.pendingDs = null
  return pending
}

/** Whether the document waits for something it has not got. */
export function hasGaps({ store }: Y.Doc): boolean {
  return store.pendingStructs !== null || store.pendingDs !== null
}

/** What the document has beyond `has`, all deletions included, as valid updates of about 64 KiB in causal order. */
export function partsOf(doc: Y.Doc, has: StateVector = new Map()): Uint8Array[] {
  const source = new DiffSource(doc)
  const cursor = new DiffCursor(source, has, OwedDeletes.full())
  const parts: Uint8Array[] = []
  for (;;) {
    const part = cursor.next()
    if (!part.isEmpty) parts.push(part.update)
    if (!part.last) continue
    source.close()
    return parts
  }
}
