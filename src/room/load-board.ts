/**
 * Brings a stored board into a document, record by record:
 *   storage ──▶ check, cut ──▶ apply ──▶ what cannot be applied goes to quarantine, the rest is served (ST4, ST9)
 */
import type { Logger } from 'pino'
import { type BadRecord, reasonOf, type Storage } from '../storage/storage.ts'
import { storedSlices } from './apply-stored.ts'
import type { BoardSizes } from './compaction-policy.ts'
import type { Slices } from './slices.ts'

export interface LoadDeps {
  readonly log: Pick<Logger, 'error'>
  readonly slices: Slices
}

export interface LoadedBoard {
  /** Of the last record; 0 without any. */
  readonly lastSeq: number
  readonly sizes: BoardSizes
  /** Records that could not be applied. */
  readonly bad: number
  /** Why they could not be moved away, if so: the log then holds their only copy, and has to be left as it is. */
  readonly stuck: unknown
}

/** Rejects with what storage says when it cannot be read; nothing was written then. */
export async function loadBoard(
  room: string,
  storage: Storage,
  apply: (update: Uint8Array) => void,
  { log, slices }: LoadDeps,
): Promise<LoadedBoard> {
  const bad: BadRecord[] = []
  let lastSeq = 0
  let [snapshotBytes, tailBytes, tailRecords] = [0, 0, 0]
  let slice = await slices.turn()
  for await (const { seq, part, update } of storage.load(room)) {
    try {
      for (const piece of storedSlices(update)) {
        if (slice.over()) slice = await slices.turn()
        apply(piece)
      }
    } catch (error) {
      bad.push({ place: { seq, part }, reason: reasonOf(error) })
    }
    lastSeq = seq
    if (part > 0) snapshotBytes += update.byteLength
    else {
      tailBytes += update.byteLength
      tailRecords++
    }
    if (slice.over()) slice = await slices.turn()
  }
  const stuck = bad.length === 0 ? undefined : await quarantine(room, storage, bad, log)
  return { lastSeq, sizes: { snapshotBytes, tailBytes, tailRecords }, bad: bad.length, stuck }
}

async function quarantine(
  room: string,
  storage: Storage,
  bad: readonly BadRecord[],
  log: Pick<Logger, 'error'>,
): Promise<unknown> {
  const facts = { room, records: bad.length, first: bad[0]!.place, reason: bad[0]!.reason }
  try {
    await storage.quarantine(room, bad)
    log.error(facts, 'bad records were moved to quarantine, the rest of the board is served')
    return undefined
  } catch (error) {
    log.error({ ...facts, failure: reasonOf(error) }, 'bad records could not be moved to quarantine')
    return error
  }
}
