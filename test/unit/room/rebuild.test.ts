/** A call into Yjs that throws condemns the room's document, and nothing else. */
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { DiffCursor } from '../../../src/diff/diff-cursor.ts'
import { contentOf, WireClient, World, type WorldOptions } from '../../support/memory-world.ts'
import { atClient, isAtClient } from '../../support/yjs-faults.ts'

afterEach(() => vi.restoreAllMocks())

async function run(world: World, clients: readonly WireClient[], ms = 3000): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    for (const client of clients) client.transmit()
    await world.clock.advance(10)
    await world.clock.settle()
  }
}

/** A room of as many as that, each of whom has drawn something. */
async function roomOf(count: number, options?: WorldOptions) {
  const world = new World(options)
  const clients = Array.from({ length: count }, (_, i) => new WireClient(world, 'room', `c${i}`, 100 + i))
  for (const client of clients) client.connect()
  await run(world, clients, 200)
  for (const [i, { doc }] of clients.entries()) doc.getMap('m').set(`k${i}`, i)
  await run(world, clients, 200)
  return { world, clients }
}

type Methods = Record<string, (this: unknown, ...args: unknown[]) => unknown>

/** Makes calls of a method of Yjs throw at the server, those that `isBad` says. How many did. */
function throwIf(owner: object, method: string, isBad: (self: unknown, args: unknown[]) => boolean) {
  const methods = owner as Methods
  const original = methods[method]!
  const thrown = { times: 0 }
  vi.spyOn(methods, method).mockImplementation(function (this: unknown, ...args: unknown[]) {
    if (!isAtClient() && isBad(this, args)) {
      thrown.times++
      throw new Error(`injected into ${method}`)
    }
    return original.apply(this, args)
  })
  return thrown
}
/** One call of a method of Yjs throws. */
function throwOnce(owner: object, method: string) {
  let isOver = false
  return throwIf(owner, method, () => {
    const isBad = !isOver
    isOver = true
    return isBad
  })
}
const POISON = 'poison'
const isPoison = (self: unknown): boolean => (self as Y.ContentAny).arr.includes(POISON)

/** Documents read from the store, poison or not. */
async function stored(world: World, room = 'room'): Promise<Y.Doc> {
  await world.registry.saved()
  const doc = new Y.Doc()
  for await (const { update } of world.storage.load(room)) atClient(() => Y.applyUpdate(doc, update))
  return doc
}

const draw = (client: WireClient, key: string, value: unknown): void =>
  atClient(() => void client.doc.getMap('m').set(key, value))

function expectLevel(world: World, clients: readonly WireClient[]): void {
  const room = world.registry.get('room')!
  for (const client of clients) {
    expect(client.connections).toBe(1)
    expect(contentOf(client.doc)).toEqual(contentOf(room.doc))
    expect(client.doc.getMap('m').toJSON()).toEqual(room.doc.getMap('m').toJSON())
  }
}

test('[RB1] a throw while an update is encoded: rebuilt, everybody level, nothing lost', async () => {
  const { world, clients } = await roomOf(3)
  const [ann, bob] = clients as [WireClient, WireClient, WireClient]
  const injected = throwOnce(Y.ContentAny.prototype, 'write')
  draw(ann, 'ann', 'before')
  draw(bob, 'bob', 'before')
  await run(world, clients)
  expect(injected.times).toBe(1)
  expect(world.metrics.roomsRebuilt.values.apply).toBe(1)
  draw(ann, 'after', 1)
  await run(world, clients)
  expectLevel(world, clients)
  expect(bob.doc.getMap('m').toJSON()).toMatchObject({ k0: 0, k1: 1, k2: 2, ann: 'before', bob: 'before', after: 1 })
})

test('[RB1] nobody has to come back, and nothing that was told is missing where boards are not stored either', async () => {
  const { world, clients } = await roomOf(3, { durable: false })
  const [ann] = clients as [WireClient, WireClient, WireClient]
  for (let i = 0; i < 500; i++) draw(ann, `many${i}`, 'x'.repeat(200))
  await run(world, clients)
  // Nobody answers: what is there comes from the document that broke.
  throwOnce(Y.Item.prototype, 'integrate')
  draw(ann, 'ann', 1)
  ann.transmit()
  for (let i = 0; i < 50; i++) await world.clock.advance(10)
  expect(world.metrics.roomsRebuilt.values.apply).toBe(1)
  expect(Object.keys(world.registry.get('room')!.doc.getMap('m').toJSON())).toHaveLength(503)
  await run(world, clients)
  expectLevel(world, clients)
  expect(world.registry.get('room')!.doc.getMap('m').get('ann')).toBe(1)
})

