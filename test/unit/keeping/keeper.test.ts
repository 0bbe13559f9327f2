import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { StorageError } from '../../../src/storage/storage.ts'
import { edit, loaded, sameState, world } from './keeper-world.ts'

test('[FR6] loading is single-flight, and what it applies is not stored again', async () => {
  const w = world()
  const first = await loaded(w)
  edit(first.doc, 0, 5)
  await w.clock.settle()
  const before = w.storage.appends
  const again = w.board()
  const answers = [again.keeper.load(), again.keeper.load()]
  expect(answers[0]).toBe(answers[1])
  await w.clock.settle()
  await Promise.all(answers)
  expect(sameState(again.doc, first.doc)).toBe(true)
  expect(w.storage.appends).toBe(before)
  expect(again.keeper.unsavedBytes).toBe(0)
})

test('[ST5] a load that fails rejects with why, and nothing is written then or later', async () => {
  const w = world()
  w.storage.fails = { load: 'the store cannot be read' }
  const { doc, keeper } = w.board()
  const failed = expect(keeper.load()).rejects.toThrow(StorageError)
  await w.clock.settle()
  await failed
  edit(doc, 0, 3)
  await w.clock.advance(60_000)
  await keeper.close()
  expect(w.storage.appends + w.storage.compactions).toBe(0)
  expect(keeper.unsavedBytes).toBe(0)
  expect(w.metrics.unsavedBytes).toBe(0)
  expect(w.metrics.failures.value).toBe(1)
  expect(w.clock.timers).toEqual([])
})

test('[ST1] every change is appended at once and is durable when nothing is unsaved', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  edit(doc, 0, 3)
  expect(keeper.unsavedBytes).toBeGreaterThan(0)
  expect(w.metrics.unsavedBytes).toBe(keeper.unsavedBytes)
  await keeper.saved()
  expect(keeper.unsavedBytes).toBe(0)
  expect(w.metrics.unsavedBytes).toBe(0)
  expect(sameState(await w.stored(), doc)).toBe(true)
})

test('[ST7] one write in flight, and one coalesced', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.held = true
  edit(doc, 0, 150)
  await w.clock.advance(2_000)
  expect(w.storage.appends).toBe(1)
  w.storage.release()
  await keeper.saved()
  expect(w.storage.appends).toBe(2)
  expect(w.storage.mostInFlight).toBe(1)
  expect(sameState(await w.stored(), doc)).toBe(true)
})

test('[ST7] what gathered goes out in writes of at most 1 MiB, a record an update', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.held = true
  edit(doc, 0, 1)
  edit(doc, 1, 21, 'x'.repeat(100_000))
  edit(doc, 21, 22, 'x'.repeat(2_000_000))
  edit(doc, 22, 30)
  w.storage.release()
  await keeper.saved()
  expect(w.storage.appends).toBe(5)
  expect((await w.storage.records()).length).toBe(30)
  expect(sameState(await w.stored(), doc)).toBe(true)
})

test('[ST6] a failed write is tried again with back-off, tells why, and is green by itself', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.fails = { append: 'the disk is full' }
  await w.clock.advance(1_000)
  edit(doc, 0, 3)
  await w.clock.settle()
  expect(keeper.failing).toEqual({ since: 1_000, reason: 'the disk is full' })
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    waits.push(w.clock.timers[0]!)
    await w.clock.advance(w.clock.timers[0]!)
    edit(doc, 3 + i, 4 + i)
  }
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  expect(w.metrics.failures.value).toBe(9)
  expect(keeper.failing?.since).toBe(1_000)
  expect(keeper.unsavedBytes).toBeGreaterThan(0)
  const saved = keeper.saved()
  w.storage.fails = {}
  await w.clock.advance(5_000)
  await saved
  expect(keeper.failing).toBeNull()
  expect(w.metrics.unsavedBytes).toBe(0)
  expect(sameState(await w.stored(), doc)).toBe(true)
  expect(w.log.map(({ text }) => text)).toEqual(['board could not be saved', 'board is being saved again'])
  expect(w.clock.timers).toEqual([])
})

test('[ST6] a write that does not end is told as failing after 10 s', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.held = true
  edit(doc, 0, 1)
  await w.clock.advance(9_999)
  expect(keeper.failing).toBeNull()
  await w.clock.advance(1)
  expect(keeper.failing?.reason).toBe('a write does not finish')
  w.storage.release()
  await keeper.saved()
  expect(keeper.failing).toBeNull()
})

test('[ST6] a long outage costs a bounded amount of memory: the document is written whole instead', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  edit(doc, 0, 10)
  await keeper.saved()
  w.storage.fails = { append: 'no', compact: 'no' }
  const text = 'x'.repeat(10_000)
  for (let round = 0; round < 3; round++) edit(doc, 0, 400, text)
  await w.clock.advance(30_000)
  edit(doc, 400, 405)
  const unsaved = keeper.unsavedBytes
  expect(unsaved).toBeGreaterThan(12_000_000)
  expect(w.metrics.unsavedBytes).toBe(unsaved)
  w.storage.fails = {}
  await w.clock.advance(5_000)
  expect(keeper.unsavedBytes).toBe(0)
  expect(w.metrics.unsavedBytes).toBe(0)
  expect(w.metrics.compactions.value).toBe(1)
  const again = await w.stored()
  expect(again.getMap('m').toJSON()).toEqual(doc.getMap('m').toJSON())
  expect(again.store.pendingStructs).toBeNull()
  const bytes = (await w.storage.records()).reduce((sum, { update }) => sum + update.byteLength, 0)
  expect(bytes).toBeLessThan(9_000_000)
})

test('giving up leaves no timer, and lets go whoever waits', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.fails = { append: 'no' }
  edit(doc, 0, 1)
  await w.clock.settle()
  const saved = keeper.saved()
  keeper.abandon()
  await saved
  edit(doc, 1, 2)
  await w.clock.advance(60_000)
  expect(w.clock.timers).toEqual([])
  expect(w.metrics.unsavedBytes).toBe(0)
  expect(w.storage.appends).toBe(1)
})

test('giving up while a write is under way counts nothing twice', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  w.storage.held = true
  edit(doc, 0, 2)
  keeper.abandon()
  w.storage.release()
  await w.clock.settle()
  expect(keeper.unsavedBytes).toBe(0)
  expect(w.metrics.unsavedBytes).toBe(0)
})

test('a store that is not durable is given nothing, and forgets the board when the room closes', async () => {
  const w = world({ durable: false })
  await w.storage.append('r', [Y.encodeStateAsUpdate(new Y.Doc())])
  const { doc, keeper } = await loaded(w)
  edit(doc, 0, 1000)
  expect(keeper.unsavedBytes).toBe(0)
  expect(w.storage.appends).toBe(1)
  await keeper.close()
  expect(await w.storage.records()).toEqual([])
})
