/**
 * How long rooms gather edits before they send them (FR8): not at all while the loop has time to spare. When it is busy, as long
 * as it takes to bring it back to `TARGET`, and those rooms longest that give it most to do: two people beside a hall go on
 * seeing each other at once.
 *   utilisation of the loop, every look ─▶ pressure 0 … 1 ─▶ a room's spacing, by what it delivers
 */

/** Of the loop's time that is worked: above, gathering begins and grows. */
export const TARGET = 0.5
/** How much of what is beyond the target, or below it, is added to the pressure at each look: up in two, down in about five. */
const RISE = 1
const FALL = 0.6
/** With it 99 of 100 deliveries of a busy server take under 60 ms, half of them under 30. */
export const MAX_SPACING_MS = 48
/** A room with so many times the deliveries of the average gathers so many times as long, and not longer. */
const MAX_WEIGHT = 4
/** Less is not worth a timer: such a room sends at once. */
const LEAST_MS = 4
/**
 * Deliveries a second of one room from which it gathers whatever else, and how many of them make a millisecond of it, up to the
 * last: at 12 500 a second for 8 ms, in a hall of 200 for 24. What a delivery costs is the system call: in a class of 50 gathering
 * so much makes it a third, in the hall a tenth, and nobody sees the difference.
 */
const LARGE_PER_S = 6_000
const PER_MS = 1_500
const MOST_LARGE_MS = 24
/** How fast a room's rate follows. */
const RATE_WEIGHT = 0.5

export class Gathering {
  /** 0: nobody gathers for the loop's sake; 1: the largest rooms gather as long as they may. */
  pressure = 0
  readonly #active = new Set<Gatherer>()
  /** Deliveries a second of a room that has any, on average. */
  #average = 0

  /** A look at the loop: how much of its time since the last one was worked, 0 to 1. `ms`: since the last look. */
  look(utilisation: number, ms: number): void {
    const beyond = utilisation - TARGET
    this.pressure = Math.max(0, Math.min(1, this.pressure + beyond * (beyond > 0 ? RISE : FALL)))
    let total = 0
    for (const room of this.#active) {
      if (room.look(ms) > 0) total += room.rate
      else this.#active.delete(room)
    }
    this.#average = this.#active.size === 0 ? 0 : total / this.#active.size
  }

  /** For one room; nothing has to be given back. */
  room(): Gatherer {
    return new Gatherer(this, (gatherer) => this.#active.add(gatherer))
  }

  /** How long a room of `rate` deliveries a second gathers, ms; 0: not at all. */
  spacingFor(rate: number): number {
    const weight = this.#average === 0 ? 0 : Math.min(MAX_WEIGHT, rate / this.#average)
    const large = rate < LARGE_PER_S ? 0 : Math.min(rate / PER_MS, MOST_LARGE_MS)
    const ms = Math.max(this.pressure * weight * MAX_SPACING_MS, large)
    return ms < LEAST_MS ? 0 : Math.min(ms, MAX_SPACING_MS)
  }
}

/** One room's part in it. */
export class Gatherer {
  /** Deliveries a second, lately. */
  rate = 0
  readonly #gathering: Gathering
  readonly #woken: (gatherer: Gatherer) => void
  #count = 0
  #isActive = false

  constructor(gathering: Gathering, woken: (gatherer: Gatherer) => void) {
    this.#gathering = gathering
    this.#woken = woken
  }

  /** Update frames that were handed to members; gathered, they count as the updates that are in them. */
  delivered(count: number): void {
    this.#count += count
    if (this.#isActive) return
    this.#isActive = true
    this.#woken(this)
  }
  /** How long this room gathers now, ms; 0: what comes leaves in the turn it came in. */
  get spacingMs(): number {
    return this.rate === 0 ? 0 : this.#gathering.spacingFor(this.rate)
  }
  get pressure(): number {
    return this.#gathering.pressure
  }

  /** Its rate now; 0: nothing happens in it any more. */
  look(ms: number): number {
    this.rate += ((this.#count * 1000) / ms - this.rate) * RATE_WEIGHT
    this.#count = 0
    if (this.rate < 1) {
      this.rate = 0
      this.#isActive = false
    }
    return this.rate
  }
}
