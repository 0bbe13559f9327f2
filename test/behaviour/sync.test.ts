import { expect, test } from 'vitest'
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
