import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { recordsOf } from '../contract/storage.contract.ts'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startFaultyServer } from '../support/faulty-storage.ts'
import { Random } from '../support/random.ts'
import { rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const readiness = async (server: TestServer): Promise<readonly [number, string]> => {
  const response = await fetch(`${server.httpUrl}/readyz`)
  return [response.status, await response.text()]
}
const isSaved = async (server: TestServer): Promise<boolean> => (await server.metric('storage_unsaved_bytes')) === 0

/** A board of `count` records, stored before any server runs. */
async function stored(directory: string, room: string, updates: readonly Uint8Array[]): Promise<void> {
  const storage = await LmdbStorage.open({ directory, clock: systemClock, commitIntervalMs: 0 })
  for (const update of updates) await storage.append(room, [update])
  await storage.close()
}
/** What is on disk, to be compared. */
async function onDisk(directory: string, room: string): Promise<string[]> {
  const storage = await LmdbStorage.open({ directory, clock: systemClock, readOnly: true })
  const records = (await recordsOf(storage, room)).map(
    ({ seq, part, update }) => `${seq}.${part} ${Buffer.from(update).toString('hex')}`,
  )
  await storage.close()
  return records
}
/** Each change of a drawing as an update, with the one that drew it. */
function updatesOf(draw: (doc: Y.Doc) => void): { readonly doc: Y.Doc; readonly updates: Uint8Array[] } {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  draw(doc)
  return { doc, updates }
}
function recordingLog(): { readonly log: Logger; readonly lines: () => Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>)
      done()
    },
  })
  return { log: pino({ level: 'info' }, stream), lines: () => lines }
}

for (const after of [0, 3]) {
  test(`[ST5] a read that fails after ${after} records: joins are refused, nothing is written, the next join works`, async (t) => {
    const dataDir = dataDirectory(t)
    const { doc: old, updates } = updatesOf((doc) => {
      for (let i = 0; i < 6; i++) doc.getArray('items').push([i])
    })
    await stored(dataDir, 'board', updates)
    const before = await onDisk(dataDir, 'board')
    const server = await startFaultyServer(t, { dataDir })
    const { storage } = server
    storage.unreadable.set('board', { reason: 'the disk has a bad day', after })

    // Somebody whose edits would be written if they got anywhere.
    const eager = stockClient(t, server.url, 'board')
    eager.doc.getMap('m').set('eager', 1)
    const refused = await rawClient(t, server.port, 'board')
    refused.join().getMap('m').set('refused', 1)
    await until(() => refused.isOver, 'the join is refused')
    expect(refused.closeFrame).toEqual({ code: 1011, reason: expect.any(String) })
    expect(refused.frames).toEqual([])
    // Other boards are not concerned.
    await rawMember(t, server.port, 'another')
    await until(() => eager.connections() > 2, 'a stock client tries again and again')
    expect(eager.provider.synced).toBe(false)
    expect(await server.metric('storage_failures_total')).toBeGreaterThan(1)
    expect(await readiness(server)).toEqual([200, expect.stringContaining('ready')])
    expect([storage.asked.append, storage.asked.compact]).toEqual([0, 0])
    expect(await onDisk(dataDir, 'board')).toEqual(before)

    storage.unreadable.clear()
    await eager.synced()
    expect(eager.doc.getArray('items').toArray()).toEqual(old.getArray('items').toArray())
    const reader = await rawMember(t, server.port, 'board')
    await until(() => reader.doc.getMap('m').has('eager'), 'its edits are there')
    await until(() => isSaved(server), 'and saved')
    expect((await onDisk(dataDir, 'board')).slice(0, before.length)).toEqual(before)
  })
}

