import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { contentOf, isLevel } from '../support/big-board.ts'
import { seen } from '../support/formatted-board.ts'
import { NOTES, openJoiner, serverWithBoards } from '../support/formatted-rooms.ts'
import { canMakeNamespaces, thinLink } from '../support/thin-link.ts'
import { until } from '../support/until.ts'

/** `BOARDS=100` tries as many, on thin links too, which takes ten minutes of an idle machine. */
const BOARDS = Number(process.env.BOARDS ?? 0)
const LINKS = 4

test('[FC8] joins of boards of 900 formatted notes change none of them', async (t) => {
  const boards = Array.from({ length: BOARDS || 25 }, (_, seed) => ({ ...NOTES, seed }))
  const { server, stored } = await serverWithBoards(t, boards)
  const sizes = stored.map(({ bytes }) => bytes)
  expect(Math.min(...sizes)).toBeGreaterThan(700_000)
  for (const [room, was] of stored.entries()) {
    const [first, second] = [openJoiner(t, server, String(room)), openJoiner(t, server, String(room))]
    await Promise.all([first.synced(), second.synced()])
    second.doc.getMap('other').set('done', true)
    await until(() => first.doc.getMap('other').get('done') === true, 'the joiner’s edit is there')
    expect([first.own.length, second.own.length], `board ${room}`).toEqual([0, 1])
    expect(seen(first.doc) === was.seen, `board ${room}`).toBe(true)
    expect(contentOf(first.doc).deletes, `board ${room}`).toEqual(was.content.deletes)
    for (const { provider } of [first, second]) provider.destroy()
  }
  expect(await server.metric('ws_split_texts_total')).toBe(0)
}, 600_000)

test.runIf(canMakeNamespaces())(
  '[FC8] nor do joins over 1 Mbit/s, in one socket each',
  async (t) => {
    const boards = Array.from({ length: BOARDS || 8 }, (_, seed) => ({ ...NOTES, seed }))
    const { server, stored } = await serverWithBoards(t, boards, { host: '0.0.0.0' })
    const links = Array.from({ length: LINKS }, () => thinLink(t, '1mbit'))
    const join = async (room: number): Promise<void> => {
      const link = links[room % LINKS]!
      const thin = link.run('thin-client.ts', [`ws://${link.serverAddress}:${server.port}`, String(room)])
      await until(() => thin.said.length > 0, `board ${room} has arrived`, 60_000)
      expect(thin.said[0], `board ${room}`).toMatchObject({ connections: 1, closes: 0, parked: 0, own: 0 })
      const all = openJoiner(t, server, String(room))
      await all.synced()
      expect(isDeepStrictEqual(contentOf(all.doc), stored[room]!.content), `board ${room}`).toBe(true)
      expect(isLevel(thin, all.doc), `board ${room}`).toBe(true)
      all.provider.destroy()
      thin.process.kill('SIGKILL')
    }
    await Promise.all(
      links.map(async (_, first) => {
        for (let room = first; room < boards.length; room += LINKS) await join(room)
      }),
    )
    expect(await server.metric('ws_split_texts_total')).toBe(0)
  },
  900_000,
)
