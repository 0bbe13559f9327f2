/**
 * Who is gone while its access was being checked or its board loaded: until that is over it is held all the same, with what its
 * upgrade said and what it had sent. It counts with its address as if it were still there, or reconnecting would hold any
 * number of them for as long as a key server or a disk is slow.
 */
export class Absent {
  #total = 0
  readonly #byGroup = new Map<string, number>()

  get total(): number {
    return this.#total
  }
  /** How many of an address group's. */
  of(group: string): number {
    return this.#byGroup.get(group) ?? 0
  }
  add(group: string): void {
    this.#total++
    this.#byGroup.set(group, this.of(group) + 1)
  }
  remove(group: string): void {
    this.#total--
    const left = this.of(group) - 1
    if (left === 0) this.#byGroup.delete(group)
    else this.#byGroup.set(group, left)
  }
}
