import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Session } from '../../../src/inbound/session.ts'
import { encodeStep1, encodeUpdate } from '../../../src/protocol/frames.ts'
import { manyAuthors } from '../../support/many-authors.ts'
import { MemorySink } from '../../support/memory-sink.ts'
import { World } from '../../support/memory-world.ts'

const EDITS = 240

interface Peer {
  readonly sink: MemorySink
  readonly session: Session
  frames: number
}

function enter(world: World, name: string): Peer {
  const peer: Peer = {
    sink: new MemorySink(() => peer.frames++),
    get session() {
      return session
    },
    frames: 0,
  }
  const session = world.session(peer.sink, 'board', name)
  return peer
}

/** CPU time of an edit, µs, from the frame that brings it to the frames and folds that three others get for it. */
async function costOf(authors: number, edits: readonly Uint8Array[]): Promise<{ edit: number; fold: number }> {
  const world = new World({ maxDocAuthors: 100_000, outbox: { softBytes: 65_536, hardBytes: 1 << 20, maxQueued: 4 } })
  const writer = enter(world, 'writer')
  const readers = ['a', 'b', 'c'].map((name) => enter(world, name))
  await world.clock.advance(50)
  for (const { session } of [writer, ...readers]) session.receive(encodeStep1(Uint8Array.of(0)), true)
  await world.clock.advance(50)
  writer.session.receive(encodeUpdate(manyAuthors(authors)), true)
  await world.clock.advance(2000)
  for (const reader of readers) expect(reader.session.outbox?.state).toBe('live')

  const cost = async (each: readonly Uint8Array[]): Promise<number> => {
    const start = process.cpuUsage()
    for (const edit of each) {
      writer.session.receive(encodeUpdate(edit), true)
      await world.clock.advance(20)
    }
    const { user, system } = process.cpuUsage(start)
    return (user + system) / each.length
  }
  const half = edits.length / 2
  const before = readers[0]!.frames
  const edit = await cost(edits.slice(0, half))
  expect(readers[0]!.frames - before).toBeGreaterThanOrEqual(half)
  // One reader is coalesced, one does not read: its queue folds into a diff, of which nothing can go out.
  readers[1]!.session.outbox!.pace(250)
  readers[2]!.sink.stall()
  const fold = await cost(edits.slice(half))
  expect(readers[1]!.session.outbox!.resyncs).toBeGreaterThan(5)
  await world.clock.advance(1000)
  readers[2]!.sink.letThrough(Number.POSITIVE_INFINITY)
  await world.clock.advance(500)
  for (const reader of readers) expect(reader.session.outbox?.state).toBe('live')
  return { edit, fold }
}

test('[HI1] from frame to frames, folds included, an edit costs no more on a board of 60 000 past authors than on one of 10', async () => {
  const author = new Y.Doc()
  const edits: Uint8Array[] = []
  author.on('update', (update: Uint8Array) => edits.push(update))
  for (let i = 0; i < EDITS; i++) author.getMap('shapes').set(`s${i % 50}`, { x: i, y: i, text: 'x'.repeat(300) })
  await costOf(10, edits)
  const [few, many, most] = [await costOf(10, edits), await costOf(10_000, edits), await costOf(60_000, edits)]
  // Twice the promise leaves room for a busy machine; it was 7 700 and 41 000 µs against 1 500.
  for (const work of ['edit', 'fold'] as const) {
    expect(many[work], `${work}: ${JSON.stringify({ few, many, most })}`).toBeLessThan(2 * 1.5 * few[work])
    expect(most[work], `${work}: ${JSON.stringify({ few, many, most })}`).toBeLessThan(2 * 3 * few[work])
  }
  if (process.env.SHOW_COSTS !== undefined) console.log({ few, many, most })
}, 60_000)
