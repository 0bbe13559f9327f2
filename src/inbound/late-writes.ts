/**
 * What clients sent who were gone before they were in their rooms, while access was checked or a board was loaded. It is
 * written all the same when access is granted (SP4), and until then held here, within a bound for all of them together: such
 * a client takes no place any more that would limit its number.
 */
/** Most bytes held: thirty-two connections' whole backlogs, or a hundred thousand small edits. */
const MAX_BYTES = 33_554_432

export class LateWrites {
  #bytes = 0

  get heldBytes(): number {
    return this.#bytes
  }
  /** Whether there is room for so much more; it is then held until `release`. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_BYTES) return false
    this.#bytes += bytes
    return true
  }
  release(bytes: number): void {
    this.#bytes -= bytes
  }
}
