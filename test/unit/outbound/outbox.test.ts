import pino from 'pino'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { Account } from '../../../src/budget/account.ts'
import { clocksBefore } from '../../../src/diff/clocks-before.ts'
import { DiffSource } from '../../../src/diff/diff-cursor.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { DrainScheduler } from '../../../src/outbound/drain-scheduler.ts'
import { Outbox } from '../../../src/outbound/outbox.ts'
import type { SyncFrame } from '../../../src/outbound/outgoing.ts'
import { CLOSE, type CloseReason } from '../../../src/protocol/close-reasons.ts'
import { decodeFrame, encodeUpdate } from '../../../src/protocol/frames.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'
import { MemorySink } from '../../support/memory-sink.ts'

/** One outbox over a document, on a wire that stands still. */
function setup(options: { notices?: boolean; drainBatch?: number; maxCongestedMs?: number; hardBytes?: number } = {}) {
  const clock = new HeldClock()
  const metrics = new Metrics([])
  const doc = new Y.Doc()
  const source = new DiffSource(doc)
  const received: Uint8Array[] = []
  const sink = new MemorySink((frame) => received.push(frame))
  const evicted: CloseReason[] = []
  const asked: number[][] = []
  const outbox = new Outbox(
    sink,
    source,
    {
      takeFrame: (ids) => {
        const at = Math.min(...ids.values())
        asked.push([...ids.keys()])
        ids.clear()
        return { bytes: Uint8Array.of(1, 1, 0), at }
      },
    },
    {
      settings: {
        softBytes: 2000,
        hardBytes: options.hardBytes ?? 20_000,
        maxQueued: 4,
        maxCongestedMs: options.maxCongestedMs ?? 0,
        drainBatch: options.drainBatch ?? 16,
        closeGraceMs: 500,
        wholeTextBytes: 1 << 20,
        presenceIntervalMs: 33,
      },
      clock,
      scheduler: new DrainScheduler(heldLoop(clock)),
      metrics,
    },
    {
      log: pino({ level: 'silent' }),
      account: new Account(),
      wantsNotices: options.notices ?? false,
      evicted: (reason) => evicted.push(reason),
    },
  )
  sink.onDrain = () => outbox.drained()
  sink.onClosed = () => outbox.closed()
  doc.on('update', (update: Uint8Array, _origin: unknown, _doc: unknown, transaction: Y.Transaction) => {
    const { deleteSet: deletes } = transaction
    const { version } = source
    const before = clocksBefore(transaction)
    const frame: SyncFrame = { bytes: encodeUpdate(update), before, version, deletes, at: clock.now() }
    outbox.pushSync(frame)
  })
  const write = (bytes: number): void => doc.getText('t').insert(0, 'x'.repeat(bytes))
  const client = (): Y.Doc => {
    const copy = new Y.Doc()
    for (const frame of received) {
      const { kind, ...rest } = decodeFrame(frame)
      if ((kind === 'update' || kind === 'step2') && 'payload' in rest) Y.applyUpdate(copy, rest.payload)
    }
    return copy
  }
  return { clock, metrics, doc, sink, outbox, received, evicted, asked, write, client }
}

/** The same, joined and level. */
async function live(options: Parameters<typeof setup>[0] = {}) {
  const world = setup(options)
  world.outbox.answer(new Map())
  await world.clock.settle()
  expect(world.outbox.state).toBe('live')
  return world
}

describe('presence', () => {
  test('[FC3] slots of a congested client hold ids, an older state is superseded and counted', async () => {
    const { sink, outbox, asked, metrics, write, clock } = await live()
    sink.stall()
    write(3000)
    for (const ids of [[1], [1, 2], [1]]) outbox.pushPresence({ bytes: new Uint8Array(500), ids, at: 0 })
    await clock.settle()
    expect(asked).toEqual([])
    expect(metrics.messagesDropped.values.presence).toBe(2)
    const heldForSync = outbox.heldBytes
    expect(heldForSync).toBeLessThan(3100)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(asked).toEqual([[1, 2]])
    expect(outbox.state).toBe('live')
  })

  test('[FC3] sync frames do not wait behind presence', async () => {
    const { sink, outbox, received, write, clock } = await live()
    sink.stall()
    write(3000)
    outbox.pushPresence({ bytes: Uint8Array.of(1, 1, 0), ids: [1], at: 0 })
    write(10)
    const before = received.length
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(received.slice(before).map((frame) => frame[0])).toEqual([0, 0, 1])
  })
})

