/** How much of its time the event loop works: what is not spent waiting for sockets and timers. */
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { type Clock, every } from './clock.ts'

/** How often it is looked at, ms: twice this is how soon a change is seen. */
export const LOOK_MS = 100

export class LoopUtilisation {
  /** Over the last two looks, 0 to 1. */
  value = 0
  readonly #stop: () => void
  #before: EventLoopUtilization | null = null
  #last: EventLoopUtilization | null = null

  /** `looked` is called at every look, with what passed since the last one, ms. `read`: for tests. */
  constructor(
    clock: Clock,
    looked: (utilisation: number, ms: number) => void,
    read: () => EventLoopUtilization = () => performance.eventLoopUtilization(),
  ) {
    let at = clock.now()
    this.#stop = every(clock, LOOK_MS, () => {
      const now = read()
      if (this.#before !== null) {
        const active = now.active - this.#before.active
        const whole = active + now.idle - this.#before.idle
        this.value = whole > 0 ? active / whole : 0
      }
      this.#before = this.#last ?? now
      this.#last = now
      const ms = Math.max(1, clock.now() - at)
      at += ms
      looked(this.value, ms)
    })
  }

  stop(): void {
    this.#stop()
  }
}
