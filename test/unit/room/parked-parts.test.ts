/** What was asked when an update came is asked again when it is applied after it had waited. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { WireClient, World } from '../../support/memory-world.ts'

async function settle(world: World, clients: readonly WireClient[]): Promise<void> {
  for (let passed = 0; passed < 300; passed += 10) {
    for (const client of clients) client.transmit()
    await world.clock.advance(10)
    await world.clock.settle()
  }
}

const frame = (update: Uint8Array): Uint8Array => Uint8Array.from([0, 2, update.length, ...update])

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
