import type { Socket } from 'node:net'
import { expect, type TestContext, test } from 'vitest'
import { presenceMessage, type RawClient, rawClient, rawMember, readPresence } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { type StockClient, stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

type Context = Pick<TestContext, 'onTestFinished'>

const nameSeenBy = (witness: StockClient, id: number): unknown => witness.awareness.getStates().get(id)?.name
const refusals = (server: TestServer, reason = 'not_owner') =>
  server.metric(`ws_presence_refused_total{reason="${reason}"}`)

/** Ann, who is attacked, somebody who watches, and somebody who attacks. */
async function scene(t: Context) {
  const server = await startServer(t)
  const ann = stockClient(t, server.url, 'board')
  const witness = stockClient(t, server.url, 'board')
  await Promise.all([ann.synced(), witness.synced()])
  ann.awareness.setLocalState({ name: 'Ann' })
  const id = ann.doc.clientID
  await until(() => nameSeenBy(witness, id) === 'Ann', 'Ann is seen')
  const attacker = await rawMember(t, server.port, 'board')
  const clock = () => ann.awareness.meta.get(id)!.clock
  return { server, ann, witness, attacker, id, clock }
}

const NOT_OWNER = 'ws_presence_refused_total{reason="not_owner"}'
/** What happens, which counter tells that it was refused (an old clock is an echo and costs nothing), and the frame. */
const attacks: readonly (readonly [string, string | null, (id: number, clock: number) => Uint8Array])[] = [
  ['changed', NOT_OWNER, (id, clock) => presenceMessage([[id, clock + 1, { name: 'Mallory' }]])],
  ['removed', NOT_OWNER, (id, clock) => presenceMessage([[id, clock + 1, null]])],
  ['removed at its own clock', null, (id, clock) => presenceMessage([[id, clock, null]])],
  ['out-clocked', NOT_OWNER, (id) => presenceMessage([[id, 2 ** 32 - 1, { name: 'Mallory' }]])],
  ['out-clocked with a removal', NOT_OWNER, (id) => presenceMessage([[id, 2 ** 32 - 1, null]])],
  [
    'out-clocked beyond all clocks',
    'ws_message_errors_total{reason="presence_clock"}',
    (id) => presenceMessage([[id, Number.MAX_SAFE_INTEGER, { name: 'Mallory' }]]),
  ],
  [
    'changed in a frame that begins with somebody else',
    NOT_OWNER,
    (id, clock) =>
      presenceMessage([
        [9_000_001, 1, { name: 'M' }],
        [id, clock + 1, { name: 'Mallory' }],
      ]),
  ],
]

test.for(attacks)(
  "[PR1] a live client's presence cannot be %s by another socket",
  async ([_what, sample, attack], t) => {
    const { server, ann, witness, attacker, id, clock } = await scene(t)
    const before = clock()
    const names: unknown[] = []
    witness.awareness.on('update', () => names.push(nameSeenBy(witness, id)))
    attacker.send(attack(id, before))
    if (sample !== null) await until(async () => (await server.metric(sample)) === 1, 'the attack is refused')
    attacker.sendPresence([8_000_001, 1, { name: 'fence' }])
    await until(() => nameSeenBy(witness, 8_000_001) === 'fence', 'what came after the attack has been relayed')

    expect(clock()).toBe(before)
    ann.awareness.setLocalState({ name: 'Ann draws' })
    await until(() => nameSeenBy(witness, id) === 'Ann draws', 'her next state is seen', 1000)
    expect(new Set(names)).toEqual(new Set(['Ann', 'Ann draws']))
    expect(clock()).toBe(before + 1)
  },
)

test('[PR1] a socket that opens with the id of a live client does not get it', async (t) => {
  const { server, ann, witness, id, clock } = await scene(t)
  const thief = await rawClient(t, server.port, 'board')
  thief.sendPresence([id, clock() + 7, { name: 'Mallory' }])
  await until(async () => (await refusals(server)) === 1, 'the claim is refused')
  expect(nameSeenBy(witness, id)).toBe('Ann')
  ann.awareness.setLocalState({ name: 'Ann draws' })
  await until(() => nameSeenBy(witness, id) === 'Ann draws', 'her next state is seen', 1000)
})

/** A client that is here and shows `name` under id 50, and then never says anything again. */
async function halfOpen(t: Context, server: TestServer, witness: StockClient): Promise<RawClient> {
  const old = await rawMember(t, server.port, 'board', { pongs: false })
  old.sendPresence([50, 5, { name: 'before' }])
  await until(() => nameSeenBy(witness, 50) === 'before', 'the old one is seen')
  return old
}

test('[PR1] [PR3] an id whose owner does not answer moves to the one that claims it, and stays when the old socket closes late', async (t) => {
  const server = await startServer(t)
  const witness = stockClient(t, server.url, 'board')
  await witness.synced()
  const old = await halfOpen(t, server, witness)

  const returned = await rawMember(t, server.port, 'board')
  const claimedAt = performance.now()
  returned.sendPresence([50, 6, { name: 'after' }])
  await until(() => nameSeenBy(witness, 50) === 'after', 'the returned one is seen', 4000)
  expect(performance.now() - claimedAt).toBeGreaterThan(1500)
  expect(performance.now() - claimedAt).toBeLessThan(3500)

  let gone = 0
  witness.awareness.on('change', ({ removed }: { removed: number[] }) => {
    if (removed.includes(50)) gone++
  })
  old.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'the old socket is gone')
  returned.sendPresence([50, 7, { name: 'still here' }])
  await until(() => nameSeenBy(witness, 50) === 'still here', 'the returned one is still seen')
  expect(gone).toBe(0)
})

