/** A real server on a real PostgreSQL: what ST1 to ST8 promise, with the database taken away and brought back. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { bytes, recordsOf, texts } from '../contract/storage.contract.ts'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { programOf, startServerProcess } from '../support/process.ts'
import { rawClient } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

interface Outcome {
  readonly code: number
  readonly out: Buffer
  readonly err: string
}

function boards(env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, encoding: 'buffer', maxBuffer: 64 << 20 } as const
    const child = execFile(process.execPath, [...programOf('src/boards.ts'), ...args], options, (_error, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err: err.toString() })
    })
  })
}

describe.skipIf(!hasPostgres)('a server whose boards are in PostgreSQL', () => {
  let database: PostgresServer
  beforeAll(async () => {
    database = await PostgresServer.start()
  }, 60_000)
  afterAll(() => database.close())

  let databases = 0
  const fresh = async () => ({
    storage: 'postgres' as const,
    databaseUrl: await database.database(`served_${databases++}`),
  })
  const isSaved = async (server: TestServer) => (await server.metric('storage_unsaved_bytes')) === 0
  const readiness = async (server: TestServer) => (await fetch(`${server.httpUrl}/readyz`)).status

  test('[ST1] a killed server’s boards are there for the next one: all that was seen a second before', async (t) => {
    const { databaseUrl } = await fresh()
    const env = { STORAGE: 'postgres', DATABASE_URL: databaseUrl }
    const first = await startServerProcess(t, env)
    expect(first.output()).not.toContain('y_weir@')
    const writer = stockClient(t, first.url, 'board')
    await writer.synced()
    const map = writer.doc.getMap('m')
    for (let i = 0; i < 200; i++) {
      map.set(`${i % 50}`, i)
      await sleep(5)
    }
    await sleep(1_000)
    await first.kill()
    writer.provider.destroy()
    const second = await startServerProcess(t, env)
    const reader = stockClient(t, second.url, 'board')
    await reader.synced()
    expect(sameBoard(reader.doc, writer.doc)).toBe(true)
  })

  test('[ST6] the database is gone while people draw: they go on, readiness is red, and all is saved within 5 s of its return', async (t) => {
    const settings = await fresh()
    const server = await startServer(t, settings)
    const [a, b] = [stockClient(t, server.url, 'room'), stockClient(t, server.url, 'room')]
    await Promise.all([a.synced(), b.synced()])
    a.doc.getArray('list').push([0])
    await until(() => isSaved(server), 'the first edit is saved')
    await database.crash()
    for (let i = 1; i <= 300; i++) {
      a.doc.getArray('list').push([i])
      if (i % 30 === 0) await sleep(20)
    }
    await until(() => b.doc.getArray('list').length === 301, 'edits go on')
    await until(async () => (await readiness(server)) === 503, 'readiness is red')
    // A board that is not in memory cannot be had now: told to come back, nothing is written.
    const stranger = await rawClient(t, server.port, 'elsewhere')
    await until(() => stranger.closeFrame?.code === 1011, 'a join is refused')
    await database.begin()
    const back = performance.now()
    await until(async () => (await readiness(server)) === 200 && (await isSaved(server)), 'all is saved', 20_000)
    expect(performance.now() - back).toBeLessThan(8_000)
    expect([a.connections(), b.connections()]).toEqual([1, 1])
    await server.close()
    const next = await startServer(t, settings)
    const reader = stockClient(t, next.url, 'room')
    await reader.synced()
    expect(sameBoard(reader.doc, a.doc)).toBe(true)
  })

  test('[ST8] commands that write are refused while a server uses the boards, and those that read are not', async (t) => {
    const settings = await fresh()
    const env = { STORAGE: 'postgres', DATABASE_URL: settings.databaseUrl }
    const server = await startServer(t, settings)
    const writer = stockClient(t, server.url, 'board')
    await writer.synced()
    writer.doc.getMap('m').set('k', 1)
    await until(async () => (await server.metric('storage_commits_total')) > 0, 'it is saved')
    const list = await boards(env, 'list')
    expect([list.code, list.out.toString()]).toEqual([0, expect.stringMatching(/\t1\t1\tboard\n$/)])
    const file = join(dataDirectory(t), 'board.bin')
    expect((await boards(env, 'export', 'board', file)).code).toBe(0)
    const refused = await boards(env, 'import', 'other', file)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('a server uses the boards')])
    expect((await boards(env, 'backup', dataDirectory(t))).err).toContain('pg_dump')
    // A second server is no stranger: nodes share a database.
    await startServer(t, settings)
    await server.close()
  })

  test('boards commands work on a database as they do on a directory', async (t) => {
    const { databaseUrl } = await fresh()
    const env = { STORAGE: 'postgres', DATABASE_URL: databaseUrl }
    const doc = new Y.Doc()
    doc.getMap('m').set('k', 'v')
    const file = join(dataDirectory(t), 'board.bin')
    writeFileSync(file, Y.encodeStateAsUpdate(doc))
    expect((await boards(env, 'import', 'board', file)).code).toBe(0)
    expect((await boards(env, 'compact')).err).toContain('1 of 1 boards compacted')
    expect((await boards(env, 'verify')).code).toBe(0)
    const copy = new Y.Doc()
    Y.applyUpdate(copy, (await boards(env, 'export', 'board')).out)
    expect(sameBoard(copy, doc)).toBe(true)
    expect((await boards(env, 'delete', 'board')).code).toBe(0)
    expect((await boards(env, 'list')).out.toString()).toBe('bytes\trecords\ttail\troom\n')
  })

  test('boards copy moves everything there and back: boards, quarantine, deleted names', async (t) => {
    const { databaseUrl } = await fresh()
    const [from, to] = [dataDirectory(t), dataDirectory(t)]
    const open = (directory: string) => LmdbStorage.open({ directory, clock: systemClock, commitIntervalMs: 0 })
    const source = await open(from)
    const large = await source.append('large', [bytes('merged')])
    await source.compact('large', large, [new Uint8Array(70_000).fill(1), new Uint8Array(1_500_000).fill(2)])
    await source.append('large', [bytes('t1'), new Uint8Array(1_100_000).fill(3), bytes('t2')])
    for (let i = 0; i < 40; i++) await source.append(`board ${i}`, [bytes(`${i}`)])
    const bad = await source.append('board 7', [bytes('bad')])
    await source.quarantine('board 7', [{ place: { seq: bad, part: 0 }, reason: 'why' }])
    await source.append('gone', [bytes('g')])
    await source.delete('gone', [5, 2 ** 40])
    const expected = await Promise.all(['large', 'board 7', 'board 39'].map((room) => recordsOf(source, room)))
    await source.close()

    const env = { DATA_DIR: from, DATABASE_URL: databaseUrl }
    const there = await boards(env, 'copy', '--from', 'lmdb', '--to', 'postgres')
    expect([there.code, there.err]).toEqual([0, expect.stringContaining('41 boards')])
    expect((await boards(env, 'copy', '--from', 'lmdb', '--to', 'postgres')).err).toContain('where none are')
    expect((await boards(env, 'copy', '--from', 'lmdb', '--to', 'lmdb')).code).toBe(64)
    const back = await boards({ ...env, DATA_DIR: to }, 'copy', '--from', 'postgres', '--to', 'lmdb')
    expect(back.code, back.err).toBe(0)
    const target = await open(to)
    t.onTestFinished(() => target.close())
    const found = await Promise.all(['large', 'board 7', 'board 39'].map((room) => recordsOf(target, room)))
    expect(found.map(texts)).toEqual(expected.map(texts))
    expect(found[0]!.map(({ part }) => part)).toEqual([1, 2, 0, 0, 0])
    expect([...(await target.buried('gone'))].sort((x, y) => x - y)).toEqual([5, 2 ** 40])
    const quarantined: string[] = []
    for await (const { room, reason, update } of target.quarantined())
      quarantined.push(`${room} ${reason} ${update.length}`)
    expect(quarantined).toEqual(['board 7 why 3'])
  })
})
