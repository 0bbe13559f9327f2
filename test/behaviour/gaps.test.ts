import { connect, createServer, type Socket } from 'node:net'
import { expect, type TestContext, test } from 'vitest'
import * as syncProtocol from 'y-protocols/sync'
import * as Y from 'yjs'
import { rawClient, rawMember, syncMessage } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'
import { until } from '../support/until.ts'

/** Ten edits of one author, each an update of its own. */
function tenUpdates(): { doc: Y.Doc; updates: Uint8Array[] } {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let i = 0; i < 10; i++) doc.getArray<number>('list').push([i])
  return { doc, updates }
}

test('[IN4] withhold one of ten updates: all ten are with everybody within a second', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const sender = await rawMember(t, server.port, 'board')
  const { updates } = tenUpdates()
  for (const [i, update] of updates.entries()) {
    // The sender has all of them, as a client has whose frame was lost on the way.
    Y.applyUpdate(sender.doc, update, sender)
    if (i !== 3) sender.sendUpdate(update)
  }
  await until(() => peer.doc.getArray('list').length === 10, 'all ten are there', 1000)
  expect(peer.doc.getArray('list').toJSON()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(await server.metric('ws_resyncs_total{direction="in",cause="gap"}')).toBeGreaterThan(0)
  expect([peer.connections(), sender.isOver]).toEqual([1, false])
})

test('[IN4] what waits for another connection’s edit is applied when that one comes', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const { updates } = tenUpdates()
  const early = await rawMember(t, server.port, 'board')
  const late = await rawMember(t, server.port, 'board')
  // It has what it sends: an answer to the server's question, should that come first, has it too.
  Y.applyUpdate(early.doc!, updates[1]!, early)
  early.sendUpdate(updates[1]!)
  await until(
    async () => (await server.metric('ws_resyncs_total{direction="in",cause="gap"}')) === 1,
    'the gap is seen',
  )
  late.sendUpdate(updates[0]!)
  await until(() => peer.doc.getArray('list').length === 2, 'both are there')
})

test('[IN4] [IN5] two thousand updates without their predecessor stall nobody and are not kept; only repetition closes', async (t) => {
  const server = await startServer(t, { rateLimitMaxTokens: 100_000 })
  const probe = stockClient(t, server.url, 'elsewhere')
  const echo = stockClient(t, server.url, 'elsewhere')
  await Promise.all([probe.synced(), echo.synced()])
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (let i = 0; i <= 2000; i++) doc.getText('t').insert(0, 'some words that take a little room in an update ')
  const sender = await rawMember(t, server.port, 'board')
  // It answers the server's question with nothing, so nothing heals.
  const sendAll = (): void => {
    for (const update of updates.slice(1)) sender.sendUpdate(update)
  }
  sendAll()
  let worst = 0
  for (let i = 0; i < 20; i++) {
    const sent = performance.now()
    probe.doc.getMap('m').set('n', i)
    await until(() => echo.doc.getMap('m').get('n') === i, 'the probe’s edit passes')
    worst = Math.max(worst, performance.now() - sent)
  }
  // 10 s of blocked loop if Yjs were left alone with them; the bound only catches disasters.
  expect(worst).toBeLessThan(1500)
  for (let i = 0; i < 5 && !sender.isOver; i++) {
    sendAll()
    await until(() => sender.isOver, 'repetition closes', 1000).catch(() => {})
  }
  expect(sender.isOver).toBe(true)
  expect(sender.closeFrame).toEqual({ code: 4422, reason: 'malformed input' })
  const joiner = await rawMember(t, server.port, 'board')
  expect(joiner.doc.store.clients.size).toBe(0)
})

/** A proxy in front of the server that can lose the first bytes the server says after the upgrade. */
async function losingProxy(t: TestContext, port: number, frames: number): Promise<number> {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    let lost = 0
    let upgraded = false
    let pending = Buffer.alloc(0)
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      if (!upgraded) {
        const end = pending.indexOf('\r\n\r\n')
        if (end < 0) return
        upgraded = true
        client.write(pending.subarray(0, end + 4))
        pending = pending.subarray(end + 4)
      }
      // Short frames: two bytes of header.
      while (lost < frames && pending.length >= 2 && pending.length >= 2 + pending[1]!) {
        pending = pending.subarray(2 + pending[1]!)
        lost++
      }
      if (lost === frames) {
        client.write(pending)
        pending = Buffer.alloc(0)
      }
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return (proxy.address() as { port: number }).port
}

test('[IN4] a proxy that loses the server’s SyncStep1: what the client brought arrives all the same', async (t) => {
  const server = await startServer(t)
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const port = await losingProxy(t, server.port, 1)
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'written offline')
  const returning = stockClient(t, `ws://127.0.0.1:${port}`, 'board', { doc })
  await returning.synced()
  await until(() => peer.doc.getText('t').toString() === 'written offline', 'the offline edit arrives', 5000)
  expect(returning.connections()).toBe(1)
})

test('[IN4] who goes on drawing before its first SyncStep2, on top of what the server has not got, has done nothing wrong', async (t) => {
  const server = await startServer(t, { workBurstMs: 60_000 })
  const peer = stockClient(t, server.url, 'board')
  await peer.synced()
  const sender = await rawMember(t, server.port, 'board')
  // As after a restart: the server asks, and what the client drew before and goes on drawing builds on what it has not got.
  const { updates } = tenUpdates()
  const long: Uint8Array[] = []
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => long.push(update))
  for (let i = 0; i < 40; i++) doc.getMap('m').set('stroke', 'x'.repeat(18_000))
  const early = await rawClient(t, server.port, 'board')
  // It never answers: every one of these comes while it has been asked, 700 KB in all.
  for (const update of [...long.slice(1), ...updates.slice(1)]) early.sendUpdate(update)
  await until(async () => (await server.metric('ws_received_bytes_total')) > 39 * 18_000, 'all has come')
  sender.doc.getMap('m').set('other', 1)
  await until(() => peer.doc.getMap('m').get('other') === 1, 'others go on')
  for (const reason of ['gap_overflow', 'gap_repeated']) {
    expect(await server.metric(`ws_message_errors_total{reason="${reason}"}`)).toBe(0)
  }
  expect(early.isOver).toBe(false)
  // Its answer has all of it.
  early.send(syncMessage((encoder) => syncProtocol.writeSyncStep2(encoder, doc)))
  await until(() => peer.doc.getMap('m').get('stroke') !== undefined, 'it arrives')
})
