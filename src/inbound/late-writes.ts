/**
 * What clients sent who were gone before they were in their rooms, while access was checked or a board was loaded. It is
 * written all the same when access is granted (SP4), and until then held here, within a bound for all of them together: such
 * a client takes no place any more that would limit its number.
 */

/** Most bytes held: thirty-two connections' whole backlogs, or a hundred thousand small edits. */
const MAX_BYTES = 33_554_432
/** Most of them for one address: a whole office's, and not everybody's. */
const MAX_GROUP_BYTES = 8_388_608

export class LateWrites {
  #bytes = 0
  readonly #byGroup = new Map<string, number>()

  get heldBytes(): number {
    return this.#bytes
  }
  /** Whether there is room for so much more of this address group; it is then held until `release`. */
  hold(group: string, bytes: number): boolean {
    const held = this.#byGroup.get(group) ?? 0
    if (this.#bytes + bytes > MAX_BYTES || held + bytes > MAX_GROUP_BYTES) return false
    this.#bytes += bytes
    this.#byGroup.set(group, held + bytes)
    return true
  }
  release(group: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#byGroup.get(group) ?? 0) - bytes
    if (left > 0) this.#byGroup.set(group, left)
    else this.#byGroup.delete(group)
  }
}
