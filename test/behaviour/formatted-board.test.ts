import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { contentOf } from '../support/big-board.ts'
import { addNotes, formattedBoard, retypeNotes, seen } from '../support/formatted-board.ts'
import { NOTES, type OpenJoiner as Open, openJoiner, serverWithBoards } from '../support/formatted-rooms.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[FC8] a stock client that joins a board of formatted notes with its texts open changes nothing', async (t) => {
  const boards = [1, 2].map((seed) => ({ ...NOTES, seed }))
  const { server, stored } = await serverWithBoards(t, boards)
  for (const [room, was] of stored.entries()) {
    const [first, second] = [openJoiner(t, server, String(room)), openJoiner(t, server, String(room))]
    await Promise.all([first.synced(), second.synced()])
    // Whatever it tidied was sent before this.
    second.doc.getMap('other').set('done', true)
    await until(() => first.doc.getMap('other').get('done') === true, 'the joiner’s edit is there')
    expect([first.own.length, second.own.length]).toEqual([0, 1])
    expect(seen(second.doc) === was.seen, 'everything is seen as before').toBe(true)
    expect(contentOf(first.doc).deletes).toEqual(was.content.deletes)
  }
  expect(await server.metric('ws_split_texts_total')).toBe(0)
}, 120_000)

test('[FC8] formatted text that is longer than the bound comes in parts, which are counted', async (t) => {
  const board = { ...NOTES, notes: 300, seed: 1 }
  const { server, stored } = await serverWithBoards(t, [board], { maxWholeTextBytes: 131_072 })
  const joiner = openJoiner(t, server, '0')
  await joiner.synced()
  expect(contentOf(joiner.doc).vector).toEqual(stored[0]!.content.vector)
  expect(await server.metric('ws_split_texts_total')).toBeGreaterThan(0)
}, 120_000)

test('[FC8] a reader that fell behind while notes were made and written anew changes nothing either', async (t) => {
  // Edit by edit, as an author who is not in a hurry: what the limiter drops would come back as one large update.
  const config = { rateLimitMaxTokens: 100_000, inboundBytesPerSecond: 1 << 28 }
  const { server, stored } = await serverWithBoards(t, [{ ...NOTES, notes: 60, seed: 1 }], config)
  const [author, witness, reader] = [1, 2, 3].map(() => openJoiner(t, server, '0')) as [Open, Open, Open]
  await Promise.all([author.synced(), witness.synced(), reader.synced()])
  expect(seen(reader.doc) === stored[0]!.seen).toBe(true)
  const areLevel = (a: Open, b: Open): boolean => isDeepStrictEqual(contentOf(a.doc), contentOf(b.doc))
  reader.socket().pause()
  // More than the kernel takes for a reader that stands still, so that it is behind.
  for (let i = 0; i < 40; i++) {
    author.doc.getMap('filler').set(`${i}`, 'x'.repeat(200_000))
    await until(() => author.socket().bufferedAmount === 0, 'the filler is sent')
  }
  for (let batch = 0; batch < 60; batch++) {
    if (batch < 30) addNotes(author.doc, batch, 20)
    else retypeNotes(author.doc, batch, 60)
    await until(() => author.socket().bufferedAmount === 0, 'the notes are sent')
  }
  await until(() => areLevel(author, witness), 'everybody else has the notes', 60_000)
  const was = seen(author.doc)
  reader.socket().resume()
  await until(() => areLevel(author, reader), 'the reader has everything', 60_000)
  expect(seen(reader.doc) === was, 'it sees what was there').toBe(true)
  expect(reader.own).toHaveLength(0)
}, 180_000)

test('[FC8] a board of formatted notes that somebody brings in one message changes for nobody who is there', async (t) => {
  const server = await startServer(t)
  for (const seed of [1, 2]) {
    const room = `board-${seed}`
    const board = formattedBoard({ ...NOTES, seed })
    const was = seen(board)
    const deletes = contentOf(board).deletes
    const [first, second] = [openJoiner(t, server, room), openJoiner(t, server, room)]
    await Promise.all([first.synced(), second.synced()])
    // Its answer to the server's question has all of it.
    const bringer = stockClient(t, server.url, room, { doc: board })
    await bringer.synced()
    await until(
      () => isDeepStrictEqual(contentOf(second.doc).vector, contentOf(board).vector),
      'all of it is there',
      60_000,
    )
    second.doc.getMap('other').set('done', true)
    await until(() => first.doc.getMap('other').get('done') === true, 'an edit after it passes', 60_000)
    expect([first.own.length, second.own.length]).toEqual([0, 1])
    for (const { doc } of [first, second]) {
      expect(seen(doc) === was, 'it is seen as it was').toBe(true)
      expect(contentOf(doc).deletes).toEqual(deletes)
    }
  }
  expect(await server.metric('ws_split_texts_total')).toBe(0)
  expect(await server.metric('ws_resyncs_total{direction="out",cause="large_update"}')).toBeGreaterThan(0)
}, 120_000)