test('[FC5] a batch that ends with room left goes on in the next turn, without another drain', async () => {
  const { sink, outbox, received, write, clock, client, doc } = await live({ drainBatch: 1 })
  sink.stall()
  write(3000)
  // Three frames whose diff is larger than they are, so that they go out one by one.
  for (let i = 0; i < 3; i++) write(5)
  expect(outbox.queuedFrames).toBe(3)
  const before = received.length
  sink.letThrough(Number.POSITIVE_INFINITY)
  sink.onDrain = () => {
    throw new Error('no further drain is promised')
  }
  await clock.turn()
  const afterOneTurn = received.length
  await clock.settle()
  expect(afterOneTurn - before).toBeLessThanOrEqual(2)
  expect(outbox.state).toBe('live')
  expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
})

test('[FC5] the amount is looked at before every frame', async () => {
  const { sink, outbox, write, clock } = await live()
  sink.stall()
  write(3000)
  for (let i = 0; i < 4; i++) write(900)
  sink.letThrough(3000)
  await clock.settle()
  expect(sink.bufferedBytes).toBeLessThanOrEqual(2000 + 3700)
  expect(outbox.state).not.toBe('live')
})

test('[FC9] a message is sent when its last byte has left, not when it was written', async () => {
  const { sink, metrics, write, clock, outbox } = await live()
  const sent = metrics.messagesSent.values.sync
  sink.stall(100)
  write(1000)
  await clock.settle()
  expect(metrics.messagesSent.values.sync).toBe(sent)
  sink.letThrough(800)
  await clock.settle()
  expect(metrics.messagesSent.values.sync).toBe(sent)
  expect(outbox.oldestUnsentAt).not.toBeNull()
  sink.letThrough(Number.POSITIVE_INFINITY)
  await clock.settle()
  expect(metrics.messagesSent.values.sync).toBe(sent + 1)
  expect(outbox.oldestUnsentAt).toBeNull()
})

test('[FC10] a client that asked is warned as it passes the soft mark, and told when it is level; nobody else is', async () => {
  for (const notices of [true, false]) {
    const { sink, received, write, clock } = await live({ notices })
    sink.stall()
    write(3000)
    write(10)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    const told = received.filter((frame) => frame[0] === 100).map((frame) => Buffer.from(frame.subarray(2)).toString())
    expect(told).toEqual(notices ? ['{"kind":"behind"}', '{"kind":"caught-up"}'] : [])
  }
})

test('[FC7] a degraded client gets one diff an interval and still converges', async () => {
  const { outbox, received, write, clock, client, doc } = await live()
  outbox.pace(250)
  const before = received.length
  for (let i = 0; i < 50; i++) {
    write(3)
    await clock.advance(20)
  }
  await clock.advance(500)
  expect(received.length - before).toBeLessThanOrEqual(5)
  expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
  outbox.pace(0)
  write(3)
  expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
})

test('[FC4] [FC9] a queue that overflows is one diff in the same socket, with no further edit', async () => {
  const { sink, outbox, metrics, write, clock, client, doc } = await live()
  sink.stall()
  for (let i = 0; i < 40; i++) write(500)
  doc.getText('t').delete(0, 300)
  expect(outbox.state).toBe('behind')
  expect(outbox.heldBytes).toBeLessThan(20_000)
  expect(metrics.backpressureDrops.value).toBeGreaterThan(20)
  expect(metrics.resyncsOut.values.queue_full).toBe(1)
  sink.letThrough(Number.POSITIVE_INFINITY)
  await clock.settle()
  expect(outbox.state).toBe('live')
  expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
})

