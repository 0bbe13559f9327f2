/** Time that stands still until a test moves it. */
import type { Clock } from '../../src/observe/clock.ts'

export class HeldClock implements Clock {
  #now = 0
  #soon: (() => void)[] = []
  #timers: { at: number; task: () => void }[] = []

  /** What passes between two looks at it, ms: work takes time. */
  perLook = 0

  #epoch = Date.UTC(2025, 0, 1)

  /** Bound: it is handed around alone. */
  readonly now = (): number => (this.#now += this.perLook)
  /** Epoch ms; goes along with the clock, and can be set apart from it. Bound too. */
  readonly wall = (): number => this.#epoch + this.#now
  setWall(ms: number): void {
    this.#epoch = ms - this.#now
  }
  soon(task: () => void): void {
    this.#soon.push(task)
  }
  after(ms: number, task: () => void): () => void {
    // As setTimeout does: a delay over 2^31 - 1 is none.
    const timer = { at: this.#now + (ms > 2 ** 31 - 1 ? 1 : ms), task }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Milliseconds until each timer that is set, ascending. */
  get timers(): number[] {
    return this.#timers.map(({ at }) => at - this.#now).sort((a, b) => a - b)
  }

  /** Lets time pass without anybody noticing yet: work that takes long. */
  spend(ms: number): void {
    this.#now += ms
  }

  /** Runs the timers whose moment has come, as a busy loop does between two turns. */
  runDue(): void {
    const due = this.#timers.filter(({ at }) => at <= this.#now)
    this.#timers = this.#timers.filter((timer) => !due.includes(timer))
    for (const { task } of due) task()
  }

  /** One turn of the loop: what asked for `soon` runs, then what it promised. */
  async turn(): Promise<void> {
    for (const task of this.#soon.splice(0)) task()
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Turns until nobody asks for another. */
  async settle(): Promise<void> {
    do await this.turn()
    while (this.#soon.length > 0)
  }

  /** Moves time on by `ms`, running every timer at its moment. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    await this.settle()
    for (;;) {
      const next = this.#timers.reduce<{ at: number; task: () => void } | undefined>(
        (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
        undefined,
      )
      if (next === undefined || next.at > until) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.task()
      await this.settle()
    }
    this.#now = Math.max(this.#now, until)
  }
}
