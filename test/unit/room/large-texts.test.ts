/**
 * Large updates with formatted text that a client sends. They are taken in slices over many flushes, while stock clients that
 * have the texts open are there and others draw.
 */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { encodeUpdate } from '../../../src/protocol/frames.ts'
import { formattedBoard, retypeNotes, seen } from '../../support/formatted-board.ts'
import { contentOf, WireClient, World } from '../../support/memory-world.ts'
import { Random } from '../../support/random.ts'

interface Setup {
  readonly world: World
  readonly sender: WireClient
  readonly readers: readonly WireClient[]
}

async function setup(board: Uint8Array | null): Promise<Setup> {
  const world = new World({ outbox: { softBytes: 1 << 18, hardBytes: 1 << 20 } })
  const [sender, ...readers] = ['sender', 'first', 'second'].map(
    (name, i) => new WireClient(world, 'board', name, i + 1),
  )
  for (const client of [sender!, ...readers]) {
    client.doc.getMap('shapes')
    client.connect()
    client.transmit()
  }
  await world.clock.advance(50)
  if (board !== null) {
    sender!.outgoing.push(encodeUpdate(board))
    sender!.transmit()
    await world.clock.advance(200)
  }
  for (const client of [sender!, ...readers]) client.transmit()
  await world.clock.advance(50)
  // From here on a flush has time for a few slices only.
  world.clock.perLook = 1.5
  return { world, sender: sender!, readers }
}

/** Hands an update over and turns the loop until all of it is with everybody, some drawing meanwhile. */
async function send({ world, sender, readers }: Setup, update: Uint8Array, draws: boolean): Promise<number> {
  sender.outgoing.push(encodeUpdate(update))
  sender.transmit()
  const room = world.registry.get('board')!
  let turns = 0
  do {
    if (draws && turns % 3 === 0) readers[0]!.doc.getMap('drawing').set('n', turns)
    for (const client of readers) client.transmit()
    await world.clock.turn()
    turns++
    // An edit that came last may wait for its tick.
  } while (!room.isSettled && turns < 1_000)
  world.clock.perLook = 0
  for (let i = 0; i < 4; i++) {
    await world.clock.advance(100)
    for (const client of [sender, ...readers]) client.transmit()
  }
  return turns
}

/** What a client that was given all of it at once makes of it. */
function atOnce(...updates: readonly (Uint8Array | null)[]): { seen: string; tidied: number } {
  const doc = new Y.Doc()
  doc.getMap('shapes')
  let tidied = 0
  doc.on('update', (_update: Uint8Array, _origin: unknown, _doc: Y.Doc, { local }: Y.Transaction) => {
    if (local) tidied++
  })
  for (const update of updates) if (update !== null) Y.applyUpdate(doc, update)
  return { seen: seen(doc), tidied }
}

test('[FC8] a large update of formatted notes is with stock clients at once: they see what its authors saw', async () => {
  let slicedFor = 0
  for (let seed = 0; seed < 20; seed++) {
    const random = new Random(seed)
    const board = formattedBoard({ seed, notes: 20 + random.int(20), authors: 4, retyped: 1, words: 20 })
    const update = Y.encodeStateAsUpdate(board)
    const world = await setup(null)
    slicedFor += await send(world, update, seed % 2 === 1)
    const now = contentOf(world.world.registry.get('board')!.doc)
    for (const reader of world.readers) {
      expect(seen(reader.doc), `seed ${seed}`).toBe(atOnce(update).seen)
      expect(contentOf(reader.doc), `seed ${seed}`).toEqual(now)
    }
  }
  // Otherwise this says nothing.
  expect(slicedFor).toBeGreaterThan(20 * 10)
}, 60_000)

test('[FC8] nor is a board torn that was there, when somebody sends what was written anew offline', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = new Random(seed)
    const board = formattedBoard({ seed, notes: 30, authors: 3, retyped: 0.5, words: 20 })
    const before = Y.encodeStateAsUpdate(board)
    const vector = Y.encodeStateVector(board)
    retypeNotes(board, seed, 40 + random.int(80))
    const later = Y.encodeStateAsUpdate(board, vector)
    const world = await setup(before)
    await send(world, later, seed % 2 === 1)
    const now = contentOf(world.world.registry.get('board')!.doc)
    for (const reader of world.readers) {
      expect(seen(reader.doc), `seed ${seed}`).toBe(atOnce(before, later).seen)
      expect(contentOf(reader.doc), `seed ${seed}`).toEqual(now)
    }
  }
}, 60_000)

test('[LT2] text that takes too long is shown as far as it is, counted, and everybody has the same in the end', async () => {
  const board = formattedBoard({ seed: 1, notes: 60, authors: 4, retyped: 1, words: 20 })
  const setUp = await setup(null)
  const { world, sender, readers } = setUp
  sender.outgoing.push(encodeUpdate(Y.encodeStateAsUpdate(board)))
  sender.transmit()
  const room = world.registry.get('board')!
  for (let i = 0; i < 3; i++) await world.clock.turn()
  expect([room.isSettled, readers[0]!.doc.getMap('shapes').size]).toEqual([false, 0])
  // A joiner waits as well.
  const joiner = new WireClient(world, 'board', 'joiner', 9)
  joiner.connect()
  joiner.transmit()
  for (let i = 0; i < 3; i++) await world.clock.turn()
  expect([room.isSettled, joiner.synced]).toEqual([false, false])
  world.clock.spend(6_000)
  world.clock.runDue()
  expect(world.metrics.splitTexts.value).toBe(1)
  world.clock.perLook = 0
  await world.clock.advance(200)
  for (const client of [sender, joiner, ...readers]) client.transmit()
  await world.clock.advance(200)
  const now = contentOf(room.doc)
  for (const client of [joiner, ...readers]) expect(contentOf(client.doc)).toEqual(now)
})
