/** A document, its keeper, a store that fails and waits when told to, and a clock held still. */
import * as Y from 'yjs'
import { DiffCursor, DiffSource, OwedDeletes } from '../../../src/diff/diff-cursor.ts'
import { applyStored } from '../../../src/keeping/apply-stored.ts'
import { Keeper } from '../../../src/keeping/keeper.ts'
import { Slices } from '../../../src/keeping/slices.ts'
import { Boundary } from '../../../src/observe/boundary.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { MemoryStorage } from '../../../src/storage/memory-storage.ts'
import { type BadRecord, StorageError, type StoredRecord } from '../../../src/storage/storage.ts'
import { StorageMetrics } from '../../../src/storage/storage-metrics.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'

export class UnreliableStorage extends MemoryStorage {
  /** What the next calls of a kind reject with, until it is taken away. */
  fails: { load?: string; append?: string; compact?: string; quarantine?: string } = {}
  /** Appends wait until `release`. */
  held = false
  appends = 0
  compactions = 0
  inFlight = 0
  mostInFlight = 0
  #release: (() => void)[] = []

  constructor(metrics: StorageMetrics, durable = true) {
    super({ durable, metrics })
  }
  release(): void {
    this.held = false
    for (const go of this.#release.splice(0)) go()
  }
  override async *load(room: string): AsyncGenerator<StoredRecord> {
    this.#check('load')
    yield* super.load(room)
  }
  override async append(room: string, updates: readonly Uint8Array[]): Promise<number> {
    this.appends++
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    try {
      if (this.held) await new Promise<void>((resolve) => this.#release.push(resolve))
      this.#check('append')
      return await super.append(room, updates)
    } finally {
      this.inFlight--
    }
  }
  override async compact(room: string, through: number, parts: readonly Uint8Array[]): Promise<void> {
    this.compactions++
    this.#check('compact')
    await super.compact(room, through, parts)
  }
  override async quarantine(room: string, bad: readonly BadRecord[]): Promise<void> {
    this.#check('quarantine')
    await super.quarantine(room, bad)
  }
  async records(room = 'r'): Promise<StoredRecord[]> {
    const records: StoredRecord[] = []
    for await (const record of super.load(room)) records.push(record)
    return records
  }
  #check(kind: keyof UnreliableStorage['fails']): void {
    const reason = this.fails[kind]
    if (reason !== undefined) throw new StorageError(reason)
  }
}

const STORED = Symbol('stored')

export interface World {
  readonly clock: HeldClock
  readonly metrics: StorageMetrics
  readonly storage: UnreliableStorage
  readonly log: { level: string; text: string; facts: Record<string, unknown> }[]
  /** A document with its keeper, not yet loaded. */
  board(room?: string): Board
  /** What a fresh document is after loading everything stored. */
  stored(room?: string): Promise<Y.Doc>
}

export interface Board {
  readonly doc: Y.Doc
  readonly keeper: Keeper
  /** Runs before each part is handed out. */
  beforePart: () => void
}

export function world(options: { durable?: boolean } = {}): World {
  const clock = new HeldClock()
  const metrics = new StorageMetrics()
  const storage = new UnreliableStorage(metrics, options.durable)
  const slices = new Slices(heldLoop(clock))
  const lines: World['log'] = []
  const line = (level: string) => (facts: unknown, text?: string) => {
    lines.push({ level, text: text ?? '', facts: facts as Record<string, unknown> })
  }
  const log = { info: line('info'), warn: line('warn'), error: line('error') } as never
  const errors = new Boundary(new Metrics([]), log)
  const board = (room = 'r'): Board => {
    let doc = new Y.Doc()
    const emitted = (update: Uint8Array, origin: unknown): void => {
      if (origin !== STORED) keeper.append(update)
    }
    const host = {
      apply(update: Uint8Array) {
        applyStored(doc, update, STORED)
      },
      renew() {
        doc = new Y.Doc()
        doc.on('update', emitted)
      },
      loosen() {},
      *parts() {
        const cursor = new DiffCursor(new DiffSource(doc), new Map(), OwedDeletes.full())
        for (;;) {
          made.beforePart()
          const part = cursor.next()
          yield part.update
          if (part.last) return
        }
      },
      get hasGaps() {
        return doc.store.pendingStructs !== null || doc.store.pendingDs !== null
      },
    }
    const keeper = new Keeper(room, storage, host, { clock, log, metrics, slices, errors })
    doc.on('update', emitted)
    const made: Board = {
      get doc() {
        return doc
      },
      keeper,
      beforePart: () => {},
    }
    return made
  }
  const stored = async (room = 'r'): Promise<Y.Doc> => {
    const doc = new Y.Doc()
    for (const { update } of await storage.records(room)) Y.applyUpdate(doc, update)
    return doc
  }
  return { clock, metrics, storage, log: lines, board, stored }
}

/** A board that was loaded, from an empty or a filled store. */
export async function loaded(world: World, room = 'r'): Promise<Board> {
  const board = world.board(room)
  const done = board.keeper.load()
  await world.clock.settle()
  await done
  return board
}

/** Sets keys `k<from>` to `k<to - 1>` in map `m`, one transaction each. */
export function edit(doc: Y.Doc, from: number, to: number, value: unknown = 'v'): void {
  for (let i = from; i < to; i++) doc.getMap('m').set(`k${i}`, value)
}

export function sameState(a: Y.Doc, b: Y.Doc): boolean {
  return Buffer.compare(Y.encodeStateAsUpdate(a), Y.encodeStateAsUpdate(b)) === 0
}
