/** A call into Yjs that throws condemns the room's document, and nothing else. */
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { contentOf, WireClient, World } from '../../support/memory-world.ts'

afterEach(() => vi.restoreAllMocks())

async function run(world: World, clients: readonly WireClient[], ms = 3000): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    for (const client of clients) client.transmit()
    await world.clock.advance(10)
    await world.clock.settle()
  }
}

/** A room of as many as that, each of whom has drawn something. */
async function roomOf(count: number, storage?: ConstructorParameters<typeof World>[0]) {
  const world = new World(storage)
  const clients = Array.from({ length: count }, (_, i) => new WireClient(world, 'room', `c${i}`, 100 + i))
  for (const client of clients) client.connect()
  await run(world, clients, 200)
  for (const [i, { doc }] of clients.entries()) doc.getMap('m').set(`k${i}`, i)
  await run(world, clients, 200)
  return { world, clients }
}

/** Makes one call of a method of Yjs throw, the `nth` from now on. */
function throwOnce(owner: object, method: string, nth = 1): { readonly isDone: () => boolean } {
  const methods = owner as Record<string, (...args: unknown[]) => unknown>
  const original = methods[method]!
  let left = nth
  vi.spyOn(methods, method).mockImplementation(function (this: unknown, ...args: unknown[]) {
    if (--left === 0) throw new Error(`injected into ${method}`)
    return original.apply(this, args)
  })
  return { isDone: () => left <= 0 }
}

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
  ann.doc.getMap('m').set('ann', 'before')
  bob.doc.getMap('m').set('bob', 'before')
  const injected = throwOnce(Y.ContentAny.prototype, 'write')
  await run(world, clients)
  expect(injected.isDone()).toBe(true)
  expect(world.metrics.roomsRebuilt.values.apply).toBe(1)
  ann.doc.getMap('m').set('after', 1)
  await run(world, clients)
  expectLevel(world, clients)
  expect(bob.doc.getMap('m').toJSON()).toMatchObject({ k0: 0, k1: 1, k2: 2, ann: 'before', bob: 'before', after: 1 })
})
