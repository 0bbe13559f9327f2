/**
 * How many frames there are at all, whatever is in them (SP5): echoes, pings, presence of nobody and questions over the budget cost
 * no token, and still a microsecond or two each. A socket's whole buffer comes in one turn of the loop, tens of thousands of
 * tiny frames, so this is the first look at a frame, and reads no clock: time is a number that a timer counts up.
 *   frame ─▶ its connection's level and its address's, which drain evenly ─▶ over? the connection is closed
 */
import { type Clock, every } from '../observe/clock.ts'

/** How often levels drain, ms. */
const EPOCH_MS = 100
/**
 * A connection may be this many seconds' worth of frames ahead: what a client kept sending while its network stood still
 * comes at once, and an import that makes an update of every shape is thousands. It takes the loop some 15 ms.
 */
const BURST_SECONDS = 10
/** A frame counts once more for every 16 KiB of it: at 16 MB/s of frames that cost nothing, a flood is one of bytes. */
const BYTES_SHIFT = 14
/** All connections of an address may send as much as so many at their bound: an office, or a benchmark. */
const ADDRESS_FACTOR = 15
/** What an address over its bound leaves each of its connections, seconds' worth: who sends as people do is below it. */
const SHARE_SECONDS = 0.25

export type FloodScope = 'connection' | 'address'

/** Frames that one connection, or one address, is ahead of what it may send. */
class Level {
  value = 0
  #epoch: number

  constructor(epoch: number) {
    this.#epoch = epoch
  }
  /** Adds `count`, after what has drained since. Never above `most`: a bound that is passed is no longer passed soon after. */
  add(count: number, epoch: number, drain: number, most: number): number {
    if (epoch !== this.#epoch) {
      this.value = Math.max(0, this.value - (epoch - this.#epoch) * drain)
      this.#epoch = epoch
    }
    this.value = Math.min(most, this.value + count)
    return this.value
  }
}

/** All connections of one address group. */
class AddressLevel extends Level {
  connections = 0
}

/** One connection's count. */
export class FrameCount {
  readonly #flood: FrameFlood
  readonly #own: Level
  readonly address: AddressLevel

  constructor(flood: FrameFlood, address: AddressLevel) {
    this.#flood = flood
    this.#own = new Level(flood.epoch)
    this.address = address
  }

  /** Counts a frame of `length` bytes. What it is over, if anything: its connection is then to be closed. */
  add(length: number): FloodScope | null {
    const { epoch, drain, burst, addressDrain, addressBurst, share } = this.#flood
    const count = 1 + (length >>> BYTES_SHIFT)
    const own = this.#own.add(count, epoch, drain, 2 * burst)
    const all = this.address.add(count, epoch, addressDrain, 2 * addressBurst)
    if (own > burst) return 'connection'
    return all > addressBurst && own > share ? 'address' : null
  }
}

export class FrameFlood {
  /** Counts up every 100 ms. */
  epoch: number
  /** What drains in 100 ms, and what may be ahead, of one connection and of all of an address. */
  readonly drain: number
  readonly burst: number
  readonly share: number
  readonly addressDrain: number
  readonly addressBurst: number
  readonly #addresses = new Map<string, AddressLevel>()
  /** Addresses without a connection, kept until their level is gone: reconnecting buys nothing. */
  readonly #left = new Set<string>()
  readonly #stop: () => void

  /** `framesPerSecond`: `WS_MAX_FRAMES_PER_S`. */
  constructor(framesPerSecond: number, clock: Clock) {
    this.drain = (framesPerSecond * EPOCH_MS) / 1000
    this.burst = framesPerSecond * BURST_SECONDS
    this.share = framesPerSecond * SHARE_SECONDS
    this.addressDrain = this.drain * ADDRESS_FACTOR
    this.addressBurst = framesPerSecond * ADDRESS_FACTOR
    const now = (): number => Math.floor(clock.now() / EPOCH_MS)
    this.epoch = now()
    this.#stop = every(clock, EPOCH_MS, () => {
      this.epoch = now()
      if (this.#left.size > 0) this.#forget()
    })
  }

  /** A count for a new connection of this address group. */
  open(group: string): FrameCount {
    let address = this.#addresses.get(group)
    if (address === undefined) {
      address = new AddressLevel(this.epoch)
      this.#addresses.set(group, address)
    }
    address.connections++
    this.#left.delete(group)
    return new FrameCount(this, address)
  }
  close(group: string, { address }: FrameCount): void {
    if (--address.connections === 0) this.#left.add(group)
  }
  stop(): void {
    this.#stop()
  }

  #forget(): void {
    for (const group of this.#left) {
      const level = this.#addresses.get(group)!
      if (level.add(0, this.epoch, this.addressDrain, 2 * this.addressBurst) > 0) continue
      this.#addresses.delete(group)
      this.#left.delete(group)
    }
  }
}
