/**
 * Which rooms are in memory. One room a name at any time: loading is single-flight, and a room that is leaving is waited
 * for before it is made again (FR6, FR7).
 */
import type { Logger } from 'pino'
import type { LoopTime } from '../budget/loop-time.ts'
import { type MemoryFigures, noFigures } from '../budget/memory-figures.ts'
import type { Holder } from '../budget/memory-guard.ts'
import { RoomShares } from '../budget/room-shares.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Failing, Keeper } from '../keeping/keeper.ts'
import { Slices } from '../keeping/slices.ts'
import { Boundary } from '../observe/boundary.ts'
import { type Clock, every } from '../observe/clock.ts'
import { LazyLog } from '../observe/lazy-log.ts'
import { LoopUtilisation } from '../observe/loop-utilisation.ts'
import type { Metrics, RoomLimit } from '../observe/metrics.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageMetrics } from '../storage/storage-metrics.ts'
import { Gathering } from './gathering.ts'
import type { Member } from './member.ts'
import { Room, type RoomSettings } from './room.ts'
import { isIdle, longestIdle, occupiedBlank, type RoomEntry } from './room-entry.ts'
import { gridMs, Ticks } from './ticks.ts'

export interface RegistrySettings extends RoomSettings {
  /** `ROOM_IDLE_MS` */
  readonly idleMs: number
  /** `MAX_ROOMS` */
  readonly maxRooms: number
  /** `MAX_ROOMS_PER_IP` */
  readonly maxRoomsPerOwner: number
}

export interface RegistryDeps {
  readonly settings: RegistrySettings
  readonly clock: Clock
  readonly loop: LoopTime
  readonly metrics: Metrics
  readonly storageMetrics: StorageMetrics
  readonly log: Logger
  readonly storage: Storage
  readonly cluster: Cluster
  /** How much of its time the loop has worked so far, and not; the process's own unless a test hands in another. */
  readonly utilisation?: ConstructorParameters<typeof LoopUtilisation>[2]
}

/** There are `MAX_ROOMS` rooms already, or the owner has its share of them. */
export class RoomsFullError extends Error {
  override readonly name = 'RoomsFullError'
  constructor(readonly reason: CloseReason) {
    super(reason.text)
  }
}

/** A room that has not applied all it received is looked at again after this long, ms. */
const RETRY_LEAVING_MS = 20
const SWEEP_MS = 1_000
/** What a room takes in memory beside what is in it. */
const ROOM_BYTES = 8_192

export class RoomRegistry {
  readonly #deps: RegistryDeps
  readonly #errors: Boundary
  readonly #slices: Slices
  readonly #ticks: Ticks
  readonly #gathering = new Gathering()
  readonly #utilisation: LoopUtilisation
  readonly #rooms = new Map<string, RoomEntry>()
  readonly #shares: RoomShares
  readonly #stopSweep: () => void