test('[PR3] a client that is back before its old socket is gone is never removed', async (t) => {
  const server = await startServer(t)
  const witness = stockClient(t, server.url, 'board')
  await witness.synced()
  const old = await halfOpen(t, server, witness)
  // As a stock client does it: its question, then its own presence at the clock it had.
  const returned = await rawClient(t, server.port, 'board')
  returned.sendStep1()
  returned.sendPresence([50, 5, { name: 'before' }])
  await until(() => old.pings > 0, 'the old one is asked')
  let removed = 0
  witness.awareness.on('change', (change: { removed: number[] }) => {
    if (change.removed.includes(50)) removed++
  })
  old.reset()
  await until(async () => (await server.metric('ws_active_sockets')) === 2, 'the old socket is gone')
  returned.sendPresence([51, 1, { name: 'fence' }])
  await until(() => nameSeenBy(witness, 51) === 'fence', 'what its going caused has been told')
  expect(removed).toBe(0)
  expect(nameSeenBy(witness, 50)).toBe('before')
  returned.sendPresence([50, 6, { name: 'after' }])
  await until(() => nameSeenBy(witness, 50) === 'after', 'the returned one is heard', 1000)
})

const departures: readonly (readonly [string, (client: StockClient) => void])[] = [
  [
    'disconnects',
    ({ provider }) => {
      provider.disconnect()
    },
  ],
  [
    'is reset',
    (client) => {
      client.provider.shouldConnect = false
      ;(client.socket() as unknown as { _socket: Socket })._socket.resetAndDestroy()
    },
  ],
]

test.for(departures)(
  '[PR2] a stock client that %s is gone within 1 s, and seen within 2 s of coming back',
  async ([_how, depart], t) => {
    const { ann, witness, id } = await scene(t)
    for (let round = 0; round < 3; round++) {
      depart(ann)
      await until(() => nameSeenBy(witness, id) === undefined, 'Ann is gone', 1000)
      ann.provider.connect()
      await until(() => nameSeenBy(witness, id) === 'Ann', 'Ann is back', 2000)
    }
  },
)

test('[PR2] a stock client whose socket is reset under it comes back by itself and is seen within 2 s', async (t) => {
  const { ann, witness, id } = await scene(t)
  for (let round = 0; round < 3; round++) {
    const before = ann.connections()
    ;(ann.socket() as unknown as { _socket: Socket })._socket.resetAndDestroy()
    await until(() => ann.connections() > before && ann.provider.wsconnected, 'she has reconnected')
    await until(() => nameSeenBy(witness, id) === 'Ann', 'Ann is back', 2000)
    ann.awareness.setLocalStateField('round', round)
    await until(() => witness.awareness.getStates().get(id)?.round === round, 'and is heard', 1000)
  }
})

test('[PR2] a client whose id was taken to the last clock while it was away comes back all the same', async (t) => {
  const { server, ann, witness, attacker, id } = await scene(t)
  ann.provider.disconnect()
  await until(() => nameSeenBy(witness, id) === undefined, 'Ann is gone')
  attacker.sendPresence([id, 2 ** 32, { name: 'Mallory' }])
  await until(() => nameSeenBy(witness, id) === 'Mallory', 'somebody uses her id')
  attacker.reset()
  await until(() => nameSeenBy(witness, id) === undefined, 'and leaves')
  ann.provider.connect()
  await until(() => nameSeenBy(witness, id) === 'Ann', 'Ann is back', 2000)
  for (let x = 0; x < 8; x++) {
    ann.awareness.setLocalStateField('x', x)
    await until(() => witness.awareness.getStates().get(id)?.x === x, 'and is heard', 1000)
  }
  expect(await server.metric('ws_message_errors_total{reason="presence_clock"}')).toBe(0)
})