test('[FC1] a single struct that cannot be cut passes the hard mark alone and is not evicted for it', async () => {
  const { sink, outbox, doc, clock, evicted, client } = await live()
  sink.stall(0)
  doc.getMap('m').set('image', new Uint8Array(100_000))
  await clock.settle()
  doc.getMap('m').set('k', 1)
  await clock.settle()
  expect(evicted).toEqual([])
  expect(outbox.heldBytes).toBeGreaterThan(100_000)
  expect(outbox.heldBytes).toBeLessThan(20_000 + 100_100)
  sink.letThrough(Number.POSITIVE_INFINITY)
  await clock.settle()
  expect(client().getMap('m').toJSON()).toEqual(doc.getMap('m').toJSON())
})

describe('figures', () => {
  /** Observations of more than `seconds`. */
  const later = ({ deliveryDelay: { bounds, counts } }: Metrics, seconds: number): number =>
    counts.slice(bounds.indexOf(seconds) + 1).reduce((sum, count) => sum + count, 0)

  test('[FC9] every part of a diff is as late as the oldest that was held back; once it is through, nothing is late any more', async () => {
    const { sink, outbox, write, clock, metrics } = await live({ hardBytes: 100_000 })
    sink.stall()
    write(3000)
    for (let i = 0; i < 6; i++) write(2000)
    expect(outbox.state).toBe('behind')
    await clock.advance(4000)
    expect(outbox.oldestUnsentAt).toBe(0)
    write(10)
    expect(later(metrics, 2.5)).toBe(0)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(outbox.state).toBe('live')
    const late = later(metrics, 2.5)
    expect(late).toBeGreaterThan(5)
    expect(outbox.oldestUnsentAt).toBeNull()
    write(10)
    await clock.settle()
    expect(later(metrics, 2.5)).toBe(late)
  })

  test('[FC9] an answer is as late as its question has waited', async () => {
    const { outbox, clock, metrics } = await live()
    outbox.asked()
    await clock.advance(3000)
    outbox.answer(new Map())
    await clock.settle()
    expect(later(metrics, 2.5)).toBe(1)
    outbox.answer(new Map())
    await clock.settle()
    expect(later(metrics, 2.5)).toBe(1)
  })

  test('[FC9] presence that was held is as late as the first state that did not go out, not as the newest', async () => {
    const { sink, outbox, write, clock, metrics } = await live()
    sink.stall()
    write(3000)
    const push = (id: number) => outbox.pushPresence({ bytes: new Uint8Array(5), ids: [id], at: clock.now() })
    push(1)
    await clock.advance(3000)
    push(1)
    push(2)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(later(metrics, 2.5)).toBe(1)
    sink.stall()
    write(3000)
    push(2)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(later(metrics, 2.5)).toBe(1)
  })

  test('[FC9] behind over one large update is no drop while it drains, and is one after a second in which nothing did', async () => {
    const { sink, outbox, write, clock, metrics } = await live({ hardBytes: 300_000 })
    sink.stall()
    write(70_000)
    await clock.settle()
    expect([outbox.state, metrics.resyncsOut.values.large_update]).toEqual(['behind', 1])
    await clock.advance(900)
    write(10)
    expect(metrics.backpressureDrops.value).toBe(0)
    expect(metrics.messagesDropped.values.sync).toBe(2)
    await clock.advance(200)
    write(10)
    write(10)
    expect([metrics.backpressureDrops.value, outbox.drops]).toEqual([2, 2])
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.settle()
    expect(outbox.state).toBe('live')
    write(70_000)
    write(10)
    expect(metrics.backpressureDrops.value).toBe(2)
  })

  test('[FC7] [FC9] folds for a client that is coalesced are counted, and what was folded', async () => {
    const { outbox, write, clock, metrics, client, doc } = await live()
    outbox.pace(250)
    for (let i = 0; i < 20; i++) {
      write(10)
      await clock.advance(100)
    }
    await clock.advance(500)
    expect(metrics.resyncsOut.values.degraded).toBeGreaterThanOrEqual(5)
    expect(metrics.resyncsOut.values.degraded).toBe(outbox.resyncs)
    expect(metrics.messagesDropped.values.sync).toBe(20)
    expect(metrics.backpressureDrops.value).toBe(0)
    expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
  })
})

