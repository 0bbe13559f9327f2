/** Kills the server's process while people draw, and looks at what is left before and after they come back (ST1–ST3). */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext } from 'vitest'
import * as Y from 'yjs'
import { hasGaps, readBoard } from '../../src/keeping/board-document.ts'
import { systemClock } from '../../src/observe/clock.ts'
import { LmdbStorage } from '../../src/storage/lmdb-storage.ts'
import { sameBoard } from './boards.ts'
import { dataDirectory } from './data-directory.ts'
import { freePort } from './free-port.ts'
import { type ServerProcess, startServerProcess } from './process.ts'
import { Random } from './random.ts'
import { rawMember } from './raw-client.ts'
import { type StockClient, stockClient } from './stock-client.ts'
import { until } from './until.ts'

/** What has to be on disk: all that somebody saw longer ago than this (ST1), ms. */
const DURABLE_AFTER_MS = 1_000
const BOARD = 'board'
/** Boards that are left at once, so that they are compacted one after the other. */
const RESTING = ['rest-0', 'rest-1', 'rest-2', 'rest-3', 'rest-4', 'rest-5']
const WRITERS = 3

/** When a round kills. */
type Moment = 'first commit' | 'drawing' | 'compacting'
const MOMENTS: readonly Moment[] = ['first commit', 'drawing', 'compacting']

/** What the rounds had to do with, to be sure that they were not idle. */
export interface KillFigures {
  readonly rounds: number
  /** Updates an onlooker had seen for over a second when the process was killed. */
  checked: number
  /** Updates that came back with their authors only: seen in the last second, or not at all. */
  healed: number
  /** Compactions in rounds that were killed. */
  compactions: number
  /** Kills that left some of the resting boards compacted and others not. */
  amidCompactions: number
}

/** Three moments in turn; every third round begins with no store at all, the others go on with what the last one left. */
export async function serverKillRounds(t: TestContext, rounds: number, seed: number): Promise<KillFigures> {
  const figures: KillFigures = { rounds, checked: 0, healed: 0, compactions: 0, amidCompactions: 0 }
  const random = new Random(seed)
  const port = await freePort()
  let crew: Crew | undefined
  let server: ServerProcess | undefined
  let directory = ''
  for (let round = 0; round < rounds; round++) {
    const moment = MOMENTS[round % MOMENTS.length]!
    const label = `seed ${seed}, round ${round} (${moment})`
    if (crew === undefined || moment === 'first commit') {
      crew?.leave()
      await server?.kill()
      directory = join(dataDirectory(t), 'data')
      server = await start(t, port, directory)
      crew = new Crew(t, server, random)
      await crew.arrive()
    }
    crew.draw()
    await wait(moment, t, server!, random)
    figures.compactions += moment === 'first commit' ? 0 : await server!.metric('storage_compactions_total')

    const killedAt = performance.now()
    await server!.kill()
    crew.rest()
    if (moment === 'compacting') figures.amidCompactions += await isAmid(directory)
    await checkStore(directory, label)

    server = await start(t, port, directory)
    const fresh = stockClient(t, server.url, BOARD)
    await fresh.synced()
    const { doc: due, count } = crew.seenBefore(killedAt - DURABLE_AFTER_MS)
    figures.checked += count
    expect(contains(fresh.doc, due), `${label}: what was seen a second before is there`).toBe(true)
    figures.healed += structsMissing(crew.onlooker.doc, fresh.doc)

    await crew.comeBack(label)
    await until(() => crew!.isOneWith(fresh.doc), `${label}: all have the same board`)
    crew.checkOnce(fresh.doc, label)
    fresh.provider.destroy()
  }
  return figures
}

function start(t: TestContext, port: number, directory: string): Promise<ServerProcess> {
  return startServerProcess(t, {
    PORT: String(port),
    STORAGE: 'lmdb',
    DATA_DIR: directory,
    // Boards that are left are compacted as soon as they are saved.
    ROOM_IDLE_MS: '0',
    LOG_LEVEL: 'info',
  })
}

async function wait(moment: Moment, t: TestContext, server: ServerProcess, random: Random): Promise<void> {
  if (moment === 'first commit') return void (await sleep(random.int(300)))
  await sleep(DURABLE_AFTER_MS + 200 + random.int(1_000))
  if (moment === 'drawing') return
  const guests = await Promise.all(RESTING.map((room) => rawMember(t, server.port, room, { record: false })))
  for (const { doc } of guests) for (let i = 0; i < 8; i++) doc.getArray('a').push([`${i}`.repeat(40_000)])
  await sleep(200)
  const compactions = () => server.metric('storage_compactions_total')
  const before = await compactions()
  for (const guest of guests) guest.close()
  await until(async () => (await compactions()) > before, 'the boards that were left are being compacted')
  await sleep(random.int(20))
}