test('[RB2] an update that breaks every document: innocent edits beside it are with everybody and on disk, its sender is closed', async () => {
  const { world, clients } = await roomOf(3)
  const [ann, bob, dan] = clients as [WireClient, WireClient, WireClient]
  // Who has written nothing yet is nobody whose update would be sent on before the document has it.
  const eve = new WireClient(world, 'room', 'eve', 800)
  eve.connect()
  clients.push(eve)
  await run(world, clients, 200)
  const thrown = throwIf(Y.ContentAny.prototype, 'write', isPoison)
  // One flush takes all of them: which one it was is found out.
  draw(ann, 'ann', 1)
  draw(eve, 'eve', POISON)
  draw(bob, 'bob', 1)
  await run(world, clients, 10_000)
  expect(thrown.times).toBeGreaterThan(1)
  expect(thrown.times).toBeLessThanOrEqual(4)
  expect(eve.sink!.closedWith).toMatchObject({ code: 4422 })
  draw(dan, 'dan', 1)
  await run(world, clients)
  const others = [ann, bob, dan]
  expectLevel(world, others)
  expect(ann.doc.getMap('m').toJSON()).toMatchObject({ ann: 1, bob: 1, dan: 1 })
  expect(ann.doc.getMap('m').has('eve')).toBe(false)
  expect((await stored(world)).getMap('m').toJSON()).toEqual(ann.doc.getMap('m').toJSON())
  expect(world.metrics.messageErrors.values.apply_failed).toBeGreaterThan(0)
  // Somebody new finds a whole board.
  const joiner = new WireClient(world, 'room', 'joiner', 900)
  joiner.connect()
  await run(world, [...others, joiner])
  expectLevel(world, [...others, joiner])
})

test('[RB2] [FR8] one that everybody was given before it broke the document: its sender is closed, nobody else suffers, it is kept out', async () => {
  const { world, clients } = await roomOf(4)
  const [ann, bob, eve, dan] = clients as [WireClient, WireClient, WireClient, WireClient]
  const thrown = throwIf(Y.ContentAny.prototype, 'write', isPoison)
  draw(ann, 'ann', 1)
  draw(eve, 'eve', POISON)
  draw(bob, 'bob', 1)
  await run(world, clients, 10_000)
  expect(world.metrics.roomUpdates.values.relayed).toBeGreaterThanOrEqual(3)
  // They bring it back when they are asked, five times in all.
  expect(thrown.times).toBeGreaterThan(1)
  expect(thrown.times).toBeLessThanOrEqual(8)
  expect(eve.sink!.closedWith).toMatchObject({ code: 4422 })
  draw(dan, 'dan', 1)
  await run(world, clients)
  const want = { ann: 1, bob: 1, dan: 1 }
  for (const client of [ann, bob, dan]) {
    expect(client.connections).toBe(1)
    expect(client.isConnected).toBe(true)
    expect(client.doc.getMap('m').toJSON()).toMatchObject(want)
  }
  const board = (await stored(world)).getMap('m').toJSON()
  expect(board).toMatchObject(want)
  expect(board).not.toHaveProperty('eve')
  expect(world.metrics.roomsGivenUp.value).toBe(0)
  const joiner = new WireClient(world, 'room', 'joiner', 900)
  joiner.connect()
  await run(world, [ann, bob, dan, joiner])
  expect(joiner.doc.getMap('m').toJSON()).toEqual(board)
})

test('[RB2] a throw in the clean-up, where a document would be mute without a sign, does the same', async () => {
  const { world, clients } = await roomOf(3)
  const [ann, bob, eve] = clients as [WireClient, WireClient, WireClient]
  draw(eve, 'eve', POISON)
  await run(world, clients)
  expect(ann.doc.getMap('m').get('eve')).toBe(POISON)
  const thrown = throwIf(Y.ContentAny.prototype, 'gc', isPoison)
  draw(bob, 'bob', 1)
  atClient(() => eve.doc.getMap('m').delete('eve'))
  await run(world, clients, 10_000)
  expect(thrown.times).toBeGreaterThan(0)
  draw(ann, 'ann', 1)
  await run(world, clients)
  expect(ann.doc.getMap('m').toJSON()).toMatchObject({ ann: 1, bob: 1 })
  expect(bob.doc.getMap('m').toJSON()).toMatchObject({ ann: 1, bob: 1 })
  expect((await stored(world)).getMap('m').toJSON()).toMatchObject({ ann: 1, bob: 1 })
})