describe('eviction by age', () => {
  test('[FC6] progress of 64 KiB restarts the clock, less does not', async () => {
    const { sink, write, clock, evicted } = await live({ maxCongestedMs: 1000, hardBytes: 1_000_000 })
    sink.stall()
    write(3000)
    await clock.advance(900)
    sink.letThrough(500)
    await clock.advance(200)
    expect(evicted).toEqual([CLOSE.congestedTooLong])
  })

  test('[FC6] everything drained restarts it', async () => {
    const { sink, write, clock, evicted, outbox } = await live({ maxCongestedMs: 1000 })
    for (let i = 0; i < 5; i++) {
      sink.stall()
      write(3000)
      await clock.advance(900)
      sink.letThrough(Number.POSITIVE_INFINITY)
      await clock.settle()
    }
    expect(evicted).toEqual([])
    expect(outbox.state).toBe('live')
  })

  test('[FC6] whoever drains within the grace reads the close frame, anybody else is cut', async () => {
    for (const drains of [true, false]) {
      const { sink, outbox, write, clock, metrics, evicted, received } = await live({ maxCongestedMs: 1000 })
      sink.stall()
      write(3000)
      for (let i = 0; i < 3; i++) write(100)
      await clock.advance(1100)
      expect(evicted).toEqual([CLOSE.congestedTooLong])
      expect(metrics.clientsDropped.values.congested).toBe(1)
      expect(outbox.queuedFrames).toBe(0)
      const before = received.length
      write(50)
      if (drains) sink.letThrough(Number.POSITIVE_INFINITY)
      await clock.advance(700)
      expect(sink.closedWith).toBe(drains ? CLOSE.congestedTooLong : 'cut')
      // Nothing is written after the eviction: only what the socket held arrives.
      expect(received.length - before).toBe(drains ? 1 : 0)
      expect(outbox.heldBytes).toBe(0)
    }
  })
})

test('[FC2] many clients with backlogs give the loop back between slices', async () => {
  const clock = new HeldClock()
  const scheduler = new DrainScheduler(heldLoop(clock))
  const order: number[] = []
  for (let i = 0; i < 10; i++) {
    let left = 3
    scheduler.ready({
      account: new Account(),
      pump: () => {
        clock.spend(5)
        order.push(i)
        return --left > 0 ? 'more' : 'idle'
      },
      check: () => false,
      failed: (error) => {
        throw error
      },
    })
  }
  await clock.turn()
  // 10 ms a turn: two of them, the rest wait for the next turn, and nobody is served twice before all were served once.
  expect(order).toEqual([0, 1])
  await clock.settle()
  expect(order).toHaveLength(30)
  expect([...order.slice(0, 10)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

describe('withheld', () => {
  test('[FC8] while text is half there nothing of the document goes out, presence does; then one diff, and it is no drop', async () => {
    const { outbox, received, write, clock, client, doc, metrics, evicted } = await live({ maxCongestedMs: 1000 })
    const before = received.length
    outbox.withhold(true)
    for (let i = 0; i < 40; i++) {
      write(10)
      outbox.pushPresence({ bytes: Uint8Array.of(1, 1, 0), ids: [1], at: clock.now() })
      await clock.advance(100)
    }
    expect(received.slice(before).map((frame) => frame[0])).toEqual(Array.from({ length: 40 }, () => 1))
    expect([outbox.state, evicted.length, metrics.backpressureDrops.value]).toEqual(['behind', 0, 0])
    outbox.withhold(false)
    await clock.settle()
    expect(received.length).toBe(before + 41)
    expect(outbox.state).toBe('live')
    expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
  })

  test('[FC8] what was held for a congested client waits too, and an answer that is asked for meanwhile', async () => {
    const { outbox, received, write, clock, client, doc, sink } = await live()
    sink.stall()
    write(3000)
    write(10)
    write(10)
    outbox.withhold(true)
    sink.letThrough(Number.POSITIVE_INFINITY)
    await clock.advance(500)
    const before = received.length
    outbox.answer(new Map())
    await clock.advance(500)
    expect(received.length).toBe(before)
    outbox.withhold(false)
    await clock.settle()
    expect(decodeFrame(received.at(-1)!).kind).toBe('step2')
    expect(client().getText('t').toString()).toBe(doc.getText('t').toString())
  })
})
