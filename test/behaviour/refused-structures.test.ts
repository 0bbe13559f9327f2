/**
 * Updates whose bytes are in order, made so that Yjs breaks over what they say: at the edit itself, at a later one, or when
 * somebody joins. Each is refused, its sender is told nothing, and the room goes on.
 */
import { expect, type TestContext, test } from 'vitest'
import * as Y from 'yjs'
import { type RawClient, rawMember } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'
import { ascii, KEY, update, varuint } from '../support/update-bytes.ts'

/** A room with two members; `stays` sees that they go on, that nothing of `sender` got in and that a joiner gets the board. */
async function room(t: TestContext): Promise<{
  server: TestServer
  sender: RawClient
  others: readonly RawClient[]
  stays: () => Promise<void>
}> {
  const server = await startServer(t)
  const [sender, first, second] = [
    await rawMember(t, server.port, 'board'),
    await rawMember(t, server.port, 'board'),
    await rawMember(t, server.port, 'board'),
  ]
  first.doc!.getMap('m').set('before', 1)
  await until(() => second.doc!.getMap('m').get('before') === 1, 'the others see each other')
  const stays = async (): Promise<void> => {
    // Behind what the sender sent, and behind the tick that took it in.
    sender.doc!.getMap('m').set('sender', 1)
    await until(() => second.doc!.getMap('m').get('sender') === 1, 'the sender is still listened to')
    for (const [i, member] of [first, second].entries()) {
      member.doc!.getMap('m').set(`after${i}`, 2)
      await until(() => [first, second].every(({ doc }) => doc!.getMap('m').get(`after${i}`) === 2), 'the others go on')
    }
    const joiner = await rawMember(t, server.port, 'board')
    const board = { before: 1, sender: 1, after0: 2, after1: 2 }
    for (const { doc } of [first, second, joiner]) {
      expect(doc!.getMap('m').toJSON()).toEqual(board)
      expect(doc!.store.clients.has(9)).toBe(false)
    }
    joiner.doc!.getMap('m').set('joiner', 3)
    await until(() => first.doc!.getMap('m').get('joiner') === 3, 'the joiner is heard')
  }
  return { server, sender, others: [first, second], stays }
}

const errors = (server: TestServer, reason: string): Promise<number> =>
  server.metric(`ws_message_errors_total{reason="${reason}"}`)

test('[IN5] [I1] a subdocument whose options say what its guid is: refused, and the room goes on', async (t) => {
  const { server, sender, stays } = await room(t)
  sender.sendUpdate(Buffer.from('01014d0009010178016776010467756964750000', 'hex'))
  await stays()
  expect(await errors(server, 'content')).toBe(1)
})

/** A list in the root `m`, which holds a map value of two units under `k`, which is deleted from its end. */
const I2 = update(
  [
    [7, ...KEY, 1],
    [0x28, 0, 9, 0, 1, 0x6b, 2, 125, 1, 125, 2],
  ],
  [1, 9, 2, 2, 1, 0, 1],
)

test('[IN5] [I2] a map value of two units, half deleted: refused, and the room goes on', async (t) => {
  const { server, sender, stays } = await room(t)
  sender.sendUpdate(I2)
  await stays()
  expect(await errors(server, 'map_entry')).toBe(1)
})

test('[IN5] a map value of two units that only its origin makes one: refused', async (t) => {
  const { server, sender, stays } = await room(t)
  const value = [0x28, ...KEY, 1, 0x6b, 1, 125, 1]
  const follower = [0x88, 9, 0, 2, 125, 1, 125, 2]
  sender.sendUpdate(update([value, follower]))
  await stays()
  expect(await errors(server, 'map_entry')).toBe(1)
})

/** Arrays of author 9 in each other: `count` from clock `from` on, the first in the root or in the one before it. */
function nested(from: number, count: number): Uint8Array {
  const structs: number[] = []
  for (let clock = from; clock < from + count; clock++) {
    structs.push(7, ...(clock === 0 ? KEY : [0, 9, ...varuint(clock - 1)]), 0)
  }
  return Uint8Array.from([1, ...varuint(count), 9, ...varuint(from), ...structs, 0])
}

