import { expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { DiffCursor, type DiffPart, DiffSource, OwedDeletes, PART_BYTES } from '../../../src/diff/diff-cursor.ts'
import { Random } from '../../support/random.ts'
import { cloneOf, contentOf, jsonUpdate } from './random-world.ts'

const NOBODY = new Map<number, number>()

function newDoc(clientID = 1): Y.Doc {
  return Object.assign(new Y.Doc(), { clientID })
}

function sourceOf(doc: Y.Doc): DiffSource {
  const source = new DiffSource(doc)
  onTestFinished(() => source.close())
  return source
}

function joinerOf(source: DiffSource): DiffCursor {
  return new DiffCursor(source, NOBODY, OwedDeletes.full())
}

const vectorOf = (doc: Y.Doc): Map<number, number> => Y.decodeStateVector(Y.encodeStateVector(doc))

/** Tells a cursor of every transaction, as an outbox does. */
function tell(doc: Y.Doc, cursor: DiffCursor | OwedDeletes): void {
  doc.on('update', (_update: Uint8Array, _origin: unknown, _doc: Y.Doc, { deleteSet }: Y.Transaction) => {
    if (cursor instanceof DiffCursor) cursor.addDeletes(deleteSet)
    else cursor.add(deleteSet)
  })
}

function apply(to: Y.Doc, part: DiffPart): void {
  Y.applyUpdate(to, part.update)
  expect(to.store.pendingStructs).toBeNull()
  expect(to.store.pendingDs).toBeNull()
}

function drain(cursor: DiffCursor, to: Y.Doc, partBytes = PART_BYTES): DiffPart[] {
  const parts: DiffPart[] = []
  do {
    parts.push(cursor.next(partBytes))
    apply(to, parts.at(-1)!)
  } while (!parts.at(-1)!.last)
  return parts
}

/** Authors that write in turn, each between what others wrote. One document plays them all. */
function alternatingBoard(rounds: number, authors = 4): Y.Doc {
  const board = newDoc()
  const list = board.getArray('list')
  for (let round = 0; round < rounds; round++) {
    board.clientID = 1000 + (round % authors)
    list.insert(Math.max(0, list.length - 1), [`${round}`])
  }
  return board
}

test('[FC8] a board of several authors comes in parts of 64 KiB, in causal order, and only the last makes equal', () => {
  const board = alternatingBoard(12_000)
  const receiver = new Y.Doc()
  const parts = drain(joinerOf(sourceOf(board)), receiver)
  expect(parts.length).toBeGreaterThan(2)
  for (const part of parts) expect(part.update.length).toBeLessThanOrEqual(PART_BYTES)
  for (const part of parts.slice(0, -1)) expect(part.update.length).toBeGreaterThan(PART_BYTES * 0.9)
  expect(parts.map((part) => part.last)).toEqual(parts.map((_, index) => index === parts.length - 1))
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC8] authors that alternate on every struct cost a fixed number of looks per struct', () => {
  const board = alternatingBoard(20_000)
  let looks = 0
  const { clients } = board.store
  for (const [client, structs] of clients) {
    const counted = new Proxy(structs, {
      get: (target, key) => {
        looks++
        return Reflect.get(target, key)
      },
    })
    clients.set(client, counted)
  }
  for (const cursor = joinerOf(sourceOf(board)); !cursor.next().last; );
  expect(looks).toBeGreaterThan(20_000)
  expect(looks).toBeLessThan(6 * 20_000)
})

test('[FC8] root names are not searched for every struct', () => {
  const board = newDoc()
  board.transact(() => {
    for (let i = 0; i < 2000; i++) board.getMap(`shape ${i}`).set('x', i)
  })
  let searches = 0
  const entries = Map.prototype.entries.bind(board.share)
  board.share.entries = () => {
    searches++
    return entries()
  }
  board.share[Symbol.iterator] = board.share.entries
  const receiver = new Y.Doc()
  const cursor = joinerOf(sourceOf(board))
  drain(cursor, receiver, 4096)
  board.getMap('one more').set('x', 1)
  drain(cursor, receiver)
  expect(searches).toBe(2)
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC4] a small diff is one part with its structs and its deletions', () => {
  const board = newDoc()
  board.getText('text').insert(0, 'hello world')
  const receiver = cloneOf(board)
  const before = vectorOf(board)
  const missed = new OwedDeletes()
  tell(board, missed)
  board.getText('text').delete(0, 6)
  board.getText('text').insert(0, 'big ')
  const [part, ...more] = drain(new DiffCursor(sourceOf(board), before, missed), receiver)
  expect(more).toEqual([])
  expect(part).toMatchObject({ last: true, uncuttable: false, endsInsideText: false, isEmpty: false })
  expect(receiver.getText('text').toString()).toBe('big world')
})