  constructor(deps: RegistryDeps) {
    this.#deps = deps
    this.#shares = new RoomShares(deps.settings.maxRoomsPerOwner)
    this.#errors = new Boundary(deps.metrics, deps.log)
    this.#slices = new Slices(deps.loop)
    this.#ticks = new Ticks(deps.clock, gridMs(deps.settings.flushIntervalMs), (error) =>
      this.#errors.caught('room', error),
    )
    this.#utilisation = new LoopUtilisation(
      deps.clock,
      (utilisation, ms) => this.#gathering.look(utilisation, ms),
      deps.utilisation,
    )
    this.#stopSweep = every(deps.clock, SWEEP_MS, () => {
      for (const { room } of this.#rooms.values()) {
        try {
          room.sweep()
        } catch (error) {
          this.#errors.caught('room', error)
        }
      }
    })
  }

  /** How much of its time the loop worked lately, 0 to 1. */
  get loopUtilisation(): number {
    return this.#utilisation.value
  }
  get size(): number {
    return this.#rooms.size
  }
  *rooms(): Generator<Room> {
    for (const { room } of this.#rooms.values()) yield room
  }
  get(name: string): Room | undefined {
    return this.#rooms.get(name)?.room
  }
  /** Adds what is held for all rooms to `into`. */
  tally(into: MemoryFigures): void {
    for (const { room, keeper } of this.#rooms.values()) {
      room.tally(into)
      into.unsaved += keeper.unsavedBytes
    }
  }
  /** Rooms as holders of memory: those nobody is in or waits for, or all. */
  holders(onlyIdle: boolean): Holder[] {
    const holders: Holder[] = []
    const figures = noFigures()
    for (const [name, entry] of this.#rooms) {
      if (entry.leaving !== null || (onlyIdle && !isIdle(entry))) continue
      const { room } = entry
      holders.push({
        bytes: room.tally(figures) + ROOM_BYTES,
        owner: entry.owner,
        describe: () => ({ room: name, members: room.members.size }),
        shed: () => this.#shed(name, entry),
      })
    }
    return holders
  }
  /** Closes a room's members and takes it out of memory, as soon as it is saved. */
  #shed(name: string, entry: RoomEntry): void {
    for (const member of [...entry.room.members]) {
      entry.room.giveUpWaiting(member)
      member.outbox.end(CLOSE.memoryShort)
    }
    entry.cancelIdle?.()
    entry.cancelIdle = null
    this.#errors.background(this.#leaveMemory(name, entry))
  }

  /** The first room whose board cannot be saved, for the readiness page. */
  get failing(): Failing | null {
    for (const { keeper } of this.#rooms.values()) if (keeper.failing !== null) return keeper.failing
    return null
  }

  /**
   * Brings a room into memory and `member` into it, in the same turn, so that the room cannot leave in between. `makeMember`
   * is called when the board is loaded; it may give null when the session has gone meanwhile. Rejects with
   * `RoomsFullError`, or with the storage's error when the board could not be loaded. `owner`: who counts as the one that
   * brought it in.
   */
  async join(name: string, makeMember: (room: Room) => Member | null, owner: string | null = null): Promise<void> {
    for (;;) {
      const entry = await this.#enter(name, owner)
      try {
        await entry.loaded
        while (entry.room.rebuilding !== null) await entry.room.rebuilding
        if (entry.leaving !== null) continue
        const member = makeMember(entry.room)
        if (member !== null) entry.room.join(member)
        return
      } finally {
        entry.expected--
        this.#leaveWhenIdle(name, entry)
      }
    }
  }

  /**
   * Deletes a board for good: its members are closed with 4410, its authors remembered. How many members there were; null
   * when there is no such board. Rejects when the store cannot do it: the board is then as it was.
   */
  async delete(name: string): Promise<number | null> {
    const entry = await this.#enter(name, null)
    const { room } = entry
    try {
      await entry.loaded
      while (room.rebuilding !== null) await room.rebuilding
      if (entry.leaving !== null) throw new Error('the room is leaving memory, try again')
      if (room.doc.store.clients.size === 0) return null
    } finally {
      entry.expected--
      this.#leaveWhenIdle(name, entry)
    }
    const members = [...room.members]
    const done = this.#bury(name, entry)
    // Joins wait, whatever comes of it.
    entry.leaving = done.catch(() => {})
    try {
      await done
      for (const { outbox } of members) outbox.end(CLOSE.boardDeleted)
    } catch (error) {
      // They come back to a board that is still there, and bring what was not saved meanwhile.
      for (const { outbox } of members) outbox.end(CLOSE.loadFailed)
      throw error
    }
    return members.length
  }

  async #bury(name: string, entry: RoomEntry): Promise<void> {
    const { room, keeper } = entry
    try {
      keeper.abandon()
      await this.#deps.storage.delete(name, [...room.doc.store.clients.keys()])
    } finally {
      this.#forget(name, entry)
      room.destroy()
    }
  }

  /** The room's entry, expecting one more. */
  async #enter(name: string, owner: string | null): Promise<RoomEntry> {
    let entry = this.#rooms.get(name)
    while (entry === undefined || entry.leaving !== null) {
      if (entry !== undefined) await entry.leaving
      else if (this.#hasPlaceFor(owner) || (await this.#makePlaceFor(name))) this.#open(name, owner)
      entry = this.#rooms.get(name)
    }
    entry.expected++
    entry.cancelIdle?.()
    entry.cancelIdle = null
    return entry
  }

  /** A member leaves; the last one starts the room's idle time. */
  leave(room: Room, member: Member): void {
    room.leave(member)
    const entry = this.#rooms.get(room.name)
    if (entry?.room === room) this.#leaveWhenIdle(room.name, entry)
  }

  /** Everything received is in its document. */
  get isSettled(): boolean {
    for (const { room } of this.#rooms.values()) if (!room.isSettled) return false
    return true
  }
  /** Resolves when every board is saved. */
  async saved(): Promise<void> {
    await Promise.all([...this.#rooms.values()].map(({ keeper }) => keeper.saved()))
  }

  /** Throws every room out of memory. What is not saved by now is given up. */
  close(): void {
    this.#stopSweep()
    this.#utilisation.stop()
    this.#ticks.stop()
    this.#slices.stop()
    for (const { room, keeper, cancelIdle } of this.#rooms.values()) {
      cancelIdle?.()
      keeper.abandon()
      room.destroy()
    }
    this.#rooms.clear()
  }

  /** Whether there is a place, after letting go of a room that nobody is in. Throws when the owner has its share. */
  #hasPlaceFor(owner: string | null): boolean {
    const { maxRooms } = this.#deps.settings
    if (this.#shares.isUsedUp(owner) && !this.#letIdleGo('share', owner)) {
      this.#deps.metrics.roomsRefused.add('share')
      throw new RoomsFullError(CLOSE.tooManyRooms)
    }
    return this.#shares.total < maxRooms || this.#letIdleGo('full', null)
  }
  /** False: there is none that could go. */
  #letIdleGo(limit: RoomLimit, owner: string | null): boolean {
    const entry = longestIdle(this.#rooms.values(), owner)
    if (entry === null) return false
    this.#deps.metrics.roomsMadeWay.add(limit)
    this.#leaveNow(entry.room.name, entry)
    return true
  }
  #leaveNow(name: string, entry: RoomEntry): void {
    entry.cancelIdle?.()
    entry.cancelIdle = null
    this.#uncount(entry)
    entry.leaving = entry.keeper.close().then(() => {
      this.#forget(name, entry)
      entry.room.destroy()
    })
    this.#errors.background(entry.leaving)
  }
  /**
   * All rooms are occupied. A stored board comes in all the same while there is a room that stores nothing: of whoever has most
   * rooms one makes way. False: it is there now; rejects with `RoomsFullError` when there is none, or nothing is stored.
   */
  async #makePlaceFor(name: string): Promise<boolean> {
    const found = occupiedBlank(this.#rooms.values(), this.#shares)
    if (found !== null && (await this.#isStored(name))) {
      if (this.#rooms.has(name)) return false
      if (this.#shares.total < this.#deps.settings.maxRooms) return true
      const still = occupiedBlank(this.#rooms.values(), this.#shares)
      if (still !== null) {
        this.#deps.metrics.roomsMadeWay.add('full')
        this.#uncount(still)
        for (const { outbox } of [...still.room.members]) outbox.end(CLOSE.tooManyRooms)
        this.#discard(still.room.name, still)
        return true
      }
    }
    this.#deps.metrics.roomsRefused.add('full')
    throw new RoomsFullError(CLOSE.serverFull)
  }
  async #isStored(name: string): Promise<boolean> {
    for await (const _ of this.#deps.storage.load(name)) return true
    return false
  }

  #uncount(entry: RoomEntry): void {
    if (entry.counts) this.#shares.remove(entry.owner)
    entry.counts = false
  }
  #forget(name: string, entry: RoomEntry): void {
    this.#uncount(entry)
    if (this.#rooms.get(name) === entry) this.#rooms.delete(name)
  }

  #open(name: string, owner: string | null): void {
    const log = new LazyLog(this.#deps.log, { room: name })
    const room = new Room(name, {
      ...this.#deps,
      ticks: this.#ticks,
      gatherer: this.#gathering.room(),
      log,
      keep: (update) => keeper.append(update),
      reload: (salvage) => keeper.reload(salvage),
      givenUp: () => this.#discard(name, entry),
    })
    const keeper = new Keeper(name, this.#deps.storage, room.keeperHost(), {
      clock: this.#deps.clock,
      log,
      metrics: this.#deps.storageMetrics,
      slices: this.#slices,
      errors: this.#errors,
    })
    const loaded = Promise.all([this.#deps.storage.buried(name), keeper.load()])
      .then(([authors]) => {
        room.bury(authors)
        room.loaded()
      })
      .catch((error: unknown) => {
        // Everybody who waits is refused; the next join tries again.
        this.#forget(name, entry)
        room.destroy()
        throw error
      })
    const entry: RoomEntry = {
      owner,
      counts: true,
      idleSince: this.#deps.clock.now(),
      room,
      keeper,
      loaded,
      leaving: null,
      expected: 0,
      cancelIdle: null,
    }
    this.#rooms.set(name, entry)
    this.#shares.add(owner)
  }

  #leaveWhenIdle(name: string, entry: RoomEntry, ms = this.#deps.settings.idleMs): void {
    if (!isIdle(entry) || entry.cancelIdle !== null || this.#rooms.get(name) !== entry) return
    entry.idleSince = this.#deps.clock.now()
    entry.cancelIdle = this.#deps.clock.after(ms, () => {
      entry.cancelIdle = null
      this.#errors.background(this.#leaveMemory(name, entry))
    })
  }

  /** Asked again after everything that was waited for: meanwhile the room may have been joined, left again or deleted. */
  #mayLeave(name: string, entry: RoomEntry): boolean {
    const isUntouched = entry.leaving === null && entry.cancelIdle === null
    return isUntouched && isIdle(entry) && this.#rooms.get(name) === entry
  }

  async #leaveMemory(name: string, entry: RoomEntry): Promise<void> {
    const { room, keeper } = entry
    if (!this.#mayLeave(name, entry)) return
    // Slow work first, while the room can still be joined.
    await keeper.tidy()
    if (!this.#mayLeave(name, entry)) return
    if (!room.isSettled) return this.#leaveWhenIdle(name, entry, RETRY_LEAVING_MS)
    if (keeper.unsavedBytes > 0) return this.#leaveWhenSaved(name, entry)
    entry.leaving = keeper.close().then(() => {
      this.#forget(name, entry)
      room.destroy()
    })
    await entry.leaving
  }

  /** A room that cannot be kept leaves memory as soon as what was told is stored; joins wait for that, and start anew. */
  #discard(name: string, entry: RoomEntry): void {
    entry.cancelIdle?.()
    entry.cancelIdle = null
    entry.leaving = entry.keeper.retire().then(() => {
      this.#forget(name, entry)
      entry.room.destroy()
    })
    this.#errors.background(entry.leaving)
  }

  /** Not by `close`, which joins would have to wait for: a full disk may keep it waiting for ever. */
  #leaveWhenSaved(name: string, entry: RoomEntry): void {
    let isCancelled = false
    entry.cancelIdle = () => {
      isCancelled = true
    }
    const saved = entry.keeper.saved().then(() => {
      if (isCancelled) return
      entry.cancelIdle = null
      this.#leaveWhenIdle(name, entry, 0)
    })
    this.#errors.background(saved)
  }
}
