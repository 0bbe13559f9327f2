/** A document that breaks under a real server: who notices, and who does not. */
import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { BoardDoc } from '../../src/room/board-doc.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** Whatever this author writes breaks the server's document. */
const EVE = 666

/**
 * In the clean-up of a transaction, before its update is emitted: left alone, the document would take what comes and never emit
 * again. Clients have documents of another class, so that only the server's breaks.
 */
function breakAtEve(): { times: number } {
  const broken = { times: 0 }
  const { emit } = BoardDoc.prototype
  vi.spyOn(BoardDoc.prototype, 'emit').mockImplementation(function (this: BoardDoc, ...[name, args]) {
    if (name === 'afterTransactionCleanup') {
      const { beforeState, afterState } = args[0] as Y.Transaction
      if ((afterState.get(EVE) ?? 0) !== (beforeState.get(EVE) ?? 0)) {
        broken.times++
        throw new Error('injected into the clean-up')
      }
    }
    emit.call(this, name, args)
  })
  return broken
}

const board = ({ doc }: StockClient): Y.Map<unknown> => doc.getMap('m')

test('[RB1] [RB2] a room that breaks: its others go on in their sockets, its culprit is closed, nothing innocent is lost', async (t) => {
  t.onTestFinished(() => void vi.restoreAllMocks())
  const dataDir = dataDirectory(t)
  const server = await startServer(t, { storage: 'lmdb', dataDir })
  const [ann, bob, zoe, yan] = ['board', 'board', 'elsewhere', 'elsewhere'].map((room) =>
    stockClient(t, server.url, room),
  ) as [StockClient, StockClient, StockClient, StockClient]
  const doc = new Y.Doc()
  doc.clientID = EVE
  const eve = stockClient(t, server.url, 'board', { doc })
  await Promise.all([ann, bob, zoe, yan, eve].map((client) => client.synced()))
  board(ann).set('before', 1)
  await until(() => board(bob).get('before') === 1, 'an edit before')
  const closed = new Promise<number>((resolve) => eve.socket().once('close', resolve))

  const broken = breakAtEve()
  board(ann).set('ann', 1)
  board(eve).set('eve', 1)
  board(bob).set('bob', 1)
  await until(() => board(ann).get('bob') === 1 && board(bob).get('ann') === 1, 'innocent edits beside it')
  board(zoe).set('other', 1)
  await until(() => board(yan).get('other') === 1, 'another room')
  expect(await closed).toBe(4422)
  expect(broken.times).toBeGreaterThan(1)
  expect((await fetch(`${server.httpUrl}/readyz`)).status).toBe(200)
  expect(await server.metric('rooms_rebuilt_total{reason="apply"}')).toBe(broken.times)
  expect(await server.metric('rooms_given_up_total')).toBe(0)
  expect(await server.metric('ws_message_errors_total{reason="apply_failed"}')).toBeGreaterThan(0)

  board(ann).set('after', 1)
  await until(() => board(bob).get('after') === 1, 'an edit after')
  const joiner = await rawMember(t, server.port, 'board')
  expect(joiner.doc.getMap('m').toJSON()).toEqual({ before: 1, ann: 1, bob: 1, after: 1 })
  expect([ann, bob, zoe, yan].map((client) => client.connections())).toEqual([1, 1, 1, 1])

  await server.close()
  vi.restoreAllMocks()
  const again = await startServer(t, { storage: 'lmdb', dataDir })
  const { doc: found } = await rawMember(t, again.port, 'board')
  expect(found.getMap('m').toJSON()).toEqual({ before: 1, ann: 1, bob: 1, after: 1 })
})

test('[RB1] an export over HTTP that breaks the document costs nobody anything', async (t) => {
  t.onTestFinished(() => void vi.restoreAllMocks())
  const server = await startServer(t, { adminToken: 'secret' })
  const [ann, bob] = [stockClient(t, server.url, 'board'), stockClient(t, server.url, 'board')] as const
  await Promise.all([ann.synced(), bob.synced()])
  board(ann).set('k', 1)
  await until(() => board(bob).get('k') === 1, 'an edit before')
  const export_ = (): Promise<Response> =>
    fetch(`${server.httpUrl}/admin/rooms/board?format=json`, { headers: { authorization: 'Bearer secret' } })
  const { toJSON } = Y.Map.prototype
  let times = 0
  vi.spyOn(Y.Map.prototype, 'toJSON').mockImplementation(function (this: Y.Map<unknown>) {
    if (this.doc instanceof BoardDoc && times++ === 0) throw new Error('injected')
    return toJSON.call(this)
  })
  expect((await export_()).status).toBe(500)
  await until(async () => (await export_()).status === 200, 'the board can be read again')
  expect(await (await export_()).json()).toEqual({ m: { k: 1 } })
  expect(await server.metric('rooms_rebuilt_total{reason="export"}')).toBe(1)
  board(bob).set('k', 2)
  await until(() => board(ann).get('k') === 2, 'an edit after')
  expect([ann.connections(), bob.connections()]).toEqual([1, 1])
})
