import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { sameBoard } from '../support/boards.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

test('[FR1] [FR2] two stock clients converge, also on what they wrote while apart', async (t) => {
  const server = await startServer(t)
  const a = stockClient(t, server.url, 'board')
  const b = stockClient(t, server.url, 'board')
  await Promise.all([a.synced(), b.synced()])
  a.doc.getText('t').insert(0, 'hello')
  await until(() => b.doc.getText('t').toString() === 'hello', 'b has the text')

  b.provider.disconnect()
  a.doc.getText('t').insert(5, ' from a')
  b.doc.getText('t').insert(0, 'b says: ')
  b.provider.connect()
  await until(() => a.doc.getText('t').toString() === 'b says: hello from a', 'a has both')
  await until(() => b.doc.getText('t').toString() === 'b says: hello from a', 'b has both')
  expect(a.connections()).toBe(1)
})

test('[FR1] [FR2] texts, maps, arrays and deletions of two people who were apart come together', async (t) => {
  const server = await startServer(t)
  const a = stockClient(t, server.url, 'board')
  const b = stockClient(t, server.url, 'board')
  const online = stockClient(t, server.url, 'board')
  await Promise.all([a.synced(), b.synced(), online.synced()])
  a.doc.getText('text').insert(0, 'the quick brown fox')
  a.doc.getArray('list').push([1, 2, 3, 4, 5])
  a.doc.getMap('map').set('kept', 1)
  a.doc.getMap('map').set('dropped', 1)
  await until(() => sameBoard(a.doc, b.doc) && sameBoard(a.doc, online.doc), 'all three have it')

  a.provider.disconnect()
  b.provider.disconnect()
  a.doc.getText('text').delete(4, 6)
  b.doc.getText('text').format(4, 5, { bold: true })
  b.doc.getText('text').insert(19, ' jumps')
  a.doc.getArray('list').delete(0, 2)
  b.doc.getArray('list').insert(1, ['between'])
  a.doc.getMap('map').delete('dropped')
  b.doc.getMap('map').set('kept', 2)
  const shape = new Y.Map<unknown>()
  a.doc.getMap('map').set('shape', shape)
  shape.set('points', Y.Array.from([0, 0, 1, 1]))
  // Meanwhile somebody who stayed edits, and undoes some of it.
  online.doc.getText('text').insert(0, '> ')
  online.doc.getArray('list').push(['last'])
  online.doc.getText('text').delete(0, 1)

  a.provider.connect()
  b.provider.connect()
  await until(
    () => [a, b].every((client) => client.provider.synced && sameBoard(client.doc, online.doc)),
    'all three have the same board',
  )
  expect(online.doc.getArray('list').toArray()).toEqual(['between', 3, 4, 5, 'last'])
  expect(online.doc.getText('text').toString()).toBe(' the brown fox jumps')
  expect(online.doc.getMap('map').toJSON()).toEqual({ kept: 2, shape: { points: [0, 0, 1, 1] } })
  for (const { doc } of [a, b]) {
    expect(doc.getText('text').toDelta()).toEqual(online.doc.getText('text').toDelta())
    expect(doc.getMap('map').toJSON()).toEqual(online.doc.getMap('map').toJSON())
  }
})

test('[FR1] presence reaches the others and leaves with its client', async (t) => {
  const server = await startServer(t)
  const a = stockClient(t, server.url, 'board')
  const b = stockClient(t, server.url, 'board')
  await Promise.all([a.synced(), b.synced()])
  a.awareness.setLocalState({ name: 'Ann' })
  await until(() => b.awareness.getStates().get(a.doc.clientID)?.name === 'Ann', 'b sees Ann')
  a.provider.disconnect()
  await until(() => !b.awareness.getStates().has(a.doc.clientID), 'Ann is gone')
})

test('[FR1] a room is its decoded path: a/b and a%2Fb are one, a and A are two', async (t) => {
  const server = await startServer(t)
  const [slash, encoded, upper] = ['a/b', 'a%2Fb', 'A/b'].map((room) => stockClient(t, server.url, room))
  await Promise.all([slash!.synced(), encoded!.synced(), upper!.synced()])
  slash!.doc.getMap('m').set('k', 1)
  await until(() => encoded!.doc.getMap('m').get('k') === 1, 'the encoded name is the same room')
  expect(upper!.doc.getMap('m').has('k')).toBe(false)
})
