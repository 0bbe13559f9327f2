import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { systemClock } from '../../../src/observe/clock.ts'
import { LmdbStorage } from '../../../src/storage/lmdb-storage.ts'
import { StorageError } from '../../../src/storage/storage.ts'
import { StorageMetrics } from '../../../src/storage/storage-metrics.ts'
import { recordsOf } from '../../contract/storage.contract.ts'

let mount: string | undefined

beforeAll(() => {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path], { stdio: 'pipe' })
    mount = path
  } catch (error) {
    rmdirSync(path)
    if (process.env.CI) throw error
  }
})

afterAll(() => {
  if (mount === undefined) return
  execFileSync('umount', [mount])
  rmdirSync(mount)
})

/** An empty file system of 4 MB, or the test is skipped and says so. */
function tinyDisk(context: TestContext): string {
  if (mount === undefined) context.skip('a tmpfs can only be mounted as root')
  for (const name of ['boards', 'lock', 'filler']) rmSync(join(mount!, name), { recursive: true, force: true })
  return mount!
}

/** Leaves `bytes` free, about. */
function fill(disk: string, bytes: number): () => void {
  const path = join(disk, 'filler')
  const free = Number(execFileSync('stat', ['-f', '-c', '%a', disk])) * 4096
  writeFileSync(path, Buffer.alloc(Math.max(0, free - bytes)))
  return () => rmSync(path)
}

test('[ST6] on a full disk appends are refused with that reason, and succeed again when there is room', async (context) => {
  const disk = tinyDisk(context)
  const metrics = new StorageMetrics()
  const storage = await LmdbStorage.open({ directory: disk, clock: systemClock, metrics, commitIntervalMs: 0 })
  const record = new Uint8Array(65_536).fill(1)
  const free = fill(disk, 300_000)
  let stored = 0
  for (let refused = 0; refused < 5; ) {
    try {
      await storage.append('r', [record])
      stored++
    } catch (error) {
      refused++
      expect(error).toBeInstanceOf(StorageError)
      expect((error as Error).message).toContain('the disk is full')
    }
  }
  expect(stored).toBeGreaterThan(0)
  await expect(
    storage.compact(
      'r',
      1,
      Array.from({ length: 30 }, () => record),
    ),
  ).rejects.toThrow('the disk is full')
  const atOnce = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => storage.append(`room ${i}`, [record])))
  expect(atOnce.every(({ status }) => status === 'rejected')).toBe(true)
  expect((await recordsOf(storage, 'r')).length).toBe(stored)
  expect(metrics.roomsStored).toBe(1)
  free()
  await storage.append('r', [record])
  await storage.append('another', [record])
  expect((await recordsOf(storage, 'r')).length).toBe(stored + 1)
  expect(metrics.roomsStored).toBe(2)
  await storage.close()
  const again = await LmdbStorage.open({ directory: disk, clock: systemClock })
  const records = await recordsOf(again, 'r')
  expect(records.length).toBe(stored + 1)
  expect(records.every(({ update }) => update.length === 65_536 && update.every((byte) => byte === 1))).toBe(true)
  await again.close()
})

test('[ST2] a store on a full disk opens and is served', async (context) => {
  const disk = tinyDisk(context)
  const first = await LmdbStorage.open({ directory: disk, clock: systemClock })
  await first.append('r', [new Uint8Array(1_000)])
  await first.close()
  fill(disk, 0)
  const again = await LmdbStorage.open({ directory: disk, clock: systemClock })
  expect((await recordsOf(again, 'r')).length).toBe(1)
  await again.close()
})

for (const bytes of [0, 4_096, 8_192, 16_384, 24_576, 40_960, 65_536, 2_000_000]) {
  test(`with ${bytes} bytes free a store is made or refused, never half made`, async (context) => {
    const disk = tinyDisk(context)
    const free = fill(disk, bytes)
    const made = LmdbStorage.open({ directory: disk, clock: systemClock })
    if (bytes < 1_000_000) await expect(made).rejects.toThrow(/disk is full|no space left/)
    else await (await made).close()
    free()
    const storage = await LmdbStorage.open({ directory: disk, clock: systemClock })
    await storage.append('r', [new Uint8Array(10)])
    await storage.close()
  })
}
