import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { edit, loaded, sameState, type World, world } from './keeper-world.ts'

async function withTail(w: World, edits = 1_000) {
  const board = await loaded(w)
  for (let i = 0; i < edits; i++) {
    edit(board.doc, i % 50, (i % 50) + 1, `value ${i}`)
    await Promise.resolve()
  }
  await board.keeper.saved()
  await w.clock.settle()
  return board
}

test('[ST3] a tail worth it is replaced by a snapshot when the room rests, another is left alone', async () => {
  const w = world()
  const { doc, keeper } = await withTail(w, 20)
  const before = await w.storage.records()
  const tidied = keeper.tidy()
  await w.clock.settle()
  await tidied
  expect(await w.storage.records()).toEqual(before)
  for (let i = 0; i < 2_000; i++) doc.getMap('m').set('k', `a longer value ${i}`)
  await keeper.saved()
  const closed = keeper.close()
  await w.clock.settle()
  await closed
  expect((await w.storage.records()).every(({ part }) => part > 0)).toBe(true)
  expect(sameState(await w.stored(), doc)).toBe(true)
  expect(w.metrics.compactions.value).toBe(1)
})

test('[ST3] a room that lives long compacts by itself, again and again', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  for (let i = 0; i < 120; i++) {
    edit(doc, 0, 1, 'x'.repeat(30_000))
    await keeper.saved()
    await w.clock.settle()
  }
  expect(w.metrics.compactions.value).toBeGreaterThanOrEqual(3)
  expect(w.metrics.compactions.value).toBeLessThan(6)
  expect(sameState(await w.stored(), doc)).toBe(true)
})

test('[ST3] edits made while the parts are read survive beside them', async () => {
  const w = world()
  const board = await withTail(w)
  edit(board.doc, 1_000, 1_100, 'y'.repeat(5_000))
  await board.keeper.saved()
  let n = 0
  board.beforePart = () => {
    w.clock.spend(10)
    edit(board.doc, n % 50, (n % 50) + 1, `during ${n}`)
    board.doc.getMap('m').delete(`k${1_000 + n}`)
    board.doc.getArray('a').push([n++])
  }
  const tidied = board.keeper.tidy()
  await w.clock.settle()
  await tidied
  await board.keeper.saved()
  expect(n).toBeGreaterThan(5)
  expect(w.metrics.compactions.value).toBe(1)
  const again = await w.stored()
  expect(again.store.pendingStructs).toBeNull()
  expect(sameState(again, board.doc)).toBe(true)
})

test('[ST3] items keep who made them: a client that stayed duplicates nothing', async () => {
  const w = world()
  const { doc, keeper } = await loaded(w)
  const client = new Y.Doc()
  for (let i = 0; i < 50; i++) {
    client.getArray('a').push([i])
    client.getMap('m').set(`k${i}`, i)
  }
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(client))
  for (let i = 0; i < 2_000; i++) doc.getMap('noise').set('n', `a longer value ${i}`)
  doc.getMap('noise').delete('n')
  await keeper.saved()
  const closed = keeper.close()
  await w.clock.settle()
  await closed
  expect(w.metrics.compactions.value).toBe(1)
  const again = await loaded(w)
  Y.applyUpdate(again.doc, Y.encodeStateAsUpdate(client))
  expect(again.doc.getArray('a').length).toBe(50)
  expect(again.doc.getMap('m').size).toBe(50)
  const authors = [...Y.decodeStateVector(Y.encodeStateVector(again.doc)).keys()].sort()
  expect(authors).toEqual([client.clientID, doc.clientID].sort())
})

test('a compaction that fails loses nothing, and waits a minute before the next', async () => {
  const w = world()
  w.storage.fails = { compact: 'no room' }
  const { doc, keeper } = await withTail(w)
  for (let i = 0; i < 5; i++) {
    const tidied = keeper.tidy()
    await w.clock.settle()
    await tidied
  }
  expect(w.storage.compactions).toBe(1)
  expect(w.metrics.failures.value).toBe(1)
  expect(keeper.failing).toBeNull()
  expect(sameState(await w.stored(), doc)).toBe(true)
  w.storage.fails = {}
  await w.clock.advance(60_000)
  const tidied = keeper.tidy()
  await w.clock.settle()
  await tidied
  expect(w.metrics.compactions.value).toBe(1)
  expect(sameState(await w.stored(), doc)).toBe(true)
})