test('[ST6] while writes fail /readyz says why, the room stays and people go on; then all is saved by itself', async (t) => {
  const dataDir = dataDirectory(t)
  const { log, lines } = recordingLog()
  const server = await startFaultyServer(t, { dataDir, roomIdleMs: 0 }, log)
  const { storage } = server
  const author = stockClient(t, server.url, 'board')
  await author.synced()
  author.doc.getMap('m').set('early', 1)
  await until(async () => (await server.metric('storage_commits_total')) > 0 && (await isSaved(server)), 'it is saved')

  storage.writeError = 'the disk is on fire'
  author.doc.getMap('m').set('during', 1)
  await until(async () => (await readiness(server))[0] === 503, 'readiness is red')
  expect((await readiness(server))[1]).toContain('boards cannot be saved: the disk is on fire')
  expect((await fetch(`${server.httpUrl}/healthz`)).status).toBe(200)
  expect(await server.metric('storage_unsaved_bytes')).toBeGreaterThan(0)
  expect(await server.metric('storage_failures_total')).toBeGreaterThan(0)
  const reader = stockClient(t, server.url, 'board')
  await reader.synced()
  author.doc.getMap('m').set('later', 1)
  await until(() => reader.doc.getMap('m').has('later'), 'people go on')

  // Everybody leaves: what is not on disk is in memory only.
  author.provider.destroy()
  reader.provider.destroy()
  await until(async () => (await server.metric('ws_active_sockets')) === 0, 'all have left')
  const failures = await server.metric('storage_failures_total')
  await until(async () => (await server.metric('storage_failures_total')) > failures, 'it tries again')
  expect(await server.metric('rooms_active')).toBe(1)
  const back = await rawMember(t, server.port, 'board')
  expect(back.doc.getMap('m').toJSON()).toEqual({ early: 1, during: 1, later: 1 })
  back.close()

  storage.writeError = null
  await until(async () => (await readiness(server))[0] === 200, 'readiness is green again')
  await until(async () => (await server.metric('rooms_active')) === 0, 'the room leaves memory')
  expect(await isSaved(server)).toBe(true)
  const said = lines().filter(({ room }) => room === 'board')
  expect(said.filter(({ msg }) => msg === 'board could not be saved')[0]).toMatchObject({
    reason: 'the disk is on fire',
    tries: 1,
  })
  expect(said.filter(({ msg }) => msg === 'board is being saved again')).toHaveLength(1)
  await server.close()
  const again = await startServer(t, { storage: 'lmdb', dataDir })
  const { doc } = await rawMember(t, again.port, 'board')
  expect(doc.getMap('m').toJSON()).toEqual({ early: 1, during: 1, later: 1 })
})

for (const { size, bytes } of [
  { size: 'small', bytes: 10 },
  { size: 'large', bytes: 30_000 },
]) {
  test(`[ST7] writes that take 2 s at 100 ${size} updates a second: nobody waits, one write at a time, bounded memory`, async (t) => {
    const dataDir = dataDirectory(t)
    const server = await startFaultyServer(t, { dataDir, inboundBytesPerSecond: 1 << 20 })
    const { storage } = server
    const authors = Array.from({ length: 4 }, () => stockClient(t, server.url, 'board'))
    const reader = await rawMember(t, server.port, 'board', { record: false })
    await Promise.all(authors.map((author) => author.synced()))
    storage.writeDelayMs = 2_000

    const sentAt = new Map<string, number>()
    let slowest = 0
    let seen = 0
    reader.doc.getMap('m').observe((event) => {
      for (const key of event.keysChanged) {
        slowest = Math.max(slowest, performance.now() - sentAt.get(key)!)
        seen++
      }
    })
    let unsaved = 0
    const began = performance.now()
    for (let n = 0; n < 300; n++) {
      // 100 a second by the clock, however late the timer is.
      await sleep(Math.max(0, began + n * 10 - performance.now()))
      const { doc } = authors[n % authors.length]!
      sentAt.set(`k${n}`, performance.now())
      doc.getMap('m').set(`k${n}`, 'x'.repeat(bytes))
      if (n % 25 === 0) unsaved = Math.max(unsaved, await server.metric('storage_unsaved_bytes'))
    }
    await until(() => seen === 300, 'the reader has all')
    if (process.env.TEST_FIGURES) console.log({ size, slowest, unsaved, largest: storage.largestAppend })
    expect(slowest, 'ms until another client had an edit').toBeLessThan(1_000)
    storage.writeDelayMs = 0
    await until(() => isSaved(server), 'all is saved', 15_000)
    expect(storage.mostAppendsAtOnce).toBe(1)
    // One under way and one coalesced: a few writes, not hundreds, and none that is a whole board at once.
    expect(storage.asked.append + storage.asked.compact).toBeLessThan(40)
    expect(storage.largestAppend).toBeLessThan((1 << 20) + 100_000)
    if (bytes < 1_000) expect(unsaved).toBeLessThan(30_000)
    // Beyond 4 MiB the updates are let go: the document has them, and is written as a whole.
    else expect(storage.asked.compact).toBeGreaterThan(0)
    const { doc } = authors[0]!
    await server.close()
    const again = await startServer(t, { storage: 'lmdb', dataDir, maxMessageBytes: 32 << 20 })
    const late = await rawMember(t, again.port, 'board', { record: false })
    expect(sameBoard(late.doc, doc)).toBe(true)
    expect(late.doc.getMap('m').size).toBe(300)
  }, 40_000)
}

