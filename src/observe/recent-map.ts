/**
 * A map that remembers the newest entries only: setting a key makes it the newest, and over `max` the oldest is forgotten. For
 * what is remembered about clients that are gone, which must not grow with their number.
 */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#max) {
      const [oldest] = this.keys()
      this.delete(oldest as K)
    }
    return this
  }
}