test('[FC4] one missed edit costs its own bytes, however much was deleted on the board before', () => {
  const board = newDoc()
  for (let i = 0; i < 500; i++) board.getArray('list').insert(0, [i, i])
  for (let i = 0; i < 500; i++) board.getArray('list').delete(i, 1)
  const receiver = cloneOf(board)
  const missed = new OwedDeletes()
  const before = vectorOf(board)
  tell(board, missed)
  board.getMap('shape').set('position', { x: 1, y: 2 })
  const parts = drain(new DiffCursor(sourceOf(board), before, missed), receiver)
  expect(parts).toHaveLength(1)
  expect(parts[0]!.update.length).toBeLessThan(60)
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC4] deletions alone are owed too, although the vectors are equal', () => {
  const board = newDoc()
  board.getText('text').insert(0, 'all of this goes')
  const receiver = cloneOf(board)
  const missed = new OwedDeletes()
  tell(board, missed)
  board.getText('text').delete(3, 13)
  const parts = drain(new DiffCursor(sourceOf(board), vectorOf(board), missed), receiver)
  expect(parts).toHaveLength(1)
  expect(parts[0]).toMatchObject({ last: true, isEmpty: false })
  expect(receiver.getText('text').toString()).toBe('all')
})

test('[FC4] a receiver that lacks nothing gets one empty part', () => {
  const board = alternatingBoard(20)
  const resync = new DiffCursor(sourceOf(board), vectorOf(board), new OwedDeletes())
  const empty = { update: Uint8Array.of(0, 0), last: true, uncuttable: false, endsInsideText: false, isEmpty: true }
  expect(resync.next()).toEqual(empty)
  expect(joinerOf(sourceOf(newDoc())).next()).toEqual(empty)
  expect(new DiffCursor(sourceOf(board), vectorOf(board), OwedDeletes.full()).next()).toEqual(empty)
})

test('[FC8] authors and clocks that the document does not have are ignored', () => {
  const board = newDoc(7)
  board.getText('text').insert(0, 'server')
  const claims = new Map(Array.from({ length: 5000 }, (_, index) => [10_000 + index, index]))
  claims.set(7, 1000)
  const cursor = new DiffCursor(sourceOf(board), claims, OwedDeletes.full())
  expect(cursor.next()).toMatchObject({ last: true, isEmpty: true })
  board.getText('text').insert(0, 'x'.repeat(1500))
  const { structs } = Y.decodeUpdate(cursor.next().update)
  expect(structs.map(({ id, length }) => [id.client, id.clock, length])).toEqual([[7, 1000, 506]])
})

test('[FC8] a text longer than a part is cut, never inside a surrogate pair', () => {
  const board = newDoc()
  board.getText('text').insert(0, `${'a'.repeat(31)}${'😀é漢'.repeat(3000)}`)
  for (const partBytes of [40, 64, 1000, PART_BYTES]) {
    const receiver = new Y.Doc()
    for (const { update, last } of drain(joinerOf(sourceOf(board)), receiver, partBytes)) {
      expect(update.length).toBeLessThanOrEqual(partBytes)
      if (!last) expect(update.length).toBeGreaterThan(partBytes - 12)
    }
    expect(receiver.getText('text').toString()).toBe(board.getText('text').toString())
  }
})

