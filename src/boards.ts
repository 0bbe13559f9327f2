#!/usr/bin/env node
/**
 * `npm run boards -- <command>`: a look at the stored boards, and work on them while no server runs.
 *   list, export, verify, backup   only read: also beside a running server
 *   import, delete, compact, copy  write: refused while a server uses the boards
 * Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 not done or something is wrong, 64 wrong usage.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import * as Y from 'yjs'
import { applyChecked, hasGaps, partsOf, readBoard } from './keeping/board-document.ts'
import { copyBoards } from './storage/copy-boards.ts'
import { type BoardStore, openBoards, STORES, type StoreKind } from './storage/open-boards.ts'
import { byteSum, reasonOf, StorageError } from './storage/storage.ts'

const USAGE = `npm run boards -- <command>, on the boards of DATA_DIR (default ./data), or with STORAGE=postgres of DATABASE_URL

  list                           bytes, records, records since the last snapshot, name
  export <room> [file]           the board as one Yjs update (V1), to the file or to stdout
  verify                         reads every record of every board; exit code 1 if one is bad
  backup <directory>             a consistent copy of all boards, to be used as a DATA_DIR (a database: pg_dump)

while no server runs:
  import <room> <file> [--merge] a Yjs update (V1) becomes a board, or is merged into one
  delete <room>                  removes a board for good: clients that still have it are refused
  compact                        merges every board's records into a snapshot
  copy --from <store> --to <store>
                                 all boards of DATA_DIR (lmdb) into the empty database of DATABASE_URL (postgres), or the
                                 other way round; what was written is read again and compared
`

interface Command {
  readonly parameters: readonly [least: number, most: number]
  readonly writes: boolean
  /** Returns the exit code. */
  run(storage: BoardStore, args: readonly string[]): Promise<number>
}

const COMMANDS: Readonly<Record<string, Command>> = {
  list: { parameters: [0, 0], writes: false, run: list },
  export: { parameters: [1, 2], writes: false, run: exportBoard },
  verify: { parameters: [0, 0], writes: false, run: verify },
  backup: { parameters: [1, 1], writes: false, run: backup },
  import: { parameters: [2, 3], writes: true, run: importBoard },
  delete: { parameters: [1, 1], writes: true, run: deleteBoard },
  compact: { parameters: [0, 0], writes: true, run: compact },
}
const COPY = ['--from', '--to'] as const

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  if (name === 'copy') return copy(args)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined || args.length < command.parameters[0] || args.length > command.parameters[1]) {
    say(USAGE)
    return 64
  }
  let storage: BoardStore | undefined
  try {
    storage = await openBoards(process.env.STORAGE || 'lmdb', process.env, { writes: command.writes })
    return await command.run(storage, args)
  } catch (error) {
    say(`${name}: ${reasonOf(error)}`)
    return 1
  } finally {
    await storage?.close()
  }
}

async function copy(args: readonly string[]): Promise<number> {
  const [from, to] = COPY.map((option) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined))
  if (args.length !== 4 || from === to || ![from, to].every((kind) => STORES.includes(kind as StoreKind))) {
    say(USAGE)
    return 64
  }
  let source: BoardStore | undefined
  let target: BoardStore | undefined
  try {
    source = await openBoards(from!, process.env, { writes: true })
    target = await openBoards(to!, process.env, { writes: true })
    const progress = reporter()
    const { boards, bytes, graves, quarantined } = await copyBoards(source, target, (done) =>
      progress(`copied ${done.boards} boards, ${done.bytes} bytes`),
    )
    say(
      `${boards} boards, ${bytes} bytes copied and compared; ${quarantined} records in quarantine, ${graves} deleted names`,
    )
    return 0
  } catch (error) {
    say(`copy: ${reasonOf(error)}`)
    return 1
  } finally {
    await source?.close()
    await target?.close()
  }
}

async function list(storage: BoardStore): Promise<number> {
  await print('bytes\trecords\ttail\troom\n')
  for await (const { room, records, tail, bytes } of storage.rooms()) {
    await print(`${bytes}\t${records}\t${tail}\t${shown(room)}\n`)
  }
  return 0
}

async function exportBoard(storage: BoardStore, [room, file]: readonly string[]): Promise<number> {
  const { doc, records, bad } = await readBoard(storage, room!)
  if (records === 0) throw new StorageError(`there is no board ${shown(room!)}`)
  if (file === undefined && process.stdout.isTTY) throw new StorageError('an update is no text: name a file')
  for (const { place, reason } of bad) say(`record ${place.seq}.${place.part} is bad (${reason}) and left out`)
  const update = Y.encodeStateAsUpdate(doc)
  if (file === undefined) await print(update)
  else writeFileSync(file, update)
  say(`${records} records, ${update.byteLength} bytes`)
  return bad.length === 0 ? 0 : 1
}

