/**
 * What lies in the database, in a schema of its own, `y_weir`:
 *   rooms       id, name              records     room · seq · part → update
 *   meta        format                quarantine  room's name · seq · part → why, and the bytes
 *   graves      name · author of a board that was deleted under that name
 * Names are bytes, not text: text knows no zero byte, and its order depends on the database's locale.
 */
import type { Sql, TransactionSql } from 'postgres'
import { StorageError } from './storage.ts'

/** Each brings the schema from the format before it to the next one; the first makes it. Never changed once released. */
const MIGRATIONS: readonly string[] = [
  `
  create table y_weir.rooms (
    id bigint generated always as identity primary key,
    name bytea not null unique
  );
  create sequence y_weir.seqs as bigint;
  create table y_weir.records (
    room bigint not null,
    seq bigint not null,
    part integer not null,
    bytes bytea not null,
    primary key (room, seq, part)
  );
  create table y_weir.quarantine (
    id bigint generated always as identity primary key,
    name bytea not null,
    seq bigint not null,
    part integer not null,
    at bigint not null,
    reason text not null,
    bytes bytea not null
  );
  create table y_weir.graves (
    name bytea not null,
    author bigint not null,
    primary key (name, author)
  );
  -- Updates hardly compress, and the database would try with every one of them.
  alter table y_weir.records alter column bytes set storage external;
  alter table y_weir.quarantine alter column bytes set storage external;
  `,
]

/** Any number, the same for every node: who holds it migrates, the others wait and find it done. */
const MIGRATION_LOCK = 8_941_734_120

/** Makes the schema, or brings it up to date. Throws a StorageError for one from a newer program. */
export async function migrate(sql: Sql): Promise<void> {
  if ((await formatOf(sql)) === MIGRATIONS.length) return
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`
    await tx`create schema if not exists y_weir`
    await tx`create table if not exists y_weir.meta (key text primary key, value bigint not null)`
    const format = await formatOf(tx)
    for (const migration of MIGRATIONS.slice(format)) await tx.unsafe(migration)
    await tx`
      insert into y_weir.meta (key, value) values ('format', ${MIGRATIONS.length})
      on conflict (key) do update set value = excluded.value`
  })
}

/** 0: nothing there. Throws a StorageError when the format is not one that this program knows. */
async function formatOf(sql: Sql | TransactionSql): Promise<number> {
  const [there] = await sql`select to_regclass('y_weir.meta') is not null as meta`
  if (there?.meta !== true) return 0
  const [row] = await sql`select value from y_weir.meta where key = 'format'`
  const format = Number(row?.value ?? 0)
  if (format <= MIGRATIONS.length) return format
  throw new StorageError(`the database has format ${format}, this program knows up to format ${MIGRATIONS.length}`)
}