test('[FC8] arrays longer than a part are cut between values', () => {
  const values = Array.from({ length: 20_000 }, (_, index) => (index % 7 === 0 ? { index } : index))
  const board = newDoc()
  Y.applyUpdate(board, jsonUpdate(9, values))
  board.getArray('other').insert(0, values)
  for (const partBytes of [300, 5000, PART_BYTES]) {
    const receiver = new Y.Doc()
    const parts = drain(joinerOf(sourceOf(board)), receiver, partBytes)
    for (const part of parts.slice(0, -1)) {
      expect(part.update.length).toBeLessThanOrEqual(partBytes)
      expect(part.update.length).toBeGreaterThan(partBytes * 0.9)
    }
    expect(receiver.getArray('array').toJSON()).toEqual(values)
    expect(receiver.getArray('other').toJSON()).toEqual(values)
  }
})

test('[FC1] one value that cannot be cut stands alone in its part and says so', () => {
  const board = newDoc()
  const shapes = board.getMap('shapes')
  shapes.set('before', 1)
  shapes.set('picture', new Uint8Array(300_000))
  shapes.set('blob', { text: 'y'.repeat(200_000) })
  shapes.set('after', 2)
  const receiver = new Y.Doc()
  const parts = drain(joinerOf(sourceOf(board)), receiver)
  expect(parts.map((part) => [part.uncuttable, Y.decodeUpdate(part.update).structs.length])).toEqual([
    [false, 1],
    [true, 1],
    [true, 1],
    [false, 1],
  ])
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC8] edits made between parts ride along, and a deletion after the deletes have begun delays the last part', () => {
  const board = newDoc()
  const list = board.getArray('list')
  for (let i = 0; i < 3000; i++) list.insert(0, [i, i])
  for (let i = 0; i < 3000; i++) list.delete(i, 1)
  const source = sourceOf(board)
  const receiver = new Y.Doc()
  const cursor = joinerOf(source)
  tell(board, cursor)
  let part: DiffPart
  do {
    part = cursor.next(2000)
    apply(receiver, part)
  } while (part.update[0] !== 0)
  expect(part.last).toBe(false)
  list.delete(100, 5)
  list.insert(0, ['late'])
  const rest = drain(cursor, receiver, 2000)
  expect(rest.length).toBeGreaterThan(1)
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC4] after its last part a cursor goes on from what was sent', () => {
  const board = newDoc()
  board.getText('text').insert(0, 'one two')
  const receiver = new Y.Doc()
  const cursor = joinerOf(sourceOf(board))
  tell(board, cursor)
  drain(cursor, receiver)
  expect(cursor.sentOver(NOBODY)).toEqual(vectorOf(board))
  board.getText('text').delete(0, 4)
  board.getText('text').insert(3, ' three')
  expect(cursor.next().last).toBe(true)
  expect(cursor.next().isEmpty).toBe(true)
  board.getText('text').delete(0, 1)
  const { structs, ds } = Y.decodeUpdate(cursor.next().update)
  expect(structs).toEqual([])
  expect(ds.clients.get(1)).toMatchObject([{ clock: 4, len: 1 }])
})

test('[FC8] joiners with the same vector get the very same bytes', () => {
  const board = alternatingBoard(8000)
  board.getArray('list').delete(10, 50)
  const source = sourceOf(board)
  const first = drain(joinerOf(source), new Y.Doc())
  const receiver = new Y.Doc()
  const second = drain(new DiffCursor(source, new Map(), OwedDeletes.full()), receiver)
  expect(second.length).toBe(first.length)
  second.slice(0, -1).forEach((part, index) => void expect(part.update).toBe(first[index]!.update))
  expect(second.at(-1)).toEqual(first.at(-1))
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC8] parts made before later edits and deletions still lead to the document as it is', () => {
  const board = alternatingBoard(8000)
  const source = sourceOf(board)
  drain(joinerOf(source), new Y.Doc())
  const list = board.getArray('list')
  list.delete(500, 4000)
  list.insert(0, ['new'])
  const receiver = new Y.Doc()
  drain(joinerOf(source), receiver)
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC8] the shared delete set is complete for a joiner that comes after further deletions', () => {
  const board = newDoc()
  const list = board.getArray('list')
  for (let i = 0; i < 2000; i++) list.insert(0, [i, i])
  for (let i = 0; i < 1000; i++) list.delete(i, 1)
  const source = sourceOf(board)
  drain(joinerOf(source), new Y.Doc(), 1000)
  const receiver = cloneOf(board)
  const returning = new DiffCursor(source, vectorOf(receiver), OwedDeletes.full())
  for (let i = 1000; i < 1100; i++) list.delete(i, 1)
  drain(returning, receiver, 1000)
  expect(contentOf(receiver)).toEqual(contentOf(board))
})

