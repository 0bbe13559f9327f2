/** Whose the rooms in memory are, and who makes way for whom. */
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { type RawClient, rawClient, rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

/** Behind a proxy that is trusted: an address for each test person. */
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })
const reasonOf = async (client: RawClient): Promise<string | undefined> => {
  await until(() => client.isOver, 'it is closed')
  return client.closeFrame?.reason
}

test('[MM6] one address holds its share of the rooms, whatever names it makes up; others are let in', async (t) => {
  const server = await startServer(t, { maxRoomsPerIp: 3, maxRooms: 10, trustedProxyHops: 1 })
  const mine = await Promise.all(['a', 'b', 'c'].map((room) => rawMember(t, server.port, room, from('192.0.2.1'))))
  expect(await reasonOf(await rawClient(t, server.port, 'd', from('192.0.2.1')))).toBe('too many rooms')
  // A room that is there already is nobody's share.
  await rawMember(t, server.port, 'a', from('192.0.2.1'))
  await rawMember(t, server.port, 'd', from('192.0.2.2'))
  expect(await server.metric('rooms_refused_total{limit="share"}')).toBe(1)
  // What it has left makes way at once, although it would stay for ten seconds.
  mine[1]!.close()
  await until(() => mine[1]!.isOver, 'it has left')
  await rawMember(t, server.port, 'e', from('192.0.2.1'))
  expect(await server.metric('rooms_made_way_total{limit="share"}')).toBe(1)
  expect(await server.metric('rooms_active')).toBe(4)
})

test('[MM6] when all places are taken the longest idle room leaves, one that stores nothing first', async (t) => {
  const server = await startServer(t, { maxRooms: 3, storage: 'lmdb', dataDir: dataDirectory(t) })
  for (const room of ['drawn', 'empty 1', 'empty 2']) {
    const member = await rawMember(t, server.port, encodeURIComponent(room))
    if (room === 'drawn') member.doc.getMap('m').set('k', 1)
    await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'it is saved')
    member.close()
    await until(() => member.isOver, 'it has left')
  }
  const [, second] = [
    await rawMember(t, server.port, 'new 1'.replace(' ', '%20')),
    await rawMember(t, server.port, 'new%202'),
  ]
  expect(await server.metric('rooms_made_way_total{limit="full"}')).toBe(2)
  const back = await rawMember(t, server.port, 'drawn')
  expect(back.doc.getMap('m').get('k')).toBe(1)
  expect(second!.isOver).toBe(false)
  expect(await server.metric('rooms_active')).toBe(3)
})

test('[MM6] a stored board comes in where every room is occupied: one that stores nothing makes way', async (t) => {
  const server = await startServer(t, { maxRooms: 2, storage: 'lmdb', dataDir: dataDirectory(t), trustedProxyHops: 1 })
  const author = await rawMember(t, server.port, 'stored', from('192.0.2.9'))
  author.doc.getMap('m').set('k', 1)
  await until(async () => (await server.metric('storage_rooms')) === 1, 'it is stored')
  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'it is saved')
  author.close()
  const squatters = await Promise.all(['x', 'y'].map((room) => rawMember(t, server.port, room, from('192.0.2.1'))))
  expect(await reasonOf(await rawClient(t, server.port, 'z', from('192.0.2.2')))).toBe('server full')
  const owner = await rawMember(t, server.port, 'stored', from('192.0.2.9'))
  expect(owner.doc.getMap('m').get('k')).toBe(1)
  await until(() => squatters.some(({ isOver }) => isOver), 'a squatter makes way')
  expect(squatters.map(({ closeFrame }) => closeFrame?.reason).filter((reason) => reason !== undefined)).toEqual([
    'too many rooms',
  ])
  expect(await server.metric('rooms_active')).toBe(2)
})
