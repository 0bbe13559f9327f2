/**
 * One seeded life of a room on held wires: joins, edits, deletes, stalls, drains, cuts, rejoins, lost frames. After the last
 * drain every client equals the server. Throws with the seed in its message.
 */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { contentOf, WireClient, World, type WorldOptions } from '../support/memory-world.ts'
import { Random } from '../support/random.ts'
import { randomEdit } from '../support/random-edit.ts'
import { atClient, type YjsFaults } from '../support/yjs-faults.ts'

export interface ScenarioResult {
  readonly steps: number
  readonly resyncs: number
  readonly drops: number
  readonly limited: number
  readonly rebuilt: number
  /** Updates that went out before the document had them, and others. */
  readonly relayed: number
  readonly gathered: number
}

/** Documents that are broken in one life, at most: more within a minute, and a room is given up. */
const MAX_FAULTS = 4

/** `faults`: calls into Yjs throw now and then. A client may then have to come back; it loses nothing either. */
export async function runScenario(seed: number, steps = 240, faults?: YjsFaults): Promise<ScenarioResult> {
  const random = new Random(seed)
  const options: WorldOptions = {
    outbox: {
      softBytes: random.pick([512, 2048, 4096]),
      maxQueued: random.pick([2, 8]),
      drainBatch: 1 + random.int(4),
    },
    ...(random.chance(0.25) ? { maxTokens: 20, refillMs: 400 } : {}),
    // Both ways that an update travels, and every switch between them: see the steps.
    utilisation: () => utilisation,
  }
  let utilisation = 0
  const durable = faults === undefined || random.chance(0.7)
  const before = faults?.injected ?? 0
  const losesFrames = random.chance(0.25)
  const size = random.pick([1, 1, 8, 60])
  const world = new World({ ...options, durable })
  const clients = Array.from({ length: 2 + random.int(4) }, (_, i) => new WireClient(world, 'room', `c${i}`, 100 + i))
  const bound = world.outboxSettings.hardBytes
  clients[0]!.connect()

  for (let step = 0; step < steps; step++) {
    if (faults !== undefined && faults.injected - before < MAX_FAULTS && random.chance(0.1)) {
      faults.arm(random, world.registry.get('room')?.doc)
    }
    const client = random.pick(clients)
    const what = random.int(100)
    const edit = (): void => atClient(() => randomEdit(client.doc, random, size))
    if (!client.isConnected) {
      if (what < 40) client.connect()
      else edit()
    } else if (what < 40) edit()
    else if (what < 55) client.transmit(1 + random.int(4))
    else if (what < 66) client.sink!.stall(random.int(1500))
    else if (what < 78) client.sink!.letThrough(random.chance(0.15) ? Number.POSITIVE_INFINITY : random.int(3000))
    else if (what < 80) client.disconnect()
    else if (what < 82) client.sink!.refuseNext()
    else if (what < 84 && losesFrames) client.lose()
    else if (what < 85) client.session!.outbox?.pace(random.pick([0, 100]))
    else if (what < 87) utilisation = random.pick([0, 0, 1])
    else if (what < 93) await world.clock.advance(random.int(40))
    else if (what < 94) await world.clock.advance(300)
    else await world.clock.turn()
    if (random.chance(0.3)) await world.clock.settle()
    for (const { session } of clients) {
      const held = session?.outbox?.heldBytes ?? 0
      if (held > bound + 65_536) throw new Error(`seed ${seed}: ${held} bytes held at step ${step}`)
    }
  }

  faults?.disarm()
  for (const client of clients) {
    if (!client.isConnected) client.connect()
    client.sink!.letThrough(Number.POSITIVE_INFINITY)
    // One more edit each: it shows that something before it was lost.
    client.doc.getText('text').insert(0, '.')
  }
  const connections = clients.map((client) => client.connections)
  const isLevel = (): boolean => {
    const room = world.registry.get('room')
    if (room === undefined || !room.isSettled) return false
    const want = contentOf(room.doc)
    return clients.every(({ doc }) => isDeepStrictEqual(contentOf(doc), want))
  }
  // A lost SyncStep1 or SyncStep2 is asked again after a second or more, limited clients when their budget has recovered.
  for (let round = 0; round < 400; round++) {
    for (const client of clients) {
      if (faults !== undefined && !client.isConnected) client.connect()
      client.transmit()
    }
    await world.clock.settle()
    await world.clock.advance(round < 50 ? 10 : 200)
    await world.clock.settle()
    if (round > 20 && clients.every(({ outgoing }) => outgoing.length === 0) && isLevel()) break
  }
  const room = world.registry.get('room')!
  for (const [i, client] of clients.entries()) {
    const facts = `seed ${seed}, client ${i} of ${clients.length}, state ${client.session?.outbox?.state}`
    if (faults === undefined && client.connections !== connections[i]) throw new Error(`${facts}: had to reconnect`)
    if (client.doc.store.pendingStructs !== null) throw new Error(`${facts}: something is parked`)
    if (!isDeepStrictEqual(contentOf(client.doc), contentOf(room.doc))) {
      const [mine, theirs] = [contentOf(client.doc), contentOf(room.doc)].map((content) => JSON.stringify(content))
      throw new Error(`${facts}: differs from the server\n${mine}\n${theirs}`)
    }
    const texts = [client.doc, room.doc].map((doc) => doc.getText('text').toString())
    if (texts[0] !== texts[1])
      throw new Error(`${facts}: text\n${texts.map((text) => JSON.stringify(text)).join('\n')}`)
    // A client that loses no frame and is not limited is level without ever holding anything for later.
    if (client.parked > 0 && !losesFrames && faults === undefined && options.maxTokens === undefined) {
      throw new Error(`${facts}: ${client.parked} frames arrived before what they depend on`)
    }
  }
  if (faults !== undefined && durable) {
    const saved = world.registry.saved()
    await world.clock.settle()
    await saved
    const stored = new Y.Doc()
    for await (const { update } of world.storage.load('room')) Y.applyUpdate(stored, update)
    if (!isDeepStrictEqual(contentOf(stored), contentOf(room.doc))) throw new Error(`seed ${seed}: not all is stored`)
  }
  for (const client of clients) client.disconnect()
  const { metrics } = world
  // Whatever was sent again, nobody contradicted himself.
  if (metrics.messageErrors.values.client_id_taken !== 0) throw new Error(`seed ${seed}: a client id was taken`)
  return {
    steps,
    resyncs:
      metrics.resyncsOut.values.queue_full + metrics.resyncsOut.values.refused + metrics.resyncsOut.values.large_update,
    drops: metrics.backpressureDrops.value,
    limited: metrics.rateLimited.value,
    relayed: metrics.roomUpdates.values.relayed,
    gathered: metrics.roomUpdates.values.gathered,
    rebuilt: Object.values(metrics.roomsRebuilt.values).reduce((sum, n) => sum + n, 0),
  }
}
