/**
 * Sockets that are over for us and not for the system: a WebSocket that was ended with a close frame keeps its TCP connection,
 * and its descriptor, until the peer closes too or the socket library loses patience. Nobody tells when that happens.
 */
import type { Clock } from '../observe/clock.ts'

/**
 * How long such a socket lives at most, ms: uWS ends it after 16 s where the idle timeout is 32 s or more, in ticks of 4 s
 * (measured: 15–20 s).
 */
const LINGER_MS = 20_000
interface Ended {
  readonly group: string
  readonly until: number
}

/**
 * Counts them, in all and by who they belong to. Each counts for as long as it may live, which is far longer than most do; where
 * the system can tell how many descriptors are in use, `actual` says what there can be at most.
 */
export class Lingering {
  readonly #clock: Pick<Clock, 'now'>
  readonly #forMs: number
  readonly #perGroup = new Map<string, number>()
  #ended: Ended[] = []
  #head = 0
  /** Sockets that are connected although none of ours is at their end; null where nobody knows. Set by who counts them. */
  actual: () => number | null = () => null

  constructor(clock: Pick<Clock, 'now'>, forMs = LINGER_MS) {
    this.#clock = clock
    this.#forMs = forMs
  }

  /** Those that may be connected still. */
  get total(): number {
    this.#forget()
    const most = this.#ended.length - this.#head
    return most === 0 ? 0 : Math.min(most, this.actual() ?? most)
  }
  /** How many of a group's are beyond `allowed`. */
  beyond(group: string, allowed: number): number {
    this.#forget()
    const most = this.#perGroup.get(group) ?? 0
    return most <= allowed ? 0 : Math.max(0, Math.min(most, this.actual() ?? most) - allowed)
  }
  add(group: string): void {
    this.#ended.push({ group, until: this.#clock.now() + this.#forMs })
    this.#perGroup.set(group, (this.#perGroup.get(group) ?? 0) + 1)
  }

  #forget(): void {
    const now = this.#clock.now()
    for (let next = this.#ended[this.#head]; next !== undefined && next.until <= now; next = this.#ended[this.#head]) {
      this.#head++
      const left = this.#perGroup.get(next.group)! - 1
      if (left === 0) this.#perGroup.delete(next.group)
      else this.#perGroup.set(next.group, left)
    }
    if (this.#head < 1024 || this.#head * 2 < this.#ended.length) return
    this.#ended = this.#ended.slice(this.#head)
    this.#head = 0
  }
}
