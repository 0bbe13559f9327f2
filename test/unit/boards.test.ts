import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { recordsOf } from '../contract/storage.contract.ts'
import { programOf } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })
const undo: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'y-weir-boards-'))
  undo.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function open(at: string): Promise<LmdbStorage> {
  const storage = await LmdbStorage.open({ directory: at, clock: systemClock, commitIntervalMs: 0 })
  undo.push(() => storage.close())
  return storage
}

interface Outcome {
  readonly code: number
  readonly out: Buffer
  readonly err: string
}

function boards(dataDirectory: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { ...process.env, DATA_DIR: dataDirectory }
    const options = { env, encoding: 'buffer', maxBuffer: 64 << 20 } as const
    const child = execFile(process.execPath, [...programOf('src/boards.ts'), ...args], options, (_error, out, err) => {
      resolve({ code: child.exitCode ?? -1, out, err: err.toString() })
    })
  })
}

/** Appends every change of the returned document to the board. */
function drawing(storage: LmdbStorage, room: string): { doc: Y.Doc; stored: () => Promise<unknown> } {
  const doc = new Y.Doc()
  const appends: Promise<number>[] = []
  doc.on('update', (update: Uint8Array) => appends.push(storage.append(room, [update])))
  return { doc, stored: () => Promise.all(appends) }
}

function docOf(update: Uint8Array): Y.Doc {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return doc
}

test('without a command it knows it explains itself', async () => {
  const [none, unknown, tooFew] = await Promise.all([
    boards(directory()),
    boards(directory(), 'toString'),
    boards(directory(), 'export'),
  ])
  for (const { code, err } of [none, unknown, tooFew]) {
    expect(code).toBe(64)
    expect(err).toContain('export <room> [file]')
  }
  const { code, err } = await boards(join(directory(), 'nowhere'), 'list')
  expect(code).toBe(1)
  expect(err).toContain('there are no boards')
})

test('list, export and verify work beside the process that has the directory; what writes refuses and names it', async () => {
  const at = directory()
  const storage = await open(at)
  const { doc, stored } = drawing(storage, 'a/b')
  for (let i = 0; i < 20; i++) doc.getMap('m').set(`k${i}`, i)
  await stored()
  await storage.append('with\nline', [Y.encodeStateAsUpdate(new Y.Doc())])
  const [list, exported, verified, deleted, compacted] = await Promise.all([
    boards(at, 'list'),
    boards(at, 'export', 'a/b'),
    boards(at, 'verify'),
    boards(at, 'delete', 'a/b'),
    boards(at, 'compact'),
  ])
  expect(list.out.toString()).toMatch(/^bytes\trecords\ttail\troom\n\d+\t20\t20\ta\/b\n2\t1\t1\t"with\\nline"\n$/)
  expect(exported.code).toBe(0)
  expect(docOf(exported.out).getMap('m').toJSON()).toEqual(doc.getMap('m').toJSON())
  expect(verified.code).toBe(0)
  expect(verified.err).toContain('0 with something wrong')
  for (const { code, err } of [deleted, compacted]) {
    expect(code).toBe(1)
    expect(err).toContain(`in use by another process: process ${process.pid}`)
  }
  expect((await recordsOf(storage, 'a/b')).length).toBe(20)
})

test('a board survives export, delete and import, and is cut into parts', async () => {
  const at = directory()
  const file = join(at, 'board.bin')
  const storage = await open(at)
  const { doc, stored } = drawing(storage, 'r')
  for (let i = 0; i < 100; i++) doc.getMap('m').set(`k${i}`, 'x'.repeat(5_000))
  doc.getMap('m').delete('k1')
  await stored()
  await storage.close()
  expect((await boards(at, 'export', 'r', file)).code).toBe(0)
  expect((await boards(at, 'delete', 'r')).code).toBe(0)
  expect((await boards(at, 'delete', 'r')).err).toContain('there is no board r')
  expect((await boards(at, 'export', 'r')).code).toBe(1)
  // Everybody who loaded it once was refused for good with 4410, whatever came of it.
  const refused = await boards(at, 'import', 'r', file)
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('was deleted')])
  expect((await boards(at, 'import', 'r again', file)).code).toBe(0)
  expect((await boards(at, 'import', 'r again', file)).err).toContain('--merge')
  const again = await open(at)
  const records = await recordsOf(again, 'r again')
  expect(records.length).toBeGreaterThan(5)
  expect(Math.max(...records.map(({ update }) => update.byteLength))).toBeLessThan(70_000)
  const back = new Y.Doc()
  for (const { update } of records) {
    Y.applyUpdate(back, update)
    expect(back.store.pendingStructs).toBeNull()
  }
  expect(Y.encodeStateAsUpdate(back)).toEqual(new Uint8Array(readFileSync(file)))
})

test('import merges on demand, and refuses what is not whole', async () => {
  const at = directory()
  const file = join(at, 'update.bin')
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let i = 0; i < 3; i++) doc.getArray('a').push([i])
  writeFileSync(file, updates[0]!)
  expect((await boards(at, 'import', 'r', file)).code).toBe(0)
  writeFileSync(file, updates[2]!)
  expect((await boards(at, 'import', 'r', file, '--merge')).err).toContain('builds on something that is not there')
  writeFileSync(file, updates[1]!)
  expect((await boards(at, 'import', 'r', file, '--merge')).code).toBe(0)
  writeFileSync(file, 'no update at all')
  expect((await boards(at, 'import', 'other', file)).err).toContain('is not a Yjs update')
  const { out } = await boards(at, 'export', 'r')
  expect(docOf(out).getArray('a').toJSON()).toEqual([0, 1])
})

test('[ST4] verify names bad records and gaps, and compact leaves such boards alone', async () => {
  const at = directory()
  const storage = await open(at)
  const good = drawing(storage, 'good')
  const gap = drawing(storage, 'gap')
  for (let i = 0; i < 10; i++) for (const { doc } of [good, gap]) doc.getMap('m').set('k', i)
  await Promise.all([good.stored(), gap.stored()])
  const seq = await storage.append('bad', [new Uint8Array(40).fill(255)])
  const third = (await recordsOf(storage, 'gap'))[2]!
  await storage.quarantine('gap', [{ place: third, reason: 'a test' }])
  await storage.close()
  const verified = await boards(at, 'verify')
  expect(verified.code).toBe(1)
  const lines = verified.out.toString()
  expect(lines).toContain(`bad: record ${seq}.0 is bad`)
  expect(lines).toContain('gap: records build on something that is not there')
  expect(lines).toContain(`gap: record ${third.seq}.0 is in quarantine since`)
  expect(verified.err).toContain('3 boards')
  const compacted = await boards(at, 'compact')
  expect(compacted.code).toBe(1)
  expect(compacted.err).toContain('1 of 3 boards compacted')
  const again = await open(at)
  expect((await recordsOf(again, 'good')).map(({ part }) => part)).toEqual([1])
  expect((await recordsOf(again, 'gap')).length).toBe(9)
  expect((await recordsOf(again, 'bad')).length).toBe(1)
})

test('a backup made beside a running server is a directory a server can start on', async () => {
  const at = directory()
  const target = join(directory(), 'copy')
  const storage = await open(at)
  const { doc, stored } = drawing(storage, 'r')
  doc.getMap('m').set('k', 1)
  await stored()
  expect((await boards(at, 'backup', target)).code).toBe(0)
  expect((await boards(at, 'backup', target)).err).toContain('holds boards already')
  const copy = await open(target)
  expect((await recordsOf(copy, 'r')).length).toBe(1)
})
