/**
 * All of one store into another that is empty: boards record by record, what is in quarantine, and whose boards were deleted.
 *   source ──read──▶ target ──read again──▶ compared byte by byte
 */
import { byteSum, type Storage, StorageError, type StoredRecord } from './storage.ts'

/** A store that tells everything it has. */
export interface WholeStore extends Storage {
  /** What was moved out of the way. */
  quarantined(): AsyncIterable<StoredRecord & { readonly room: string; readonly reason: string }>
  /** The names under which boards were deleted, with their authors. */
  graves(): AsyncIterable<{ readonly room: string; readonly authors: readonly number[] }>
}

export interface Copied {
  boards: number
  bytes: number
  quarantined: number
  graves: number
}

/** So much is written at a time. */
const BATCH_BYTES = 1 << 20

/** Rejects with a StorageError when the target is not empty, or has not got what the source has. */
export async function copyBoards(
  source: WholeStore,
  target: WholeStore,
  progress: (done: Readonly<Copied>) => void,
): Promise<Copied> {
  for await (const { room } of target.rooms()) {
    throw new StorageError(`boards are only copied to where none are, and there is ${JSON.stringify(room)}`)
  }
  const done: Copied = { boards: 0, bytes: 0, quarantined: 0, graves: 0 }
  for await (const { room, update, reason } of source.quarantined()) {
    const seq = await target.append(room, [update])
    await target.quarantine(room, [{ place: { seq, part: 0 }, reason }])
    await target.delete(room)
    done.quarantined++
  }
  for await (const { room, authors } of source.graves()) {
    await target.delete(room, authors)
    done.graves++
  }
  for await (const { room } of source.rooms()) {
    done.bytes += await copyBoard(source, target, room)
    done.boards++
    progress(done)
  }
  return done
}

/** Resolves with its bytes. */
async function copyBoard(source: Storage, target: Storage, room: string): Promise<number> {
  let bytes = 0
  let parts: Uint8Array[] = []
  let tail: Uint8Array[] = []
  let isTail = false
  const flush = async () => {
    // The snapshot goes in whole: a second compaction would replace the first.
    if (!isTail && parts.length > 0) await target.compact(room, 0, parts)
    if (tail.length > 0) await target.append(room, tail)
    parts = []
    tail = []
  }
  for await (const { part, update } of source.load(room)) {
    if (part === 0 && !isTail) {
      await flush()
      isTail = true
    }
    // A copy: what was read may be the store's own memory.
    ;(isTail ? tail : parts).push(update.slice())
    bytes += update.byteLength
    if (isTail && byteSum(tail) >= BATCH_BYTES) await flush()
  }
  await flush()
  await compare(source, target, room)
  return bytes
}

async function compare(source: Storage, target: Storage, room: string): Promise<void> {
  const copies = target.load(room)[Symbol.asyncIterator]()
  for await (const { update } of source.load(room)) {
    const copy = await copies.next()
    if (copy.done !== true && Buffer.compare(copy.value.update, update) === 0) continue
    throw new StorageError(`${JSON.stringify(room)} was not copied as it is`)
  }
  if ((await copies.next()).done !== true) throw new StorageError(`${JSON.stringify(room)} has more than it should`)
}