test('[PR2] all ids of a connection leave with it, at the clocks they had', async (t) => {
  const server = await startServer(t)
  const witness = await rawMember(t, server.port, 'board')
  const tabs = await rawMember(t, server.port, 'board')
  tabs.sendPresence([61, 4, { tab: 1 }], [62, 9, { tab: 2 }], [63, 1, { tab: 3 }])
  await until(() => witness.presence().size === 3, 'three are seen')
  witness.frames.length = 0
  tabs.reset()
  const told = () =>
    witness.frames.filter(({ kind }) => kind === 'presence').flatMap(({ bytes }) => readPresence(bytes))
  await until(() => told().length === 3, 'all three are removed', 1000)
  expect(told().sort((a, b) => a.id - b.id)).toEqual([
    { id: 61, clock: 4, state: null },
    { id: 62, clock: 9, state: null },
    { id: 63, clock: 1, state: null },
  ])
})

test('[PR4] one connection has eight ids and no more', async (t) => {
  const server = await startServer(t)
  const witness = stockClient(t, server.url, 'board')
  await witness.synced()
  const greedy = await rawMember(t, server.port, 'board')
  greedy.sendPresence(...Array.from({ length: 11 }, (_, i) => [100 + i, 1, { name: `n${i}` }] as const))
  await until(async () => (await refusals(server, 'too_many_ids')) === 3, 'three are refused')
  await until(() => nameSeenBy(witness, 107) === 'n7', 'eight are seen')
  expect(nameSeenBy(witness, 108)).toBeUndefined()
  // One that leaves makes room for another.
  greedy.sendPresence([100, 2, null])
  greedy.sendPresence([200, 1, { name: 'next' }])
  await until(() => nameSeenBy(witness, 200) === 'next', 'the next one is seen')
  expect(greedy.isOver).toBe(false)
})

const good = [70, 1, { name: 'good' }] as const
const cut = (bytes: Uint8Array, lie: number): Uint8Array => {
  // The frame's own length stays right; what is inside is one entry short.
  const frame = Uint8Array.from(bytes)
  frame[2] = lie
  return frame
}
const broken: readonly (readonly [string, string, Uint8Array])[] = [
  ['broken JSON', 'presence_json', presenceMessage([good, [71, 1, '{"name":']])],
  ['no JSON at all', 'presence_json', presenceMessage([good, [71, 1, 'undefined']])],
  [
    'a state of 16 385 bytes',
    'presence_state_size',
    presenceMessage([good, [71, 1, JSON.stringify('x'.repeat(16_383))]]),
  ],
  ['a clock past all clocks', 'presence_clock', presenceMessage([good, [71, 2 ** 53 - 1, {}]])],
  ['101 nested arrays', 'presence_nesting', presenceMessage([good, [71, 1, '['.repeat(101) + ']'.repeat(101)]])],
  ['fewer entries than it says', 'presence_truncated', cut(presenceMessage([good]), 2)],
  ['more entries than it says', 'presence_truncated', cut(presenceMessage([good, [71, 1, {}]]), 1)],
  ['a count of thousands', 'presence_count', presenceMessage(Array.from({ length: 4097 }, (_, i) => [i, 1, null]))],
]

test.for(broken)('[PR4] a frame with %s after a good entry is refused whole: %s', async ([_what, reason, frame], t) => {
  const server = await startServer(t)
  const witness = await rawMember(t, server.port, 'board')
  const sender = await rawMember(t, server.port, 'board')
  sender.send(frame)
  await until(async () => (await server.metric(`ws_message_errors_total{reason="${reason}"}`)) === 1, 'it is counted')
  sender.sendPresence([72, 1, { name: 'after' }])
  await until(() => witness.presence().has(72), 'the next frame is relayed')
  expect([...witness.presence().keys()]).toEqual([72])
  expect(sender.isOver).toBe(false)
})

test('[PR4] a room holds 1 MiB of presence, and sends it in frames of 64 KiB', async (t) => {
  const server = await startServer(t)
  const crowd = await Promise.all(
    Array.from({ length: 9 }, () => rawMember(t, server.port, 'board', { record: false })),
  )
  for (const [i, client] of crowd.entries()) {
    for (let id = 0; id < 8; id++) client.sendPresence([1000 + i * 8 + id, 1, { pad: 'x'.repeat(16_000) }])
  }
  await until(async () => (await refusals(server, 'room_full')) > 0, 'the room is full')
  const joiner = await rawMember(t, server.port, 'board')
  await until(() => joiner.presence().size === 65, 'it is told of those that fit')
  const sizes = joiner.frames.filter(({ kind }) => kind === 'presence').map(({ bytes }) => bytes.length)
  expect(sizes.length).toBeGreaterThanOrEqual(16)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536 + 16)
})
