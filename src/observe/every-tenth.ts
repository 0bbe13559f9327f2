/**
 * Repeating conditions are logged every tenth time: a line for each turns one misbehaving client into a disk problem. One
 * object a kind of condition, shared by all clients.
 */
export class EveryTenth {
  #count = 0

  /** Whether this time is one to log: the 1st, the 11th, … */
  due(): boolean {
    return this.#count++ % 10 === 0
  }
  get count(): number {
    return this.#count
  }
}
