/** What was asked when an update came is asked again when it is applied after it had waited. */
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { WireClient, World } from '../../support/memory-world.ts'
import { varuint } from '../../support/update-bytes.ts'
import { isAtClient } from '../../support/yjs-faults.ts'

afterEach(() => vi.restoreAllMocks())

async function settle(world: World, clients: readonly WireClient[]): Promise<void> {
  for (let passed = 0; passed < 300; passed += 10) {
    for (const client of clients) client.transmit()
    await world.clock.advance(10)
    await world.clock.settle()
  }
}

const frame = (update: Uint8Array): Uint8Array => Uint8Array.from([0, 2, ...varuint(update.length), ...update])

test('[AC6] [IN4] a part by an author of a deleted board is refused too when it had waited', async () => {
  const world = new World()
  const [sender, other] = [new WireClient(world, 'room', 'a', 100), new WireClient(world, 'room', 'b', 101)]
  for (const client of [sender, other]) client.connect()
  await settle(world, [sender, other])
  const room = world.registry.get('room')!
  const [eight, nine] = [new Y.Doc(), new Y.Doc()]
  eight.clientID = 8
  nine.clientID = 9
  eight.getText('t').insert(0, 'x')
  Y.applyUpdate(nine, Y.encodeStateAsUpdate(eight))
  const before = Y.encodeStateVector(nine)
  nine.getText('t').insert(1, 'y')

  sender.session!.receive(frame(Y.encodeStateAsUpdate(nine, before)), true)
  await world.clock.advance(20)
  await world.clock.settle()
  room.bury([9])
  other.session!.receive(frame(Y.encodeStateAsUpdate(eight)), true)
  await settle(world, [other])
  expect(room.doc.getText('t').toString()).toBe('x')
  expect(room.doc.store.clients.has(9)).toBe(false)
  expect(sender.sink?.closedWith).toMatchObject({ code: 4410 })
  expect(other.isConnected).toBe(true)
})

test('[LT1] [IN4] parts that waited are taken in like anything else: not all at once when what they waited for comes', async () => {
  const world = new World()
  const sender = new WireClient(world, 'room', 'a', 100)
  sender.connect()
  await world.clock.advance(10)
  sender.transmit()
  await world.clock.advance(10)
  const room = world.registry.get('room')!
  const [PARTS, STRUCTS] = [40, 20]
  for (let i = 0; i < PARTS; i++) {
    // The first struct follows 50:0, which is not there.
    const structs = [[0x84, 50, 0, 1, 0x78], ...Array.from({ length: STRUCTS - 1 }, () => [4, 1, 1, 0x61, 1, 0x78])]
    sender.session!.receive(frame(Uint8Array.from([1, STRUCTS, 60 + i, 0, ...structs.flat(), 0])), true)
  }
  await world.clock.advance(20)
  expect(room.doc.store.clients.size).toBe(0)
  // Each is dear, as where thousands were inserted at one place.
  const integrate = Y.Item.prototype.integrate
  vi.spyOn(Y.Item.prototype, 'integrate').mockImplementation(function (this: Y.Item, ...args) {
    if (!isAtClient()) world.clock.spend(1)
    integrate.apply(this, args)
  })
  let began = 0
  let longest = 0
  room.doc.on('beforeTransaction', () => (began = world.clock.now()))
  room.doc.on('afterTransaction', () => (longest = Math.max(longest, world.clock.now() - began)))
  sender.session!.receive(frame(Uint8Array.from([1, 1, 50, 0, 4, 1, 1, 0x61, 1, 0x62, 0])), true)
  for (let i = 0; i < 100; i++) await world.clock.advance(20)
  expect(room.doc.store.clients.size).toBe(PARTS + 1)
  expect(room.doc.getText('a').length).toBe(PARTS * STRUCTS + 1)
  expect(longest).toBeLessThan(50)
  expect(sender.isConnected).toBe(true)
})

test('[HI3] updates that come at once and would each have a place do not fill a board beyond its authors', async () => {
  const world = new World({ maxDocAuthors: 60 })
  const clients = [new WireClient(world, 'room', 'a', 100), new WireClient(world, 'room', 'b', 101)]
  for (const client of clients) client.connect()
  await settle(world, clients)
  for (const [i, client] of clients.entries()) {
    const sections = Array.from({ length: 40 }, (_, n) => [1, 100 - 2 * n - i, 0, 4, 1, 1, 0x61, 1, 0x78])
    client.session!.receive(frame(Uint8Array.from([40, ...sections.flat(), 0])), true)
  }
  await settle(world, clients)
  expect(world.registry.get('room')!.doc.store.clients.size).toBeLessThanOrEqual(60)
  expect(clients.map(({ sink }) => sink?.closedWith)).toContainEqual(expect.objectContaining({ code: 4413 }))
})
