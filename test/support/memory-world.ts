/**
 * A whole server side in memory, with clients whose wires the test holds still: real registry, rooms, sessions and
 * outboxes, a clock that stands still, and clients that speak the stock protocol.
 */

import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import pino from 'pino'
import * as syncProtocol from 'y-protocols/sync'
import * as Y from 'yjs'
import { openGrant } from '../../src/access/grant.ts'
import { LoopTime } from '../../src/budget/loop-time.ts'
import { Shares } from '../../src/budget/share.ts'
import { singleNode } from '../../src/cluster/single-node.ts'
import { FrameFlood } from '../../src/inbound/frame-flood.ts'
import { KeptBudgets } from '../../src/inbound/kept-budgets.ts'
import { LateWrites } from '../../src/inbound/late-writes.ts'
import { MESSAGE_ERRORS } from '../../src/inbound/message-errors.ts'
import { Oversized } from '../../src/inbound/oversized.ts'
import { Rates } from '../../src/inbound/rate-limiter.ts'
import { SecondChances } from '../../src/inbound/second-chances.ts'
import { Session } from '../../src/inbound/session.ts'
import { EveryTenth } from '../../src/observe/every-tenth.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { DrainScheduler } from '../../src/outbound/drain-scheduler.ts'
import type { OutboxSettings } from '../../src/outbound/outbox.ts'
import { decodeFrame } from '../../src/protocol/frames.ts'
import { RoomRegistry } from '../../src/room/room-registry.ts'
import { MemoryStorage } from '../../src/storage/memory-storage.ts'
import { StorageMetrics } from '../../src/storage/storage-metrics.ts'
import { HeldClock } from './held-clock.ts'
import { MemorySink } from './memory-sink.ts'
import { atClient } from './yjs-faults.ts'

export interface WorldOptions {
  readonly outbox?: Partial<OutboxSettings>
  readonly maxTokens?: number
  /** Whether boards are stored: they are unless told otherwise. */
  readonly durable?: boolean
  readonly refillMs?: number
  readonly maxDocAuthors?: number
  /** Part of its time that the loop seems to work, 0 to 1: above a half rooms gather. */
  readonly utilisation?: () => number
}

const FROM_SERVER = 'server'

export class World {
  readonly clock = new HeldClock()
  readonly metrics = new Metrics(MESSAGE_ERRORS)
  readonly loop = new LoopTime({
    clock: this.clock,
    metrics: this.metrics,
    onError: (error) => {
      throw error
    },
  })
  readonly scheduler = new DrainScheduler(this.loop)
  readonly #shares = new Shares(this.loop, { msPerSecond: 250, burstMs: 10_000 })
  readonly storage: MemoryStorage
  readonly registry: RoomRegistry
  readonly outboxSettings: OutboxSettings
  readonly #log = pino({ level: process.env.TEST_LOG ?? 'silent' })
  readonly #rates: Rates
  readonly #presenceRates: Rates
  readonly #late = new LateWrites()
  #worked = 0
  #lookedAt = 0
  readonly #flood = new FrameFlood(1_000_000, this.clock)
  readonly #reputation = {
    clock: this.clock,
    budgets: new KeptBudgets(),
    oversized: new Oversized(this.clock),
    chances: new SecondChances({ evictions: 3, windowMs: 600_000, intervalMs: 250 }, this.clock),
  }

  constructor(options: WorldOptions = {}) {
    this.storage = new MemoryStorage({ durable: options.durable ?? true })
    this.outboxSettings = {
      softBytes: 4096,
      hardBytes: 16_384,
      maxQueued: 8,
      maxCongestedMs: 0,
      drainBatch: 3,
      closeGraceMs: 2000,
      wholeTextBytes: 1 << 20,
      presenceIntervalMs: 33,
      ...options.outbox,
    }
    this.#rates = new Rates(
      {
        maxTokens: options.maxTokens ?? 1_000_000,
        refillMs: options.refillMs ?? 1000,
        burstBytes: 1 << 24,
        bytesPerSecond: 1 << 24,
      },
      this.clock.now,
    )
    this.#presenceRates = new Rates(
      { maxTokens: 1000, refillMs: 1000, burstBytes: 1 << 24, bytesPerSecond: 1 << 24 },
      this.clock.now,
    )
    this.registry = new RoomRegistry({
      settings: {
        flushIntervalMs: 8,
        presenceIntervalMs: 33,
        idleMs: 10_000,
        maxRooms: 1000,
        maxRoomsPerOwner: 1000,
        maxDocBytes: 1 << 24,
        maxDocAuthors: options.maxDocAuthors ?? 16_384,
        maxIdsPerConnection: 8,
      },
      clock: this.clock,
      loop: this.loop,
      metrics: this.metrics,
      storageMetrics: new StorageMetrics(),
      log: this.#log,
      storage: this.storage,
      cluster: singleNode,
      utilisation: () => {
        const now = this.clock.now()
        this.#worked += (now - this.#lookedAt) * (options.utilisation?.() ?? 0)
        this.#lookedAt = now
        return { active: this.#worked, idle: now - this.#worked, utilization: 0 }
      },
    })
  }

  session(sink: MemorySink, room: string, address: string): Session {
    const session = new Session(
      sink,
      {
        room,
        address,
        group: address,
        notices: false,
        admission: openGrant(room, null),
      },
      {
        settings: {
          maxMessageBytes: 1 << 24,
        },
        clock: this.clock,
        wallClock: () => 0,
        metrics: this.metrics,
        log: this.#log,
        registry: this.registry,
        outbox: { settings: this.outboxSettings, clock: this.clock, scheduler: this.scheduler, metrics: this.metrics },
        rates: this.#rates,
        reputation: this.#reputation,
        shares: this.#shares,
        conversation: {
          clock: this.clock,
          metrics: this.metrics,
          shares: this.#shares,
          isMemoryTight: () => false,
          presenceLimits: { maxStateBytes: 16_384, maxEntries: 4096 },
          presenceRates: this.#presenceRates,
        },
        late: this.#late,
        flood: this.#flood,
        floods: new EveryTenth(),
        refusals: new EveryTenth(),
        malformed: new EveryTenth(),
        holds: () => true,
      },
    )
    sink.onClosed = (code) => session.closed(code, false)
    sink.onDrain = () => session.drained()
    session.open()
    return session
  }
}

