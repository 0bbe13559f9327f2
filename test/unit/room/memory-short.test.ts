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
const varuint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varuint(value >>> 7)])

test('[MM1] what waits of a client that is closed for memory is not applied, and there when it is back', async () => {
  const world = new World()
  const clients = [new WireClient(world, 'room', 'a', 100), new WireClient(world, 'room', 'b', 101)]
  const [sender, other] = clients as [WireClient, WireClient]
  for (const client of clients) client.connect()
  await settle(world, clients)
  const room = world.registry.get('room')!

  sender.doc.transact(() => {
    for (let i = 0; i < 2_000; i++) sender.doc.getArray('a').push([new Y.Map()])
  })
  const update = Y.encodeStateAsUpdate(sender.doc)
  sender.session!.receive(Uint8Array.from([0, 2, ...varuint(update.length), ...update]), true)
  const holder = sender.session!.slowHolder()
  expect(holder?.bytes).toBeGreaterThanOrEqual(update.length)
  holder!.shed()
  sender.disconnect()
  await settle(world, [other])
  expect(room.isSettled).toBe(true)
  expect(room.doc.getArray('a').length).toBe(0)

  sender.connect()
  await settle(world, clients)
  expect(other.doc.getArray('a').length).toBe(2_000)
})
