import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { applyOwned } from '../../../src/update/owned-update.ts'
import { WireClient, World } from '../../support/memory-world.ts'

/** Values with byte arrays at every place a decoder can find one. */
function drawn(): Y.Doc {
  const doc = new Y.Doc()
  const map = doc.getMap('m')
  map.set('binary', Uint8Array.of(1, 2, 3))
  map.set('any', { points: Uint8Array.of(4, 5), deep: [{ more: [Uint8Array.of(6)] }], n: 1, none: null })
  doc.getArray('a').push([[Uint8Array.of(7)], 'text', new Uint8Array(8)])
  doc.getText('t').insertEmbed(0, { image: 'x' })
  return doc
}
function* byteArrays(value: unknown): Generator<Uint8Array> {
  if (value instanceof Uint8Array) yield value
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) yield* byteArrays(part)
}
const lengthsHeld = (doc: Y.Doc): number[] => {
  const held: number[] = []
  for (const structs of doc.store.clients.values()) {
    for (const struct of structs) {
      if (!(struct instanceof Y.Item)) continue
      const { arr, content } = struct.content as { arr?: unknown; content?: unknown }
      for (const bytes of byteArrays([arr, content])) held.push(bytes.buffer.byteLength)
    }
  }
  return held.sort((a, b) => a - b)
}

test('[MM3] a document keeps nothing of the bytes an update came in', () => {
  const source = drawn()
  const values = (doc: Y.Doc) => [doc.getMap('m').toJSON(), doc.getArray('a').toJSON(), doc.getText('t').toDelta()]
  const update = Y.encodeStateAsUpdate(source)
  const doc = new Y.Doc()
  const message = Buffer.alloc(1 << 20)
  message.set(update, 100)
  applyOwned(doc, message.subarray(100, 100 + update.length))
  expect(values(doc)).toEqual(values(source))
  expect(lengthsHeld(doc)).toEqual([1, 1, 2, 3, 8])
  expect(Y.encodeStateAsUpdate(doc)).toEqual(Y.encodeStateAsUpdate(source))
})

test('[MM3] a prototype smuggled in as a key holds nothing, and is written as it came', () => {
  // Map entry `k` of root `m`: an object with the one key `__proto__`, a byte array.
  const text = (value: string) => [value.length, ...Buffer.from(value)]
  const update = Uint8Array.of(
    1,
    1,
    9,
    0,
    0x28,
    1,
    ...text('m'),
    ...text('k'),
    1,
    118,
    1,
    ...text('__proto__'),
    116,
    1,
    7,
    0,
  )
  const doc = new Y.Doc()
  applyOwned(doc, update)
  const value = doc.getMap('m').get('k') as object
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})

test('[MM3] what a room takes from its members and from storage is its own', async () => {
  const world = new World()
  const held = () => lengthsHeld(world.registry.get('board')!.doc)
  const enter = async (id: number) => {
    const client = new WireClient(world, 'board', `client ${id}`, id)
    client.connect()
    for (let i = 0; i < 5; i++) {
      client.transmit()
      await world.clock.advance(20)
    }
    return client
  }
  const client = await enter(1)
  client.doc.getMap('m').set('any', { points: Uint8Array.of(4, 5), text: 'x'.repeat(500) })
  client.transmit()
  await world.clock.advance(1000)
  expect(held()).toEqual([2])
  client.disconnect()
  await world.clock.advance(20_000)
  expect(world.registry.size).toBe(0)
  await enter(2)
  expect(held()).toEqual([2])
})
