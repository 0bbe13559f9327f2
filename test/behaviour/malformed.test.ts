import { expect, test } from 'vitest'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

const bad: readonly (readonly [string, string, Uint8Array | string])[] = [
  ['a text frame', 'text_frame', 'hello'],
  ['an empty text frame', 'text_frame', ''],
  ['an empty frame', 'empty', Uint8Array.of()],
  ['an unknown type', 'unknown_type', Uint8Array.of(7, 1, 0)],
  ['a stock auth message', 'unknown_type', Uint8Array.of(2, 0, 1, 65)],
  ['an unknown sync subtype', 'unknown_sync_type', Uint8Array.of(0, 3, 1, 0)],
  ['a type and nothing else', 'truncated', Uint8Array.of(0)],
  ['a payload shorter than it says', 'truncated', Uint8Array.of(0, 2, 100, 0, 0)],
  ['a length that never ends', 'truncated', Uint8Array.of(0, 2, 0xff, 0xff, 0xff)],
  ['bytes behind the payload', 'trailing_bytes', Uint8Array.of(0, 2, 2, 0, 0, 9)],
]

test.for(bad)(
  '[IN6] %s harms only its sender and is counted as %s; the fifth closes with 4422',
  async ([_what, reason, frame], t) => {
    const server = await startServer(t)
    const peer = stockClient(t, server.url, 'board')
    const witness = await rawMember(t, server.port, 'board')
    await peer.synced()
    const sender = await rawMember(t, server.port, 'board')
    sender.sendPresence([5, 1, { name: 'sender' }])
    await until(() => peer.awareness.getStates().has(5), 'the sender is here')
    const seen = witness.frames.length
    const send = () => (typeof frame === 'string' ? sender.sendText(frame) : sender.send(frame))

    for (let i = 1; i <= 4; i++) {
      send()
      await until(
        async () => (await server.metric(`ws_message_errors_total{reason="${reason}"}`)) === i,
        'it is counted',
      )
    }
    // Four are forgiven: it still takes part.
    sender.doc.getMap('m').set('k', 1)
    await until(() => peer.doc.getMap('m').get('k') === 1, 'its edit arrives')
    expect(sender.isOver).toBe(false)
    expect(witness.frames.slice(seen).map(({ kind }) => kind)).toEqual(['update'])

    send()
    await until(() => sender.isOver, 'it is closed')
    expect(sender.closeFrame).toEqual({ code: 4422, reason: 'malformed input' })
    await until(() => !peer.awareness.getStates().has(5), 'its presence left with it', 1000)
    peer.doc.getMap('m').set('k', 2)
    await until(() => witness.doc.getMap('m').get('k') === 2, 'the others go on')
    expect(peer.connections()).toBe(1)
    expect([witness.textFrames, sender.textFrames]).toEqual([0, 0])
  },
)

test('[IN6] different mistakes count together, and after the close nothing of the sender has an effect', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const sender = await rawMember(t, server.port, 'board')
  for (const [, , frame] of bad.slice(1, 6)) {
    if (typeof frame === 'string') sender.sendText(frame)
    else sender.send(frame)
  }
  sender.doc.getMap('m').set('late', 1)
  await until(() => sender.isOver, 'it is closed')
  expect(sender.closeFrame?.code).toBe(4422)
  peer.doc.getMap('m').set('k', 1)
  const check = await rawMember(t, server.port, 'board')
  await until(() => check.doc.getMap('m').get('k') === 1, 'a newcomer has the board')
  expect(check.doc.getMap('m').has('late')).toBe(false)
})

test('[IN6] an update that Yjs cannot read reaches nobody', async (t) => {
  const server = await startServer(t)
  const witness = await rawMember(t, server.port, 'board')
  const sender = await rawMember(t, server.port, 'board')
  const seen = witness.frames.length
  const malformed = async () => {
    const text = await (await fetch(`${server.httpUrl}/metrics`)).text()
    const samples = text.match(/^ws_message_errors_total\{.*$/gm) ?? []
    return samples.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)
  }
  sender.sendUpdate(Uint8Array.of(1, 1, 1, 0, 4, 1, 1, 0x74, 0xff))
  await until(async () => (await malformed()) === 1, 'a cut struct is counted')
  sender.sendUpdate(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f))
  await until(async () => (await malformed()) === 2, 'a count of billions is counted')
  sender.doc.getMap('m').set('k', 1)
  await until(() => witness.doc.getMap('m').get('k') === 1, 'its next edit arrives')
  expect(witness.frames.slice(seen).map(({ kind }) => kind)).toEqual(['update'])
})
