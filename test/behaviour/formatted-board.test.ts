import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { contentOf } from '../support/big-board.ts'
import { rewriteNotes, seen } from '../support/formatted-board.ts'
import { NOTES, openJoiner, serverWithBoards } from '../support/formatted-rooms.ts'
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
}, 60_000)

test('[FC8] formatted text that is longer than the bound comes in parts, which are counted', async (t) => {
  const board = { ...NOTES, notes: 300, seed: 1 }
  const { server, stored } = await serverWithBoards(t, [board], { maxWholeTextBytes: 131_072 })
  const joiner = openJoiner(t, server, '0')
  await joiner.synced()
  expect(contentOf(joiner.doc).vector).toEqual(stored[0]!.content.vector)
  expect(await server.metric('ws_split_texts_total')).toBeGreaterThan(0)
}, 60_000)

test('[FC8] a reader that fell behind while notes were written anew changes nothing either', async (t) => {
  const { server, stored } = await serverWithBoards(t, [{ ...NOTES, notes: 60, seed: 1 }])
  const [author, reader] = [openJoiner(t, server, '0'), openJoiner(t, server, '0')]
  await Promise.all([author.synced(), reader.synced()])
  expect(seen(reader.doc) === stored[0]!.seen).toBe(true)
  reader.socket().pause()
  // More than the kernel takes for a reader that stands still, so that it is behind; then the notes, edit by edit.
  for (let i = 0; i < 40; i++) {
    author.doc.getMap('filler').set(`${i}`, 'x'.repeat(200_000))
    await until(() => author.socket().bufferedAmount === 0, 'the filler is sent')
  }
  rewriteNotes(author.doc, 7, 2000)
  author.doc.getMap('other').set('done', true)
  await until(() => author.socket().bufferedAmount === 0, 'the notes are sent')
  const resyncs = 'ws_resyncs_total{direction="out",cause="large_update"}'
  await until(async () => (await server.metric(resyncs)) > 0, 'the reader is behind')
  reader.socket().resume()
  const isLevel = () => isDeepStrictEqual(contentOf(reader.doc), contentOf(author.doc))
  await until(isLevel, 'the reader has everything', 30_000)
  expect(seen(reader.doc) === seen(author.doc), 'both see the same').toBe(true)
  expect(reader.own).toHaveLength(0)
}, 60_000)
