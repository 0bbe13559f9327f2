/** What is relayed before the document has it is held to what is counted in the document all the same. */
import { expect, test } from 'vitest'
import { WireClient, World } from '../../support/memory-world.ts'
import { atClient } from '../../support/yjs-faults.ts'

async function roomOf(count: number) {
  const world = new World()
  const clients = Array.from({ length: count }, (_, i) => new WireClient(world, 'room', `c${i}`, 100 + i))
  const run = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      for (const client of clients) if (client.isConnected) client.transmit()
      await world.clock.advance(10)
      await world.clock.settle()
    }
  }
  for (const client of clients) client.connect()
  await run(200)
  for (const { doc } of clients) atClient(() => doc.getMap('m').set('k', 1))
  await run(200)
  return { world, clients, run }
}

test('[IN5] [FR8] root names that come one an update, many at once, stay within their limit', async () => {
  const { world, clients, run } = await roomOf(2)
  const [eve] = clients as [WireClient, WireClient]
  for (let i = 0; i < 1_500; i++) atClient(() => eve.doc.getMap(`root ${i}`).set('k', i))
  await run(1_000)
  const room = world.registry.get('room')!
  expect(room.doc.share.size).toBeLessThanOrEqual(1_024)
  expect(eve.sink!.closedWith).toMatchObject({ code: 4413 })
})

test('[FR8] edits of known authors on known roots go out before the document has them, and it has them soon', async () => {
  const { world, clients, run } = await roomOf(3)
  const [ann, bob] = clients as [WireClient, WireClient, WireClient]
  const { values } = world.metrics.roomUpdates
  const before = values.relayed
  for (let i = 0; i < 20; i++) atClient(() => ann.doc.getMap('m').set(`ann ${i}`, i))
  ann.transmit()
  expect(values.relayed - before).toBe(20)
  const room = world.registry.get('room')!
  // Nobody has read the document meanwhile.
  expect(room.doc.getMap('m').has('ann 19')).toBe(false)
  expect(room.isSettled).toBe(false)
  expect(room.read('export', (doc) => doc.getMap('m').get('ann 19'))).toBe(19)
  expect(room.isSettled).toBe(true)
  await run(100)
  expect(bob.doc.getMap('m').get('ann 19')).toBe(19)
})
