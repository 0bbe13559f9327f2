import { expect, type TestContext, test } from 'vitest'
import { sameBoard } from '../support/boards.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { freePort } from '../support/free-port.ts'
import { type ServerProcess, startServerProcess } from '../support/process.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const CLIENTS = 5
const EACH = 10

interface Scene {
  readonly server: ServerProcess
  readonly clients: readonly StockClient[]
  /** The server again, where it was. */
  startAgain(): Promise<ServerProcess>
}

/** Five people have put 50 items into an array and 50 keys into a map. */
async function scene(t: TestContext): Promise<Scene> {
  const env = { PORT: String(await freePort()), STORAGE: 'lmdb', DATA_DIR: dataDirectory(t) }
  const server = await startServerProcess(t, env)
  const clients = Array.from({ length: CLIENTS }, () => stockClient(t, server.url, 'board'))
  await Promise.all(clients.map((client) => client.synced()))
  for (const [who, { doc }] of clients.entries()) {
    for (let i = 0; i < EACH; i++) {
      doc.getArray('items').push([`${who}:${i}`])
      doc.getMap('keys').set(`${who}:${i}`, i)
    }
  }
  await until(() => clients.every(({ doc }) => isWhole(doc)), 'everybody has all of it')
  return { server, clients, startAgain: () => startServerProcess(t, env) }
}

function isWhole(doc: StockClient['doc']): boolean {
  return doc.getArray('items').length === CLIENTS * EACH && doc.getMap('keys').size === CLIENTS * EACH
}

/** Everybody is back on a new server, whose board holds each thing once, from those who were there. */
async function checkReturn(t: TestContext, { clients }: Scene, again: ServerProcess): Promise<void> {
  await until(() => clients.every(({ provider }) => provider.synced), 'everybody is back')
  const fresh = stockClient(t, again.url, 'board')
  await fresh.synced()
  await until(() => clients.every(({ doc }) => sameBoard(doc, fresh.doc)), 'all have the same board')
  for (const { doc } of [fresh, ...clients]) {
    expect([doc.getArray('items').length, doc.getMap('keys').size]).toEqual([50, 50])
    expect(new Set(doc.getArray('items').toArray()).size).toBe(50)
  }
  const known = new Set(clients.map(({ doc }) => doc.clientID))
  expect([...fresh.doc.store.clients.keys()].filter((author) => !known.has(author))).toEqual([])
  expect(clients.map(({ connections }) => connections() > 1)).toEqual(clients.map(() => true))
}

test('[ST1] [ST3] who stays open across a kill and a restart finds everything once', async (t) => {
  const { server, clients, startAgain } = await scene(t)
  await server.kill()
  await until(() => clients.every(({ provider }) => !provider.wsconnected), 'everybody is offline')
  const again = await startAgain()
  await checkReturn(t, { server, clients, startAgain }, again)
  // And they go on where they were.
  clients[0]!.doc.getMap('later').set('key', 1)
  await until(() => clients.every(({ doc }) => doc.getMap('later').has('key')), 'edits flow again')
})

test('[ST3] the same with a compaction just before the kill, and again after it', async (t) => {
  const { server, clients, startAgain } = await scene(t)
  // Overwritten until the tail is worth a snapshot.
  const scribble = async (at: ServerProcess): Promise<void> => {
    const before = await at.metric('storage_compactions_total')
    for (let i = 0; (await at.metric('storage_compactions_total')) === before; i++) {
      clients[0]!.doc.getMap('scratch').set('value', `${i % 10}`.repeat(60_000))
      clients[1]!.doc.getMap('scratch').set('other', `${i % 10}`.repeat(60_000))
    }
  }
  await scribble(server)
  await server.kill()
  const again = await startAgain()
  await checkReturn(t, { server, clients, startAgain }, again)
  await scribble(again)
  await again.kill()
  await checkReturn(t, { server, clients, startAgain }, await startAgain())
})

test('[ST1] [FR6] a board nobody has open comes back from the disk alone', async (t) => {
  const { server, clients, startAgain } = await scene(t)
  await until(async () => (await server.metric('storage_unsaved_bytes')) === 0, 'all is saved')
  const { doc } = clients[0]!
  for (const { provider } of clients) provider.destroy()
  await server.kill()
  const again = await startAgain()
  const fresh = stockClient(t, again.url, 'board')
  await fresh.synced()
  expect(sameBoard(fresh.doc, doc)).toBe(true)
})
