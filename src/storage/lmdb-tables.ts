/**
 * What lies in the LMDB environment, and reading it:
 *   names       room → id                  records     id · seq · part → update
 *   meta        next id and seq            quarantine  id · seq · part → why, and the bytes
 *   graves      room → authors of the boards that were deleted under that name
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { prepareEnvironment } from './prepare-environment.ts'
import { placeOf, uintBytes, uintOf } from './record-key.ts'
import { reasonOf, StorageError, type StoredRecord } from './storage.ts'

type Table = Database<Uint8Array, Buffer>

export interface LmdbTables {
  readonly root: RootDatabase<Uint8Array, Buffer>
  readonly names: Table
  readonly records: Table
  readonly quarantine: Table
  readonly meta: Table
  /** Undefined: a store from before there were any, opened to be read. */
  readonly graves: Table | undefined
  /** Boards that are stored, when opened. */
  readonly rooms: number
}

export const META = {
  format: Buffer.from('format'),
  nextId: Buffer.from('next-id'),
  nextSeq: Buffer.from('next-seq'),
} as const
const FORMAT = 1
/** What is read before the loop is given back: a fraction of a millisecond when it is in memory. */
const CHUNK_BYTES = 256 << 10
const CHUNK_RECORDS = 1024
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const

/** Throws a StorageError when there is nothing to read or it is not ours. */
export function openTables(path: string, readOnly: boolean): LmdbTables {
  if (readOnly && !existsSync(join(path, 'data.mdb'))) throw new StorageError(`there are no boards in ${path}`)
  if (!readOnly) prepareEnvironment(path)
  const root = open<Uint8Array, Buffer>({
    path,
    ...BINARY,
    noSubdir: false,
    // Off, a promise resolves when its transaction is on disk; on, LMDB for Node resolves it before.
    overlappingSync: false,
    // Off, a write is in a batch of ours; on, one of an event turn rejects a promise nobody can catch when it fails.
    eventTurnBatching: false,
    readOnly,
    cache: false,
  })
  /** Made if it is not there; undefined when nothing may be made. */
  const maybe = (name: string): Table | undefined => root.openDB<Uint8Array, Buffer>({ name, ...BINARY })
  const table = (name: string): Table => {
    const found = maybe(name)
    if (found === undefined) throw new StorageError(`there are no boards in ${path}`)
    return found
  }
  try {
    const tables = [table('names'), table('records'), table('quarantine'), table('meta')] as const
    const [names, records, quarantine, meta] = tables
    const format = numberIn(meta, META.format) ?? FORMAT
    if (format !== FORMAT) throw new StorageError(`${path} has format ${format}, this program reads format ${FORMAT}`)
    return { root, names, records, quarantine, meta, graves: maybe('graves'), rooms: entries(names) }
  } catch (error) {
    void root.close()
    throw error
  }
}

/** Written with every transaction: where ids and seqs go on after a restart. */
export function writeCounters(meta: Table, nextId: number, nextSeq: number): void {
  void meta.put(META.format, uintBytes(FORMAT))
  void meta.put(META.nextId, uintBytes(nextId))
  void meta.put(META.nextSeq, uintBytes(nextSeq))
}

/** Authors in a grave, as they are written: a list of numbers in JSON. */
export function authorsIn(table: Table | undefined, name: Buffer): number[] {
  const bytes = table?.get(name)
  return bytes === undefined ? [] : (JSON.parse(Buffer.from(bytes).toString()) as number[])
}

export function numberIn(table: Table, key: Buffer): number | undefined {
  const bytes = table.get(key)
  return bytes === undefined ? undefined : uintOf(bytes)
}

/** Entries of a range, up to a chunk's bound; `last` says that the range ends here. */
export function readChunk(table: Table, start: Buffer, end: Buffer): { records: StoredRecord[]; last: boolean } {
  const records: StoredRecord[] = []
  let bytes = 0
  for (const { key, value } of table.getRange({ start, end, limit: CHUNK_RECORDS })) {
    records.push({ ...placeOf(key), update: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) })
    bytes += value.byteLength
    if (bytes >= CHUNK_BYTES) return { records, last: false }
  }
  return { records, last: records.length < CHUNK_RECORDS }
}

/** Runs a read on the newest state of the store; what it throws becomes a StorageError. */
export function reading<T>(tables: LmdbTables, read: () => T): T {
  try {
    tables.root.resetReadTxn()
    return read()
  } catch (error) {
    if (error instanceof StorageError) throw error
    throw new StorageError(`the store cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}

function entries(table: Table): number {
  return (table.getStats() as { entryCount: number }).entryCount
}