test('[FC8] content that reached the server already collected is deleted at a client that still has it', () => {
  const board = newDoc()
  const list = board.getArray('list')
  for (let i = 0; i < 500; i++) list.insert(0, [i, i])
  for (let i = 0; i < 400; i++) list.delete(i, 1)
  const source = sourceOf(board)
  drain(joinerOf(source), new Y.Doc(), 300)
  const receiver = cloneOf(board)
  receiver.clientID = 5
  receiver.getText('text').insert(0, 'mine')
  // One GC struct of author 5, clocks 0 to 3, and no delete set.
  Y.applyUpdate(board, Uint8Array.of(1, 1, 5, 0, 0, 4, 0))
  drain(new DiffCursor(source, vectorOf(receiver), OwedDeletes.full()), receiver, 300)
  expect(receiver.getText('text').toString()).toBe('')
})

test('[FC8] what cursors share stays within its bound and can be given back', () => {
  const source = new DiffSource(alternatingBoard(8000), { bytes: 150_000 })
  onTestFinished(() => source.close())
  drain(joinerOf(source), new Y.Doc())
  expect(source.cache.bytes).toBeGreaterThan(0)
  expect(source.cache.bytes).toBeLessThanOrEqual(150_000)
  const half = joinerOf(source)
  const receiver = new Y.Doc()
  apply(receiver, half.next())
  source.forgetCache()
  expect(source.cache.bytes).toBe(0)
  drain(half, receiver)
  expect(contentOf(receiver)).toEqual(contentOf(source.doc))
})

test('[FC8] shared parts that nobody asks for are dropped after a number of lookups', () => {
  const board = alternatingBoard(4000)
  const source = new DiffSource(board, { idleLookups: 10 })
  onTestFinished(() => source.close())
  drain(joinerOf(source), new Y.Doc())
  const idle = source.cache.bytes
  const level = new DiffCursor(source, vectorOf(board), new OwedDeletes())
  for (let i = 0; i < 20; i++) level.next()
  expect(source.cache.bytes).toBeLessThan(idle)
  expect(source.cache.bytes).toBe(0)
})

test('[FC4] after close a source no longer listens to its document', () => {
  const board = newDoc()
  const source = new DiffSource(board)
  board.getMap('map').set('x', 1)
  expect(source.version).toBe(1)
  source.close()
  board.getMap('map').set('x', 2)
  expect(source.version).toBe(1)
})

test('[FC4] delete ranges agree with a set of clocks', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed)
    const ranges = new OwedDeletes(1000)
    const owed = new Set<string>()
    for (let i = random.int(60); i > 0; i--) {
      const [client, clock, length] = [random.int(3), random.int(200), random.int(9)]
      ranges.addRange(client, clock, length)
      for (let at = clock; at < clock + length; at++) owed.add(`${client}:${at}`)
    }
    const held = ranges.count
    let written = 0
    const sent = new Set<string>()
    for (let turns = 0; !ranges.isEmpty; turns++) {
      const deletes = ranges.take(random.pick([1, 10, 30, 500]), true)!
      for (const [client, items] of Y.decodeUpdate(Uint8Array.of(0, ...deletes)).ds.clients) {
        written += items.length
        for (const { clock, len } of items) for (let at = clock; at < clock + len; at++) sent.add(`${client}:${at}`)
      }
      expect(turns, `seed ${seed}`).toBeLessThan(300)
    }
    expect([...sent].sort(), `seed ${seed}`).toEqual([...owed].sort())
    expect(written, `seed ${seed}`).toBe(held)
  }
})

test('[FC4] more delete ranges than the bound turn into the whole delete set', () => {
  const ranges = new OwedDeletes(10)
  for (let i = 0; i < 10; i++) ranges.addRange(1, i * 2, 1)
  expect(ranges).toMatchObject({ isFull: false, count: 10 })
  ranges.addRange(1, 1, 1)
  expect(ranges.count).toBe(9)
  ranges.addRange(2, 0, 1)
  ranges.addRange(3, 0, 1)
  expect(ranges).toMatchObject({ isFull: true, isEmpty: false, count: 0 })
})