async function verify(storage: BoardStore): Promise<number> {
  let [boards, wrong, bytes, quarantined] = [0, 0, 0, 0]
  const progress = reporter()
  for await (const { room } of storage.rooms()) {
    const board = await readBoard(storage, room)
    for (const { place, reason } of board.bad) {
      await print(`${shown(room)}: record ${place.seq}.${place.part} is bad (${reason})\n`)
    }
    if (hasGaps(board.doc)) await print(`${shown(room)}: records build on something that is not there\n`)
    if (board.bad.length > 0 || hasGaps(board.doc)) wrong++
    boards++
    bytes += board.bytes
    board.doc.destroy()
    progress(`verified ${boards} boards, ${bytes} bytes`)
  }
  for await (const { room, seq, part, reason, at } of storage.quarantined()) {
    quarantined++
    await print(
      `${shown(room)}: record ${seq}.${part} is in quarantine since ${new Date(at).toISOString()} (${reason})\n`,
    )
  }
  say(`${boards} boards, ${bytes} bytes: ${wrong} with something wrong; ${quarantined} records in quarantine`)
  return wrong === 0 ? 0 : 1
}

async function backup(storage: BoardStore, [directory]: readonly string[]): Promise<number> {
  if (storage.kind === 'postgres') throw new StorageError('a database has tools of its own: pg_dump --schema=y_weir')
  say(`copying to ${directory}`)
  await storage.backup(directory!)
  say('done')
  return 0
}

async function importBoard(storage: BoardStore, [room, file, option]: readonly string[]): Promise<number> {
  if (option !== undefined && option !== '--merge') {
    say(USAGE)
    return 64
  }
  const { doc, records, bad } = await readBoard(storage, room!)
  if (records > 0 && option === undefined)
    throw new StorageError(`there is a board ${shown(room!)}: --merge adds to it`)
  if (bad.length > 0) throw new StorageError(`${shown(room!)} has bad records`)
  const had = Y.decodeStateVector(Y.encodeStateVector(doc))
  const reason = applyChecked(doc, readFileSync(file!))
  if (reason !== undefined) throw new StorageError(`${file} is not a Yjs update (${reason})`)
  if (hasGaps(doc)) throw new StorageError(`${file} builds on something that is not there`)
  // Everybody who loads it once has it, and whoever has a deleted board is refused for good (AC6).
  const buried = new Set(await storage.buried(room!))
  if ([...doc.store.clients.keys()].some((author) => buried.has(author))) {
    throw new StorageError(
      `${shown(room!)} was deleted, and clients that have it are refused: import it under another name`,
    )
  }
  const parts = partsOf(doc, had)
  await storage.append(room!, parts)
  say(`${parts.length} records stored`)
  return 0
}

async function deleteBoard(storage: BoardStore, [room]: readonly string[]): Promise<number> {
  const { doc, records } = await readBoard(storage, room!)
  if (records === 0) throw new StorageError(`there is no board ${shown(room!)}`)
  await storage.delete(room!, [...doc.store.clients.keys()])
  say('deleted')
  return 0
}

async function compact(storage: BoardStore): Promise<number> {
  let [boards, compacted, skipped, before, after] = [0, 0, 0, 0, 0]
  const progress = reporter()
  for await (const { room, tail } of storage.rooms()) {
    progress(`looked at ${boards++} boards, compacted ${compacted}`)
    if (tail === 0) continue
    const board = await readBoard(storage, room)
    if (board.bad.length > 0 || hasGaps(board.doc)) {
      say(`${shown(room)} is left as it is: verify tells what is wrong with it`)
      skipped++
      continue
    }
    const parts = partsOf(board.doc)
    await storage.compact(room, board.lastSeq, parts)
    board.doc.destroy()
    compacted++
    before += board.bytes
    after += byteSum(parts)
  }
  say(`${compacted} of ${boards} boards compacted, ${before} bytes became ${after}; ${skipped} left as they are`)
  return skipped === 0 ? 0 : 1
}

/** A name on one line: as it is, or as a JSON string when something in it could be misread. */
function shown(room: string): string {
  return /^[^\p{C}\p{Z}"\\]+$/u.test(room) ? room : JSON.stringify(room)
}

/** Says how far long work is, once a second. */
function reporter(): (text: string) => void {
  let told = performance.now()
  return (text) => {
    if (performance.now() - told < 1_000) return
    told = performance.now()
    say(text)
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function print(output: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(output, (error) => (error ? reject(error) : resolve()))
  })
}

// Whoever reads stdout may stop before the end (`| head`): that is told to `print`, and no reason to crash.
process.stdout.on('error', () => {})
process.exitCode = await main(process.argv.slice(2))