test('[ST9] one turn of the loop does one slice of one board, however many load', async () => {
  const w = world()
  for (const room of ['a', 'b', 'c']) {
    const board = await loaded(w, room)
    edit(board.doc, 0, 30)
    for (let i = 0; i < 30; i++) {
      edit(board.doc, 100 + i, 101 + i)
      await board.keeper.saved()
    }
  }
  const applied: string[] = []
  const boards = ['a', 'b', 'c'].map((room) => {
    const board = w.board(room)
    board.doc.on('update', () => {
      applied.push(room)
      w.clock.spend(3)
    })
    return board
  })
  const done = Promise.all(boards.map(({ keeper }) => keeper.load()))
  let turns = 0
  while (applied.length < 90) {
    const before = applied.length
    await w.clock.turn()
    expect(new Set(applied.slice(before)).size).toBeLessThanOrEqual(1)
    expect(applied.length - before).toBeLessThanOrEqual(3)
    if (++turns > 1_000) break
  }
  await w.clock.settle()
  await done
  expect(applied.length).toBeGreaterThanOrEqual(90)
  expect(turns).toBeGreaterThanOrEqual(30)
})

test('[ST9] a record of megabytes is applied in pieces, a slice a turn', async () => {
  const w = world()
  const source = new Y.Doc()
  source.transact(() => edit(source, 0, 3_000, 'x'.repeat(1_000)))
  await w.storage.append('r', [Y.encodeStateAsUpdate(source)])
  const { doc, keeper } = w.board()
  let pieces = 0
  doc.on('afterTransaction', () => {
    pieces++
    w.clock.spend(5)
  })
  const done = keeper.load()
  let turns = 0
  while (!doc.getMap('m').has('k2999') && turns < 1_000) {
    const before = pieces
    await w.clock.turn()
    expect(pieces - before).toBeLessThanOrEqual(2)
    turns++
  }
  await w.clock.settle()
  await done
  expect(turns).toBeGreaterThan(20)
  expect(sameState(doc, source)).toBe(true)
})

test('[ST4] a bad record goes to quarantine, is counted and named; the rest is served', async () => {
  const w = world()
  const first = await loaded(w)
  edit(first.doc, 0, 3)
  await first.keeper.saved()
  const garbage = Uint8Array.from({ length: 40 }, (_, i) => (i * 97 + 255) % 256)
  const seq = await w.storage.append('r', [garbage])
  edit(first.doc, 3, 6)
  await first.keeper.saved()
  const { doc } = await loaded(w)
  expect(sameState(doc, first.doc)).toBe(true)
  expect(w.metrics.quarantined.value).toBe(1)
  expect(w.storage.quarantined).toMatchObject([{ room: 'r', seq, update: garbage }])
  expect(w.log).toMatchObject([{ level: 'error', facts: { room: 'r', records: 1, first: { seq, part: 0 } } }])
  await loaded(w)
  expect(w.metrics.quarantined.value).toBe(1)
})

test('[ST4] records that build on a lost one stay in the log until a client has healed the gap', async () => {
  const w = world()
  const first = await loaded(w)
  for (let i = 0; i < 1_000; i++) {
    edit(first.doc, i, i + 1, `value ${i}`)
    if (i < 3) await first.keeper.saved()
  }
  await first.keeper.saved()
  const [, lost] = await w.storage.records()
  await w.storage.quarantine('r', [{ place: lost!, reason: 'a test' }])
  const { doc, keeper } = await loaded(w)
  expect(doc.getMap('m').size).toBe(1)
  const before = await w.storage.records()
  await keeper.tidy()
  expect(await w.storage.records()).toEqual(before)
  Y.applyUpdate(doc, lost!.update)
  await keeper.saved()
  expect(doc.getMap('m').size).toBe(1_000)
  const tidied = keeper.tidy()
  await w.clock.settle()
  await tidied
  expect(w.metrics.compactions.value).toBe(1)
  expect(sameState(await w.stored(), first.doc)).toBe(true)
})

test('[ST4] when quarantine fails the board is served and its log left as it is', async () => {
  const w = world()
  const first = await withTail(w)
  await w.storage.append('r', [new Uint8Array([255, 255, 255, 255])])
  w.storage.fails = { quarantine: 'the disk is full' }
  const { doc, keeper } = await loaded(w)
  expect(sameState(doc, first.doc)).toBe(true)
  const before = await w.storage.records()
  await keeper.tidy()
  edit(doc, 0, 1)
  await keeper.saved()
  expect((await w.storage.records()).length).toBe(before.length + 1)
  expect(w.metrics.quarantined.value).toBe(0)
  expect(w.metrics.failures.value).toBe(1)
})
