/**
 * What is written to the database, each in an open transaction. Whoever writes to a room holds its row first: appends of one
 * room get their seqs one after the other whatever node they come from, and a compaction deletes what it merged and nothing
 * that another node was about to add below its `through` (ST3).
 */
import type { TransactionSql } from 'postgres'
import type { BadRecord } from './storage.ts'

/** One call of `append`. */
export interface Append {
  readonly name: Buffer
  readonly updates: readonly Uint8Array[]
  /** Told the last seq given, before the transaction is committed. */
  readonly told: (seq: number) => void
}

/** So much goes into one statement: the driver makes text of it, and the loop is free between two of them. */
const STATEMENT_BYTES = 1 << 20
/** A statement takes 65 534 values; a record is four. */
const STATEMENT_RECORDS = 4096

interface Row {
  room: string
  seq: number
  part: number
  bytes: Uint8Array
}

/** Appends of any rooms, in the order given. Resolves with how many boards are new. */
export async function writeAppends(tx: TransactionSql, appends: readonly Append[]): Promise<number> {
  const { ids, made } = await holdRooms(
    tx,
    appends.map(({ name }) => name),
  )
  const count = appends.reduce((sum, { updates }) => sum + updates.length, 0)
  const seqs = await tx`select nextval('y_weir.seqs') as seq from generate_series(1, ${Math.max(count, 1)})`
  let next = 0
  const rows: Row[] = []
  for (const { name, updates, told } of appends) {
    const room = ids.get(hex(name))!
    for (const bytes of updates) rows.push({ room, seq: Number(seqs[next++]!.seq), part: 0, bytes })
    told(Number(seqs[Math.max(next - 1, 0)]!.seq))
  }
  await insertRecords(tx, rows)
  return made
}

/** Resolves with how many boards are new: 0 or 1. */
export async function writeCompaction(
  tx: TransactionSql,
  name: Buffer,
  through: number,
  parts: readonly Uint8Array[],
): Promise<number> {
  const { ids, made } = await holdRooms(tx, [name])
  const room = ids.get(hex(name))!
  const [last] = await tx`
    select coalesce(max(part), 0) as part from y_weir.records where room = ${room} and seq = ${through}`
  await tx`delete from y_weir.records where room = ${room} and seq <= ${through}`
  const first = Number(last!.part) + 1
  await insertRecords(
    tx,
    parts.map((bytes, i) => ({ room, seq: through, part: first + i, bytes })),
  )
  return made
}

/** Resolves with how many records were there to be moved. */
export async function writeQuarantine(
  tx: TransactionSql,
  name: Buffer,
  bad: readonly BadRecord[],
  at: number,
): Promise<number> {
  let moved = 0
  for (const { place, reason } of bad) {
    const { count } = await tx`
      with gone as (
        delete from y_weir.records r using y_weir.rooms
        where rooms.name = ${name} and r.room = rooms.id and r.seq = ${place.seq} and r.part = ${place.part}
        returning r.bytes
      )
      insert into y_weir.quarantine (name, seq, part, at, reason, bytes)
      select ${name}, ${place.seq}, ${place.part}, ${at}, ${legible(reason)}, bytes from gone`
    moved += count
  }
  return moved
}

/** Resolves with how many boards are gone: 0 or 1. */
export async function writeDeletion(tx: TransactionSql, name: Buffer, authors: readonly number[]): Promise<number> {
  for (let from = 0; from < authors.length; from += STATEMENT_RECORDS) {
    const some = authors.slice(from, from + STATEMENT_RECORDS)
    await tx`
      insert into y_weir.graves (name, author)
      select ${name}, value::bigint from json_array_elements_text(${JSON.stringify(some)}::text::json)
      on conflict do nothing`
  }
  const gone = await tx`delete from y_weir.rooms where name = ${name} returning id`
  if (gone.length === 0) return 0
  await tx`delete from y_weir.records where room = ${gone[0]!.id}`
  return 1
}

/**
 * The rooms' ids, by their names in hex; made if they are not there; their rows are this transaction's until it ends. In the
 * order of names, so that two nodes never wait for each other.
 */
async function holdRooms(
  tx: TransactionSql,
  wanted: readonly Buffer[],
): Promise<{ ids: Map<string, string>; made: number }> {
  const names = [...new Map(wanted.map((name) => [hex(name), name])).values()].sort(Buffer.compare)
  const ids = new Map<string, string>()
  let made = 0
  // A second round where another node deleted the board between the two statements.
  while (ids.size < names.length) {
    const missing = names.filter((name) => !ids.has(hex(name)))
    for (const { id, name } of await tx`
      select id, name from y_weir.rooms where name in ${tx(missing)} order by name for update`) {
      ids.set(hex(name as Buffer), id as string)
    }
    const unknown = missing.filter((name) => !ids.has(hex(name)))
    if (unknown.length === 0) break
    const { count } = await tx`
      insert into y_weir.rooms ${tx(unknown.map((name) => ({ name })))} on conflict do nothing`
    made += count
  }
  return { ids, made }
}

async function insertRecords(tx: TransactionSql, rows: readonly Row[]): Promise<void> {
  let from = 0
  while (from < rows.length) {
    let to = from
    let bytes = 0
    while (to < rows.length && to - from < STATEMENT_RECORDS && (to === from || bytes < STATEMENT_BYTES)) {
      bytes += rows[to++]!.bytes.byteLength
    }
    await tx`insert into y_weir.records ${tx(rows.slice(from, to), 'room', 'seq', 'part', 'bytes')}`
    from = to
  }
}

const hex = (name: Uint8Array): string => Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('hex')

/** Text in a database has no zero byte. */
const legible = (reason: string): string => reason.replaceAll('\0', '\ufffd')
