import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/observe/clock.ts'
import { PostgresStorage, type PostgresStorageOptions } from '../../../src/storage/postgres-storage.ts'
import type { Quarantined } from '../../../src/storage/quarantine-entry.ts'
import { StorageError } from '../../../src/storage/storage.ts'
import { StorageMetrics } from '../../../src/storage/storage-metrics.ts'
import {
  ALIKE,
  bytes,
  largeBoardContract,
  recordsOf,
  roomsOf,
  storageContract,
  texts,
} from '../../contract/storage.contract.ts'
import { hasPostgres, PostgresServer } from '../../support/postgres-server.ts'

describe.skipIf(!hasPostgres)('PostgreSQL storage', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  }, 60_000)
  afterAll(() => server.close())

  const undo: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  let databases = 0
  const database = () => server.database(`boards_${databases++}`)
  async function open(options: Partial<PostgresStorageOptions> = {}): Promise<PostgresStorage> {
    const storage = await PostgresStorage.open({
      url: options.url ?? (await database()),
      clock: systemClock,
      date: () => 1_700_000_000_000,
      commitIntervalMs: 0,
      ...options,
    })
    undo.push(() => storage.close())
    return storage
  }

  storageContract(open)

  test('[ST1] everything is there for whoever opens next, and seqs go on', async () => {
    const url = await database()
    const first = await open({ url })
    const seqs = await Promise.all(ALIKE.map((room, i) => first.append(room, [bytes(`${i}`)])))
    await first.close()
    const metrics = new StorageMetrics()
    const second = await open({ url, metrics })
    for (const [i, room] of ALIKE.entries()) expect(texts(await recordsOf(second, room)), room).toEqual([`${i}`])
    expect(await second.append('new', [bytes('n')])).toBeGreaterThan(Math.max(...seqs))
    expect(metrics.roomsStored).toBe(ALIKE.length + 1)
  })

  test('a name that could not come back unchanged is refused, not lost', async () => {
    const storage = await open()
    for (const room of ['', 'x'.repeat(513), '🙂'.repeat(129), 'a\ud800']) {
      await expect(storage.append(room, [bytes('1')])).rejects.toThrow(StorageError)
      await expect(recordsOf(storage, room)).rejects.toThrow(StorageError)
    }
    expect(await roomsOf(storage)).toEqual([])
  })

  test('[ST4] quarantine keeps the bytes with room, place, time and reason, also after the board is deleted', async () => {
    const metrics = new StorageMetrics()
    const storage = await open({ metrics })
    await storage.append('r', [bytes('good')])
    const seq = await storage.append('r', [bytes('bad')])
    await storage.quarantine('r', [{ place: { seq, part: 0 }, reason: 'why\0' }])
    expect(metrics.quarantined.value).toBe(1)
    await storage.delete('r')
    const kept: Quarantined[] = []
    for await (const entry of storage.quarantined()) kept.push({ ...entry, update: new Uint8Array(entry.update) })
    expect(kept).toEqual([
      { room: 'r', seq, part: 0, at: 1_700_000_000_000, reason: 'why\ufffd', update: bytes('bad') },
    ])
  })

  test('[ST7] appends of many rooms share a transaction', async () => {
    const metrics = new StorageMetrics()
    const storage = await open({ metrics })
    await storage.append('first', [bytes('1')])
    await Promise.all(Array.from({ length: 50 }, (_, i) => storage.append(`room ${i}`, [bytes('1')])))
    expect(metrics.commits.value).toBe(2)
    expect(metrics.bytes.value).toBe(51)
    expect(metrics.roomsStored).toBe(51)
  })

  largeBoardContract(open)

  test('a thousand updates appended together come back in order', async () => {
    const storage = await open()
    const updates = Array.from({ length: 5_000 }, (_, i) => bytes(`${i}`))
    await storage.append('r', updates)
    expect(texts(await recordsOf(storage, 'r'))).toEqual(updates.map((_, i) => `${i}`))
  })

  test('two nodes begin on an empty database at once: one makes the schema, and both go on', async () => {
    const url = await database()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => open({ url })))
    await Promise.all(nodes.map((node, i) => node.append('r', [bytes(`${i}`)])))
    expect(texts(await recordsOf(nodes[0]!, 'r')).sort()).toEqual(['0', '1', '2', '3'])
  })

  test('[ST3] four nodes append to the same rooms while they are compacted: nothing is missing, nothing is there twice', async () => {
    const url = await database()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => open({ url })))
    const rooms = ['a', 'b', 'c']
    const wanted: Record<string, string[]> = { a: [], b: [], c: [] }
    const write = async (node: PostgresStorage, n: number) => {
      for (let i = 0; i < 40; i++) {
        await Promise.all(
          rooms.map((room) => {
            wanted[room]!.push(`${n}.${i}`)
            return node.append(room, [bytes(`${n}.${i} `)])
          }),
        )
      }
    }
    let writing = true
    // What a keeper does: what was read becomes a snapshot through the last seq read, whatever others append meanwhile.
    const compact = async (room: string) => {
      while (writing) {
        const records = await recordsOf(nodes[0]!, room)
        if (records.length > 20) await nodes[0]!.compact(room, records.at(-1)!.seq, [bytes(texts(records).join(''))])
      }
    }
    const compacting = rooms.map(compact)
    await Promise.all(nodes.map(write))
    writing = false
    await Promise.all(compacting)
    for (const room of rooms) {
      const keys = texts(await recordsOf(nodes[1]!, room))
        .join('')
        .trim()
        .split(' ')
      expect(keys.sort()).toEqual(wanted[room]!.sort())
    }
  })

  test('nodes that append to many rooms, and delete them, in different orders do not wait for each other for ever', async () => {
    const url = await database()
    const nodes = await Promise.all([open({ url }), open({ url })])
    const rooms = Array.from({ length: 30 }, (_, i) => `room ${i}`)
    for (let round = 0; round < 5; round++) {
      const orders = [rooms, [...rooms].reverse()]
      await Promise.all(nodes.flatMap((node, n) => orders[n]!.map((room) => node.append(room, [bytes('1')]))))
      await Promise.all(nodes.flatMap((node, n) => orders[n]!.slice(0, 5).map((room) => node.delete(room))))
    }
    const left = (await roomsOf(nodes[0]!)).filter(({ records }) => records === 10)
    expect(left.length).toBe(20)
  })

  test('a database of a newer program is left alone', async () => {
    const url = await database()
    await (await open({ url })).close()
    const sql = postgres(url, { max: 1 })
    await sql`update y_weir.meta set value = 999`
    await sql.end()
    await expect(open({ url })).rejects.toThrow('the database has format 999')
  })

  test('opened to be read it changes nothing, and sees what another process commits', async () => {
    const url = await database()
    await expect(open({ url, readOnly: true })).rejects.toThrow(StorageError)
    const writer = await open({ url })
    await writer.append('r', [bytes('1')])
    const reader = await open({ url, readOnly: true })
    expect(texts(await recordsOf(reader, 'r'))).toEqual(['1'])
    await expect(reader.append('r', [bytes('2')])).rejects.toThrow('opened to be read')
  })

  test('where no database answers, opening fails with a reason and within the time allowed', async () => {
    await expect(open({ url: 'postgres://nobody@127.0.0.1:1/none' })).rejects.toThrow(/ECONNREFUSED/)
    const silent = createServer().listen(0, '127.0.0.1')
    undo.push(() => void silent.close())
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    await expect(open({ url: `postgres://nobody@127.0.0.1:${port}/none`, timeoutMs: 500 })).rejects.toThrow(
      StorageError,
    )
  })

  test('[ST6] a database that crashed and came back is written to again, and has what it said it has', async () => {
    const storage = await open()
    await storage.append('r', [bytes('1')])
    await server.crash()
    await expect(storage.append('r', [bytes('lost')])).rejects.toThrow(StorageError)
    await expect(recordsOf(storage, 'r')).rejects.toThrow(StorageError)
    await server.begin()
    await storage.append('r', [bytes('2')])
    expect(texts(await recordsOf(storage, 'r'))).toEqual(['1', '2'])
  })

  test('nothing is left running after close: the process ends by itself', async () => {
    const program = `
      import { PostgresStorage } from ${JSON.stringify(new URL('../../../src/storage/postgres-storage.ts', import.meta.url))}
      import { systemClock } from ${JSON.stringify(new URL('../../../src/observe/clock.ts', import.meta.url))}
      const storage = await PostgresStorage.open({ url: process.argv[1], clock: systemClock })
      await storage.append('r', [new Uint8Array(10)])
      for await (const record of storage.load('r')) console.log(record.update.length)
      await storage.close()`
    const args = ['--import', 'tsx', '--input-type=module', '-e', program, await database()]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(stdout).toBe('10\n')
  })
})