/** A client that speaks the stock protocol over a held wire: frames lie in `outgoing` until the test sends them. */
export class WireClient {
  readonly doc: Y.Doc
  readonly room: string
  readonly #world: World
  readonly #name: string
  sink: MemorySink | null = null
  session: Session | null = null
  outgoing: Uint8Array[] = []
  connections = 0
  synced = false
  updatesBeforeSync = 0
  /** Times a frame was received whose predecessor was missing. */
  parked = 0

  constructor(world: World, room: string, name: string, clientId: number) {
    this.#world = world
    this.room = room
    this.#name = name
    this.doc = new Y.Doc()
    this.doc.clientID = clientId
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin === FROM_SERVER || !this.isConnected) return
      this.#send((encoder) => syncProtocol.writeUpdate(encoder, update))
    })
  }

  get isConnected(): boolean {
    return this.sink?.isOpen === true
  }

  connect(): void {
    this.outgoing = []
    this.synced = false
    this.connections++
    const sink = new MemorySink((frame) => {
      if (this.sink === sink) atClient(() => this.#receive(frame))
    })
    this.sink = sink
    this.session = this.#world.session(sink, this.room, this.#name)
    this.#send((encoder) => syncProtocol.writeSyncStep1(encoder, this.doc))
  }
  disconnect(): void {
    this.sink?.break()
    this.sink = null
    this.session = null
    this.outgoing = []
  }
  /** Hands the oldest `count` frames to the server. */
  transmit(count = Number.POSITIVE_INFINITY): void {
    for (const frame of this.outgoing.splice(0, Math.min(count, this.outgoing.length))) {
      if (this.isConnected) this.session!.receive(frame, true)
    }
  }
  /**
   * Loses the oldest frame on its way, as a proxy might; false when it is one whose loss nobody could ever notice: a
   * deletion has no clock, and nobody asks for a SyncStep1.
   */
  lose(): boolean {
    const oldest = this.outgoing[0]
    if (oldest === undefined) return false
    const frame = decodeFrame(oldest)
    if (frame.kind !== 'update' && frame.kind !== 'step2') return false
    if (frame.kind === 'update' && atClient(() => Y.decodeUpdate(frame.payload)).structs.length === 0) return false
    this.outgoing.shift()
    return true
  }

  #send(write: (encoder: encoding.Encoder) => void): void {
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, 0)
    atClient(() => write(encoder))
    this.outgoing.push(encoding.toUint8Array(encoder))
  }
  #receive(frame: Uint8Array): void {
    const decoder = decoding.createDecoder(frame)
    if (decoding.readVarUint(decoder) !== 0) return
    const reply = encoding.createEncoder()
    encoding.writeVarUint(reply, 0)
    const type = syncProtocol.readSyncMessage(decoder, reply, this.doc, FROM_SERVER)
    if (type === syncProtocol.messageYjsSyncStep2) this.synced = true
    if (this.doc.store.pendingStructs !== null) this.parked++
    if (encoding.length(reply) > 1) this.outgoing.push(encoding.toUint8Array(reply))
  }
}

/** What two documents have to agree on. */
export function contentOf(doc: Y.Doc): unknown {
  const stateVector = [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort(([a], [b]) => a - b)
  const deletes = Y.createDeleteSetFromStructStore(doc.store)
  const ranges = [...deletes.clients].sort(([a], [b]) => a - b)
  return { stateVector, ranges: ranges.map(([client, items]) => [client, items.map(({ clock, len }) => [clock, len])]) }
}