test('[ST4] 40 random bytes in the log are put aside, counted and named; the rest of the board is served', async (t) => {
  const dataDir = dataDirectory(t)
  const { doc, updates } = updatesOf((drawn) => {
    for (let i = 0; i < 10; i++) drawn.getMap('m').set(`k${i}`, i)
  })
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = new Random(seed)
  const rooms = Array.from({ length: 20 }, (_, i) => `board-${i}`)
  for (const room of rooms) {
    const noise = Uint8Array.from({ length: 40 }, () => random.int(256))
    await stored(dataDir, room, updates.toSpliced(random.int(11), 0, noise))
  }
  const { log, lines } = recordingLog()
  const server = await startServer(t, { storage: 'lmdb', dataDir, roomIdleMs: 0 }, log)
  for (const [i, room] of rooms.entries()) {
    const member = await rawMember(t, server.port, room)
    expect(member.doc.getMap('m').toJSON(), `seed ${seed}, ${room}`).toEqual(doc.getMap('m').toJSON())
    member.doc.getMap('m').set('new', 1)
    expect(await server.metric('storage_quarantined_records_total'), `seed ${seed}`).toBe(i + 1)
    const named = lines().filter((line) => line.room === room && String(line.msg).includes('quarantine'))
    expect(named).toMatchObject([{ records: 1, first: { seq: expect.any(Number), part: 0 } }])
    member.close()
  }
  await until(async () => (await server.metric('rooms_active')) === 0, 'all rooms leave memory')
  // The second time there is nothing bad left.
  for (const room of rooms) {
    const member = await rawMember(t, server.port, room)
    expect(member.doc.getMap('m').size).toBe(11)
  }
  expect(await server.metric('storage_quarantined_records_total')).toBe(rooms.length)
  expect(await readiness(server)).toEqual([200, expect.stringContaining('ready')])
  await server.close()

  const storage = await LmdbStorage.open({ directory: dataDir, clock: systemClock, readOnly: true })
  const kept: number[] = []
  for await (const { update } of storage.quarantined()) kept.push(update.byteLength)
  await storage.close()
  expect(kept).toEqual(rooms.map(() => 40))
})

test('[ST4] what builds on a lost record is served as soon as a client brings that one back', async (t) => {
  const dataDir = dataDirectory(t)
  const { doc, updates } = updatesOf((drawn) => {
    for (let i = 0; i < 60; i++) drawn.getArray('items').push([`${i}`.repeat(1_000)])
    drawn.getArray('items').delete(40, 2)
  })
  updates[20] = Uint8Array.from({ length: 40 }, (_, i) => i * 37)
  await stored(dataDir, 'board', updates)
  const server = await startServer(t, { storage: 'lmdb', dataDir, roomIdleMs: 0 })
  const reader = stockClient(t, server.url, 'board')
  await reader.synced()
  expect(reader.doc.getArray('items').length).toBe(20)
  expect(reader.doc.store.pendingStructs).toBeNull()
  const records = (await onDisk(dataDir, 'board')).length

  // Without it people go on, and the records that wait are not lost by a rest of the room.
  reader.doc.getMap('m').set('meanwhile', 'x'.repeat(40_000))
  const { doc: meanwhile } = await rawMember(t, server.port, 'board')
  expect(meanwhile.getMap('m').size).toBe(1)
  await until(async () => (await onDisk(dataDir, 'board')).length === records + 1, 'it is saved')

  const owner = stockClient(t, server.url, 'board', { doc })
  await until(() => reader.doc.getArray('items').length === 58, 'the board is whole again')
  await until(() => sameBoard(reader.doc, owner.doc), 'all have the same')
  expect(await server.metric('storage_quarantined_records_total')).toBe(1)
  for (const { provider } of [reader, owner]) provider.destroy()
  await server.close()
  const again = await startServer(t, { storage: 'lmdb', dataDir })
  const back = await rawMember(t, again.port, 'board')
  expect(sameBoard(back.doc, doc)).toBe(true)
  expect(await again.metric('storage_quarantined_records_total')).toBe(0)
})
