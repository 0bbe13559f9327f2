import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ADMIN_TOKEN, clientViews } from '../support/admin-view.ts'
import { pour, sameBoard } from '../support/boards.ts'
import { Random } from '../support/random.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

const ROUNDS = 8
const READERS = 4

test('[FC4] [FR4] readers that stop, sip and read on at random, while three people draw and erase, lose nothing', async (t) => {
  const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000)
  const random = new Random(seed)
  const next = (): number => random.next()
  const server = await startServer(t, { adminToken: ADMIN_TOKEN, rateLimitMaxTokens: 100_000, maxDocBytes: 2 ** 30 })
  const states = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const room = `room-${round}`
    const authors = await Promise.all(
      Array.from({ length: 3 }, () => rawMember(t, server.port, room, { record: false })),
    )
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => rawMember(t, server.port, room, { record: false })),
    )
    const [poured] = authors
    const note = async () => {
      for (const { room: name, state } of await clientViews(server)) if (name === room) states.add(state)
    }
    for (const reader of readers) reader.pause()
    // Frames of some 20 KB fill a queue; several in one flush are more than a frame may be, and make a diff at once.
    for (let sent = 0; sent < 6_000_000; sent += 20_000) {
      pour(poured!.doc, 20_000, 20_000)
      edit(authors[Math.floor(next() * 3)]!.doc, next)
      if (next() < (round % 2 === 0 ? 0.9 : 0.2)) await new Promise((resolve) => setTimeout(resolve, 9))
      if (sent > 4_000_000) await note()
    }
    for (let step = 0; step < 60; step++) {
      const reader = readers[Math.floor(next() * READERS)]!
      await reader.readSome(Math.floor(next() * 900_000))
      for (let edits = next() * 6; edits > 0; edits--) edit(authors[Math.floor(next() * 3)]!.doc, next)
      if (next() < 0.2) pour(poured!.doc, 60_000, 60_000)
      if (next() < 0.1) reader.resume()
      await note()
    }
    for (const reader of readers) reader.resume()
    const where = `seed ${seed}, round ${round}`
    await until(
      () => [...authors, ...readers].every(({ doc }) => sameBoard(doc, poured!.doc)),
      `everybody has the same board (${where})`,
      10_000,
    )
    expect(
      [...authors, ...readers].map(({ parked, isOver }) => ({ parked, isOver })),
      where,
    ).toEqual(Array.from({ length: 3 + READERS }, () => ({ parked: 0, isOver: false })))
    for (const client of [...authors, ...readers]) client.close()
  }
  // Whether frames are held for long enough to be seen is a matter of how quickly a queue fills.
  expect([...states]).toEqual(expect.arrayContaining(['live', 'behind']))
})

function edit(doc: Y.Doc, next: () => number): void {
  const text = doc.getText('t')
  const shapes = doc.getMap<Y.Map<unknown>>('shapes')
  const key = `s${Math.floor(next() * 12)}`
  const what = next()
  if (what < 0.3) text.insert(Math.floor(next() * (text.length + 1)), 'abc'.repeat(1 + Math.floor(next() * 20)))
  else if (what < 0.5) text.delete(0, Math.min(text.length, Math.floor(next() * 30)))
  else if (what < 0.7) shapes.set(key, new Y.Map([['x', next()]]))
  else if (what < 0.8) shapes.delete(key)
  else shapes.get(key)?.set('x', next())
}
