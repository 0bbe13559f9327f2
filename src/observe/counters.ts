/** The three shapes a figure on /metrics has. Plain fields: adding to one is an addition and nothing else. */

export class Counter {
  value = 0
  add(amount = 1): void {
    this.value += amount
  }
}

/** One counter per label value. The values are a closed set, named when it is made: a label never holds input (OP2). */
export class LabelledCounter<Label extends string> {
  readonly values: Record<Label, number>
  constructor(labels: readonly Label[]) {
    const values = {} as Record<Label, number>
    for (const label of labels) values[label] = 0
    this.values = values
  }
  add(label: Label, amount = 1): void {
    this.values[label] += amount
  }
}

export class Histogram {
  /** Observations per bucket, not accumulated; the last is everything above the largest bound. */
  readonly counts: number[]
  sum = 0
  /** `bounds`: upper bounds, inclusive, ascending. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }
  observe(value: number): void {
    let i = 0
    while (i < this.bounds.length && value > this.bounds[i]!) i++
    this.counts[i]!++
    this.sum += value
  }
  get count(): number {
    return this.counts.reduce((total, n) => total + n, 0)
  }
}

/** The largest value of the last minute, in six slots of ten seconds, so that a peak leaves the gauge again. */
export class RecentMax {
  readonly #slots = new Array<number>(6).fill(0)
  #slot = 0
  note(value: number, nowMs: number): void {
    this.#advance(nowMs)
    if (value > this.#slots[this.#slot % 6]!) this.#slots[this.#slot % 6] = value
  }
  get(nowMs: number): number {
    this.#advance(nowMs)
    return Math.max(...this.#slots)
  }
  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / 10_000)
    for (let i = Math.max(this.#slot + 1, slot - 5); i <= slot; i++) this.#slots[i % 6] = 0
    if (slot > this.#slot) this.#slot = slot
  }
}