test('[ST4] [RB2] records that break documents are quarantined, and all the others are served', async () => {
  const world = new World()
  const author = new Y.Doc()
  const updates: Uint8Array[] = []
  author.on('update', (update: Uint8Array) => updates.push(update))
  for (let i = 0; i < 20; i++) author.getMap('m').set(`k${i}`, i % 7 === 3 ? POISON : i)
  await world.storage.append('room', updates)
  throwIf(Y.ContentAny.prototype, 'write', isPoison)
  const client = new WireClient(world, 'room', 'ann', 7)
  client.connect()
  await run(world, [client])
  const good = Object.entries(author.getMap('m').toJSON()).filter(([, value]) => value !== POISON)
  // Later records of the same author wait for those that were lost; here they are one author's, so that the first ones count.
  expect(client.doc.getMap('m').toJSON()).toEqual(Object.fromEntries(good.slice(0, 3)))
  expect(world.storage.quarantined.map(({ reason }) => reason)).toContain('injected into write')
  expect(world.metrics.roomsRebuilt.values.load).toBeGreaterThan(0)
  draw(client, 'new', 1)
  await run(world, [client])
  expect((await stored(world)).getMap('m').get('new')).toBe(1)
})

test('[RB2] a room that goes on breaking is given up: its clients are closed with 1011, what was told is stored', async () => {
  const { world, clients } = await roomOf(3)
  const room = world.registry.get('room')!
  const cursor = throwIf(DiffCursor.prototype, 'next', () => true)
  const joiner = new WireClient(world, 'room', 'joiner', 900)
  joiner.connect()
  for (let i = 0; i < 100 && world.registry.get('room') === room; i++) {
    for (const client of clients) draw(client, `late${clients.indexOf(client)}`, i)
    await run(world, [...clients, joiner], 50)
  }
  // Each of the others was rebuilt; that the joiner's answer broke it again was nobody's known fault.
  expect(cursor.times).toBeGreaterThanOrEqual(6)
  expect(world.metrics.roomsRebuilt.values.answer).toBe(6)
  expect(world.metrics.roomsGivenUp.value).toBe(1)
  for (const { sink } of [...clients, joiner])
    expect(sink!.closedWith).toMatchObject({ code: 1011, text: 'room broke' })
  vi.restoreAllMocks()
  // They come back to a board that is whole.
  for (const client of [...clients, joiner]) client.connect()
  await run(world, [...clients, joiner])
  const again = world.registry.get('room')!
  expect(again).not.toBe(room)
  for (const client of [...clients, joiner]) expect(contentOf(client.doc)).toEqual(contentOf(again.doc))
  expect(contentOf(await stored(world))).toEqual(contentOf(again.doc))
})

test('[RB2] a room without anybody that breaks while it is tidied up is rebuilt and leaves memory', async () => {
  const { world, clients } = await roomOf(1)
  const [ann] = clients as [WireClient]
  for (let i = 0; i < 600; i++) draw(ann, `many${i}`, 'x'.repeat(200))
  await run(world, clients)
  ann.disconnect()
  const cursor = throwIf(DiffCursor.prototype, 'next', () => true)
  await world.clock.advance(11_000)
  await world.clock.settle()
  expect(cursor.times).toBe(1)
  expect(world.metrics.roomsRebuilt.values.compact).toBe(1)
  await world.clock.advance(11_000)
  expect(world.registry.get('room')).toBeUndefined()
  expect((await stored(world)).getMap('m').size).toBe(601)
})

test('[RB1] wherever a document is read: while a client is asked, while what was collected is told', async () => {
  const { world, clients } = await roomOf(3)
  const [ann, bob] = clients as [WireClient, WireClient, WireClient]
  const structsOf = (): object => world.registry.get('room')!.doc.store.clients
  // A joiner is asked with the document's vector.
  draw(ann, 'ann', 1)
  await run(world, clients, 100)
  throwOnce(structsOf(), 'forEach')
  const joiner = new WireClient(world, 'room', 'joiner', 900)
  joiner.connect()
  await run(world, [...clients, joiner])
  expect(world.metrics.roomsRebuilt.values.vector).toBe(1)
  expectLevel(world, [...clients, joiner])
  // Of structs that arrive collected the deletions are read from the document after the transaction.
  bob.disconnect()
  atClient(() => {
    bob.doc.getMap('m').set('list', new Y.Array())
    bob.doc.getMap('m').set('list', 1)
  })
  const emitting = throwIf(structsOf(), 'get', () => new Error().stack!.includes('collectedIn') && emitting.times === 0)
  bob.connect()
  await run(world, [...clients, joiner])
  expect(emitting.times).toBe(1)
  const rebuilt = world.metrics.roomsRebuilt.values
  expect(rebuilt.emit + rebuilt.apply).toBe(1)
  const room = world.registry.get('room')!
  for (const client of [...clients, joiner]) expect(contentOf(client.doc)).toEqual(contentOf(room.doc))
})
