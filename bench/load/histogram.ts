/** Counts of durations, exact to 1.6 %, from 10 µs up to hours. */
const UNITS_PER_MS = 100
const BUCKETS = 26 * 64

export class Histogram {
  readonly #counts = new Float64Array(BUCKETS)
  #total = 0
  #max = 0

  add(ms: number): void {
    const units = ms <= 0 ? 0 : Math.min(ms * UNITS_PER_MS, 0x7fff_ffff) | 0
    const leading = Math.clz32(units)
    const shift = leading < 25 ? 25 - leading : 0
    const bucket = shift * 64 + (units >> shift)
    this.#counts[bucket] = this.#counts[bucket]! + 1
    this.#total++
    if (ms > this.#max) this.#max = ms
  }
  clear(): void {
    this.#counts.fill(0)
    this.#total = 0
    this.#max = 0
  }
  get total(): number {
    return this.#total
  }
  get max(): number {
    return this.#max
  }
  /** The value that this share (0 … 1) of all does not exceed, ms; NaN when there is none. */
  quantile(share: number): number {
    if (this.#total === 0) return Number.NaN
    let left = Math.max(1, Math.ceil(share * this.#total))
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]!
      if (left <= 0) return middle(bucket)
    }
    return this.#max
  }
  /** This and `others` together. */
  with(...others: Histogram[]): Histogram {
    const sum = new Histogram()
    for (const part of [this, ...others]) {
      for (let bucket = 0; bucket < BUCKETS; bucket++) sum.#counts[bucket]! += part.#counts[bucket]!
      sum.#total += part.#total
      sum.#max = Math.max(sum.#max, part.#max)
    }
    return sum
  }
}

function middle(bucket: number): number {
  if (bucket < 128) return (bucket + 0.5) / UNITS_PER_MS
  const shift = Math.floor(bucket / 64) - 1
  return ((bucket - shift * 64 + 0.5) * 2 ** shift) / UNITS_PER_MS
}