test('[IN5] [IN4] [I3] 39 updates of 99 arrays in each other, all before their predecessor: never deeper than the limit', async (t) => {
  const { server, sender, others } = await room(t)
  for (let part = 38; part > 0; part--) sender.sendUpdate(nested(part * 99, 99))
  sender.sendUpdate(nested(0, 99))
  await until(() => Y.getState(others[0]!.doc!.store, 9) >= 99, 'the first part is there')
  for (let part = 1; part < 4; part++) sender.sendUpdate(nested(part * 99, 99))
  await until(async () => (await errors(server, 'nesting')) > 0, 'the second part is refused')
  const joiner = await rawMember(t, server.port, 'board')
  // One in each other: as many as there are, so deep it is.
  expect(Y.getState(joiner.doc!.store, 9)).toBeLessThanOrEqual(100)
  joiner.doc!.getMap('m').set('after', 2)
  await until(() => others[0]!.doc!.getMap('m').get('after') === 2, 'the others go on')
})

test('[IN5] [IN4] a part that waits for something is never taken in deeper than the limit when that has come', async (t) => {
  const { server, sender, others } = await room(t)
  sender.sendUpdate(nested(90, 30))
  // What is deeper than 100 arrays in others is known only now.
  others[0]!.sendUpdate(nested(0, 90))
  const joiner = await rawMember(t, server.port, 'board')
  await until(() => Y.getState(joiner.doc.store, 9) >= 90, 'what it waited for is there')
  others[1]!.doc!.getMap('m').set('after', 2)
  await until(() => joiner.doc.getMap('m').get('after') === 2, 'the others go on')
  // Refused, or asked for and not brought again: either way it is not there.
  expect(Y.getState(joiner.doc.store, 9)).toBe(90)
})

test('[IN5] what undo leaves of a map’s values comes as one entry of several units: taken, from whoever drew offline', async (t) => {
  const { server, sender, others } = await room(t)
  const doc = new Y.Doc()
  doc.clientID = 9
  const map = doc.getMap('m')
  new Y.UndoManager([map], { captureTimeout: 0 })
  for (const value of [1, 2, 3, 4]) map.set('k', value)
  const merged = doc.store.clients.get(9)!.filter(({ length }) => length > 1)
  expect(merged.map((item) => (item as Y.Item).content.constructor.name)).toEqual(['ContentAny'])
  sender.sendUpdate(Y.encodeStateAsUpdate(doc))
  await until(() => others.every((one) => one.doc!.getMap('m').get('k') === 4), 'the others see its value')
  for (const reason of ['map_entry', 'content', 'apply_failed']) expect(await errors(server, reason)).toBe(0)
  const joiner = await rawMember(t, server.port, 'board')
  expect(joiner.doc!.getMap('m').toJSON()).toEqual({ before: 1, k: 4 })
})

/**
 * An answer is cut: structs first, deletions last. In between, another client sends what it wrote into a list that it does not
 * know to be deleted, and of which the beginning has come as collected.
 */
test('[IN5] text whose beginning came in collected already: its rest is taken in as collected', async (t) => {
  const { server, sender, others } = await room(t)
  const text = (from: number, letters: string): number[] =>
    from === 0
      ? [4, 0, 8, 0, letters.length, ...ascii(letters)]
      : [0x84, 9, from - 1, letters.length, ...ascii(letters)]
  const list = Uint8Array.from([1, 1, 8, 0, 7, ...KEY, 0, 0])
  sender.sendUpdate(list)
  sender.sendUpdate(Uint8Array.from([1, 1, 9, 0, 0, 3, 0]))
  await until(() => others.every(({ doc }) => Y.getState(doc!.store, 9) === 3), 'the collected beginning is there')
  others[0]!.sendUpdate(Uint8Array.from([1, 1, 9, 0, ...text(0, 'abcdef'), 0]))
  await until(() => [others[1]!].every(({ doc }) => Y.getState(doc!.store, 9) === 6), 'the rest is there')
  others[1]!.doc!.getMap('m').set('after', 2)
  await until(() => others[0]!.doc!.getMap('m').get('after') === 2, 'the room goes on')
  const joiner = await rawMember(t, server.port, 'board')
  expect(joiner.doc!.store.clients.get(9)!.map((struct) => [struct.constructor.name, struct.length])).toEqual([
    ['GC', 6],
  ])
  expect(await errors(server, 'apply_failed')).toBe(0)
})

test('[IN5] structs that wait for each other in a circle: refused', async (t) => {
  const { server, sender, stays } = await room(t)
  // Author 9's list lies in author 8's, and that one in author 9's.
  sender.sendUpdate(Uint8Array.from([2, 1, 9, 0, 7, 0, 8, 0, 0, 1, 8, 0, 7, 0, 9, 0, 0, 0]))
  await stays()
  expect(await errors(server, 'circle')).toBe(1)
})
