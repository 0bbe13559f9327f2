/** Two live clients that write under one client id, and everything that only looks like it. */
import { expect, type TestContext, test } from 'vitest'
import * as Y from 'yjs'
import { type RawClient, rawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

function docOf(client: number): Y.Doc {
  const doc = new Y.Doc()
  doc.clientID = client
  return doc
}

const taken = (server: TestServer): Promise<number> =>
  server.metric('ws_message_errors_total{reason="client_id_taken"}')

async function twins(t: TestContext): Promise<{ server: TestServer; a: RawClient; b: RawClient; watcher: RawClient }> {
  const server = await startServer(t)
  const a = await rawMember(t, server.port, 'board', { doc: docOf(5) })
  const b = await rawMember(t, server.port, 'board', { doc: docOf(5) })
  const watcher = await rawMember(t, server.port, 'board')
  return { server, a, b, watcher }
}

test('[IN8] [I11] two documents with one client id, different keys: the one whose edit can get in nowhere is told, with 4409', async (t) => {
  const { server, a, b, watcher } = await twins(t)
  // Both in one turn, before either sees the other's.
  a.doc!.getMap('m').set('a', 1)
  b.doc!.getMap('m').set('b', 1)
  b.doc!.getMap('m').set('b', 2)
  await until(() => a.closeFrame !== null || b.closeFrame !== null, 'one of them is told')
  const [loser, winner] = a.closeFrame !== null ? [a, b] : [b, a]
  expect(loser.closeFrame).toEqual({ code: 4409, reason: 'client id taken' })
  winner.doc!.getMap('m').set('after', 1)
  await until(() => watcher.doc!.getMap('m').get('after') === 1, 'the other goes on')
  // What came behind the edit that was refused would have stood on it.
  expect(watcher.doc!.getMap('m').toJSON()).toEqual(winner.doc!.getMap('m').toJSON())
  expect(winner.closeFrame).toBeNull()
  expect(await taken(server)).toBe(1)
  expect(await server.metric('ws_closes_total{code="4409"}')).toBe(1)

  // With a new id it is in again, its work included.
  const again = await rawMember(t, server.port, 'board')
  again.doc.getMap('m').set('again', 1)
  await until(() => winner.doc!.getMap('m').get('again') === 1, 'the one that was told is back')
})

test('[IN8] both write ahead without a line: the second to come back is told, and nothing of its own is applied', async (t) => {
  const server = await startServer(t)
  const [first, second] = [docOf(5), docOf(5)]
  for (let i = 0; i < 20; i++) first.getArray('list').push([`first ${i}`])
  for (let i = 0; i < 30; i++) second.getArray('list').push([`second ${i}`])
  const a = await rawMember(t, server.port, 'board', { doc: first })
  const watcher = await rawMember(t, server.port, 'board')
  await until(() => watcher.doc.getArray('list').length === 20, 'the first is there')
  const b = await rawClient(t, server.port, 'board')
  b.join(second)
  await until(() => b.closeFrame !== null, 'the second is told')
  expect(b.closeFrame?.code).toBe(4409)
  a.doc.getArray('list').push(['after'])
  await until(() => watcher.doc.getArray('list').length === 21, 'the first goes on')
  expect(watcher.doc.getArray('list').toArray()).toEqual(a.doc.getArray('list').toArray())
})

test('[IN8] a client that comes back before its old socket is gone, resends and answers of others, a sibling’s copy: nobody is told', async (t) => {
  const { server, a, watcher } = await twins(t)
  const text = a.doc!.getText('text')
  text.insert(0, 'what was drawn ')
  text.format(0, 4, { bold: true })
  a.doc!.getMap('m').set('shape', { x: 1 })
  text.delete(2, 3)
  await until(() => watcher.doc!.getMap('m').has('shape'), 'it is there')
  // The same document on a second socket, the first one still open.
  const again = await rawClient(t, server.port, 'board')
  again.join(a.doc!)
  await until(() => again.isSynced, 'it is back')
  text.insert(3, 'and more ')
  a.doc!.getMap('m').set('shape', { x: 2 })
  // Everything once more, whole and in pieces, by its author, by a sibling that has a copy and by somebody else.
  const copy = docOf(5)
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(a.doc!))
  const whole = Y.encodeStateAsUpdate(copy)
  const half = Y.encodeStateAsUpdate(copy, Y.encodeStateVector(new Map([[5, 7]])))
  for (const client of [a, again, watcher]) for (const update of [whole, half]) client.sendUpdate(update)
  watcher.doc!.getMap('m').set('last', 1)
  await until(() => a.doc!.getMap('m').get('last') === 1, 'all of it has passed')
  for (const client of [a, again, watcher]) expect(client.closeFrame).toBeNull()
  expect(await taken(server)).toBe(0)
  expect(watcher.doc!.getText('text').toDelta()).toEqual(a.doc!.getText('text').toDelta())
})