/** The people of a board: writers, and one who only looks. */
class Crew {
  readonly onlooker: StockClient
  readonly #writers: readonly StockClient[]
  readonly #random: Random
  readonly #seen: { readonly at: number; readonly update: Uint8Array }[] = []
  readonly #pushed = new Set<string>()
  #timers: NodeJS.Timeout[] = []

  constructor(t: TestContext, server: ServerProcess, random: Random) {
    this.#random = random
    this.onlooker = stockClient(t, server.url, BOARD)
    this.onlooker.doc.on('update', (update: Uint8Array) => this.#seen.push({ at: performance.now(), update }))
    this.#writers = Array.from({ length: WRITERS }, () => stockClient(t, server.url, BOARD))
    t.onTestFinished(() => this.rest())
  }

  get #all(): readonly StockClient[] {
    return [this.onlooker, ...this.#writers]
  }

  async arrive(): Promise<void> {
    await Promise.all(this.#all.map((client) => client.synced()))
  }

  draw(): void {
    this.#timers = this.#writers.map((writer) => setInterval(() => this.#edit(writer), 25))
    for (const writer of this.#writers) this.#edit(writer)
  }

  /** Stops drawing, and stays away until `comeBack`. */
  rest(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    for (const { provider } of this.#all) provider.disconnect()
  }
  async comeBack(label: string): Promise<void> {
    for (const { provider } of this.#all) provider.connect()
    await until(() => this.#all.every(({ provider }) => provider.synced), `${label}: the old clients are back`)
  }
  leave(): void {
    this.rest()
    for (const { provider } of this.#all) provider.destroy()
  }

  /** What the onlooker had at that time. */
  seenBefore(time: number): { readonly doc: Y.Doc; readonly count: number } {
    const doc = new Y.Doc()
    const early = this.#seen.filter(({ at }) => at < time)
    for (const { update } of early) Y.applyUpdate(doc, update)
    return { doc, count: early.length }
  }
  isOneWith(doc: Y.Doc): boolean {
    return this.#all.every((client) => sameBoard(client.doc, doc))
  }
  /** Nothing is on the board twice, and nobody is among its authors who never drew. */
  checkOnce(doc: Y.Doc, label: string): void {
    const items = doc.getArray<string>('items').toArray()
    expect(new Set(items).size, `${label}: nothing twice`).toBe(items.length)
    expect(
      items.filter((item) => !this.#pushed.has(item)),
      `${label}: nothing foreign`,
    ).toEqual([])
    const ids = new Set(this.#all.map((client) => client.doc.clientID))
    expect(
      [...doc.store.clients.keys()].filter((id) => !ids.has(id)),
      `${label}: no foreign author`,
    ).toEqual([])
  }

  #edit({ doc }: StockClient): void {
    const random = this.#random
    const kind = random.next()
    if (kind < 0.5) {
      const item = `${doc.clientID}:${this.#pushed.size}`
      this.#pushed.add(item)
      const items = doc.getArray('items')
      items.insert(random.int(items.length + 1), [item])
    } else if (kind < 0.65) doc.getMap('keys').set(`k${random.int(20)}`, random.int(1_000))
    else if (kind < 0.75) doc.getMap('keys').delete(`k${random.int(20)}`)
    // Overwritten again and again: the tail grows, the snapshot does not, so that the board is compacted often.
    else doc.getMap('large').set(`k${random.int(4)}`, `${random.int(10)}`.repeat(60_000))
  }
}

/** The store opens, every record is whole and builds on what is there. */
async function checkStore(directory: string, label: string): Promise<void> {
  const storage = await LmdbStorage.open({ directory, clock: systemClock, readOnly: true })
  for await (const { room } of storage.rooms()) {
    const { doc, bad } = await readBoard(storage, room)
    expect([bad.length, hasGaps(doc)], `${label}, ${room}: no bad record, no gap`).toEqual([0, false])
  }
  await storage.close()
}

/** 1 when some of the resting boards were compacted and others were not. */
async function isAmid(directory: string): Promise<number> {
  const storage = await LmdbStorage.open({ directory, clock: systemClock, readOnly: true })
  const tails: number[] = []
  for await (const { room, tail } of storage.rooms()) if (RESTING.includes(room)) tails.push(tail)
  await storage.close()
  return tails.some((tail) => tail > 0) && tails.some((tail) => tail === 0) ? 1 : 0
}

/** Whether a board has everything that another has, deletions included. */
function contains(board: Y.Doc, part: Y.Doc): boolean {
  const both = new Y.Doc()
  Y.applyUpdate(both, Y.encodeStateAsUpdate(board))
  Y.applyUpdate(both, Y.encodeStateAsUpdate(part))
  return sameBoard(board, both)
}

function structsMissing(of: Y.Doc, at: Y.Doc): number {
  let missing = 0
  for (const client of of.store.clients.keys()) {
    missing += Math.max(0, Y.getState(of.store, client) - Y.getState(at.store, client))
  }
  return missing
}
