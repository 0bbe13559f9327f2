import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { open as openLmdb } from 'lmdb'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/observe/clock.ts'
import { LmdbStorage, type LmdbStorageOptions, type Quarantined } from '../../../src/storage/lmdb-storage.ts'
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

const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-lmdb-'))
  undo.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function open(options: Partial<LmdbStorageOptions> = {}): Promise<LmdbStorage> {
  const at = options.directory ?? directory()
  const storage = await LmdbStorage.open({
    clock: systemClock,
    date: () => 1_700_000_000_000,
    commitIntervalMs: 0,
    ...options,
    directory: at,
  })
  undo.push(() => storage.close())
  return storage
}

describe('LMDB storage', () => {
  storageContract(open)

  test('[ST1] everything is there after closing and opening again, and seqs go on', async () => {
    const at = directory()
    const first = await open({ directory: at })
    const seqs = await Promise.all(ALIKE.map((room, i) => first.append(room, [bytes(`${i}`)])))
    await first.close()
    const second = await open({ directory: at })
    for (const [i, room] of ALIKE.entries()) expect(texts(await recordsOf(second, room)), room).toEqual([`${i}`])
    const metrics = new StorageMetrics()
    expect(await second.append('new', [bytes('n')])).toBeGreaterThan(Math.max(...seqs))
    await second.append(ALIKE[0]!, [bytes('more')])
    expect(texts(await recordsOf(second, ALIKE[0]!))).toEqual(['0', 'more'])
    await second.close()
    await open({ directory: at, metrics })
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
    const at = directory()
    const metrics = new StorageMetrics()
    const storage = await open({ directory: at, metrics })
    await storage.append('r', [bytes('good')])
    const seq = await storage.append('r', [bytes('bad')])
    await storage.quarantine('r', [{ place: { seq, part: 0 }, reason: 'why' }])
    expect(metrics.quarantined.value).toBe(1)
    await storage.delete('r')
    await storage.close()
    const again = await open({ directory: at, readOnly: true })
    const kept: Quarantined[] = []
    for await (const entry of again.quarantined()) kept.push({ ...entry, update: new Uint8Array(entry.update) })
    expect(kept).toEqual([{ room: 'r', seq, part: 0, at: 1_700_000_000_000, reason: 'why', update: bytes('bad') }])
  })

  test('[ST7] appends of many rooms share a transaction; the next one waits its interval', async () => {
    const metrics = new StorageMetrics()
    const storage = await open({ commitIntervalMs: 20, metrics })
    await storage.append('first', [bytes('1')])
    const begun = performance.now()
    await Promise.all(Array.from({ length: 50 }, (_, i) => storage.append(`room ${i}`, [bytes('1')])))
    expect(metrics.commits.value).toBe(2)
    expect(performance.now() - begun).toBeGreaterThan(10)
    expect(metrics.commitSeconds.count).toBe(2)
    expect(metrics.bytes.value).toBe(51)
    expect(metrics.roomsStored).toBe(51)
  })

  largeBoardContract(open)

  test('bytes that were read stay as they are while the store goes on being written', async () => {
    const storage = await open()
    await storage.append('r', [new Uint8Array(300_000).fill(7)])
    const [record] = await recordsOf(storage, 'r')
    await storage.delete('r')
    for (let i = 0; i < 20; i++) await storage.append(`s${i}`, [new Uint8Array(300_000).fill(1)])
    expect(record!.update.every((byte) => byte === 7)).toBe(true)
  })

  test('a store that was opened to be read refuses to write, and sees what another process commits', async () => {
    const at = directory()
    const writer = await open({ directory: at })
    await writer.append('r', [bytes('1')])
    const reader = await open({ directory: at, readOnly: true })
    expect(texts(await recordsOf(reader, 'r'))).toEqual(['1'])
    await expect(reader.append('r', [bytes('2')])).rejects.toThrow('opened to be read')
    await expect(reader.delete('r')).rejects.toThrow('opened to be read')
  })

  test('to be read, a directory has to have boards', async () => {
    await expect(open({ readOnly: true })).rejects.toThrow('there are no boards')
  })

  test('a store from before boards could be deleted for good is read: no board has a grave', async () => {
    const at = directory()
    const storage = await open({ directory: at })
    await storage.append('r', [bytes('1')])
    await storage.close()
    const root = openLmdb({ path: join(at, 'boards'), noSubdir: false, keyEncoding: 'binary' })
    await root.openDB({ name: 'graves', encoding: 'binary', keyEncoding: 'binary' }).drop()
    await root.close()
    const reader = await open({ directory: at, readOnly: true })
    expect(texts(await recordsOf(reader, 'r'))).toEqual(['1'])
    expect(await reader.buried('r')).toEqual([])
    await reader.close()
    const writer = await open({ directory: at })
    await writer.delete('r', [7])
    expect(await writer.buried('r')).toEqual([7])
  })

  test('[ST8] a directory is opened once in a process, and again after close', async () => {
    const at = directory()
    const first = await open({ directory: at })
    await expect(open({ directory: at })).rejects.toThrow('in use by this process')
    await first.close()
    await open({ directory: at })
  })

  test('a backup holds what was stored when it was made, and only goes where nothing is', async () => {
    const at = directory()
    const target = directory()
    const storage = await open({ directory: at })
    await storage.append('r', [bytes('1')])
    await storage.backup(target)
    await storage.append('r', [bytes('2')])
    await expect(storage.backup(target)).rejects.toThrow('holds boards already')
    const copy = await open({ directory: target })
    expect(texts(await recordsOf(copy, 'r'))).toEqual(['1'])
  })

  test('nothing is left running after close: the process ends by itself, at once', async () => {
    const program = `
      import { LmdbStorage } from ${JSON.stringify(new URL('../../../src/storage/lmdb-storage.ts', import.meta.url))}
      import { systemClock } from ${JSON.stringify(new URL('../../../src/observe/clock.ts', import.meta.url))}
      const storage = await LmdbStorage.open({ directory: process.argv[1], clock: systemClock })
      await storage.append('r', [new Uint8Array(10)])
      for await (const record of storage.load('r')) console.log(record.update.length)
      await storage.close()
      console.log(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length)`
    const args = ['--import', 'tsx', '--input-type=module', '-e', program, directory()]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(stdout).toBe('10\n0\n')
  })
})
