/** People who edit and leave at once, while others join: one instance of a room at any time, and no edit lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, type TestContext, test, vi } from 'vitest'
import type * as Y from 'yjs'
import { Room } from '../../src/room/room.ts'
import { dataDirectory } from './data-directory.ts'
import { startFaultyServer } from './faulty-storage.ts'
import { Random } from './random.ts'
import { rawMember } from './raw-client.ts'
import { startServer } from './start-server.ts'
import { until } from './until.ts'

interface Instances {
  made: number
  living: number
  /** The most that lived at once. */
  most: number
}

/** The instances of rooms in this process, by name: the tests run side by side, each with a room of its own. */
const instancesOf = new Map<string, Instances>()
const host = Room.prototype.keeperHost
const destroy = Room.prototype.destroy

beforeAll(() => {
  // Asked for once by the registry, when it makes the room.
  vi.spyOn(Room.prototype, 'keeperHost').mockImplementation(function (this: Room) {
    const { made, living, most } = instancesOf.get(this.name) ?? { made: 0, living: 0, most: 0 }
    instancesOf.set(this.name, { made: made + 1, living: living + 1, most: Math.max(most, living + 1) })
    return host.call(this)
  })
  vi.spyOn(Room.prototype, 'destroy').mockImplementation(function (this: Room) {
    instancesOf.get(this.name)!.living--
    destroy.call(this)
  })
})
afterAll(() => {
  vi.restoreAllMocks()
})

export function leaveAndJoin(rounds: number): void {
  for (const { roomIdleMs, isLarge } of [
    { roomIdleMs: 0, isLarge: false },
    { roomIdleMs: 8, isLarge: false },
    { roomIdleMs: 0, isLarge: true },
  ]) {
    const board = isLarge ? 'a board worth compacting whenever it rests' : 'a small board'
    test.concurrent(`[FR7] edits of those who leave at once meet those who join, ${rounds} times, ROOM_IDLE_MS=${roomIdleMs}, ${board}`, async (t) => {
      const { expect } = t
      const room = `board-${roomIdleMs}-${isLarge}`
      const dataDir = dataDirectory(t)
      const server = await startFaultyServer(t, { dataDir, roomIdleMs, rateLimitMaxTokens: 100_000 })
      const seed = Math.floor(Math.random() * 2 ** 32)
      const random = new Random(seed)
      const visit = async (key: string): Promise<void> => {
        const { doc, close } = await enter(t, server.port, room)
        doc.getMap('keys').set(key, key)
        // Overwritten each time: the tail is longer than the snapshot.
        if (isLarge) doc.getMap('large').set('value', key.repeat(20_000))
        close()
      }
      for (let round = 0; round < rounds; round++) {
        await visit(`a${round}`)
        await sleep(random.int(21))
        await visit(`b${round}`)
        // Now and then the board has the time to be saved and to leave, or only just not.
        if (random.chance(0.2)) await sleep(40 + random.int(80))
      }
      const expected = Array.from({ length: rounds }, (_, i) => [`a${i}`, `b${i}`]).flat()
      const live = await enter(t, server.port, room)
      const missing = (doc: Y.Doc): string[] => expected.filter((key) => !doc.getMap('keys').has(key))
      expect(missing(live.doc), `seed ${seed}: live`).toEqual([])
      live.close()

      await until(async () => (await server.metric('rooms_active')) === 0, 'the room leaves memory')
      expect(await server.metric('storage_unsaved_bytes')).toBe(0)
      const instances = instancesOf.get(room)!
      expect(instances.most, `seed ${seed}: instances of the room at once`).toBe(1)
      // Otherwise the rounds have shown nothing.
      expect(instances.made).toBeGreaterThan(rounds / 60)
      expect(server.storage.loads.get(room)).toBe(instances.made)
      if (isLarge) expect(await server.metric('storage_compactions_total')).toBeGreaterThan(5)
      if (process.env.TEST_FIGURES) console.log({ roomIdleMs, isLarge, ...instances })

      await server.close()
      const again = await startServer(t, { storage: 'lmdb', dataDir })
      const { doc } = await rawMember(t, again.port, room)
      expect(missing(doc), `seed ${seed}: after a restart`).toEqual([])
      expect(doc.store.pendingStructs).toBeNull()
    }, 60_000)
  }
}

/** Somebody new in the room, once the board is there. */
async function enter(t: TestContext, port: number, room: string): Promise<{ readonly doc: Y.Doc; close(): void }> {
  const client = await rawMember(t, port, room, { record: false })
  return { doc: client.doc, close: () => client.close() }
}
