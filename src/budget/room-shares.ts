/**
 * Whose the rooms in memory are: of whoever brought them in, a token's subject or else an address. One owner can hold only its
 * share of `MAX_ROOMS`, so that nobody who makes up names keeps others out.
 */
export class RoomShares {
  readonly #most: number
  readonly #rooms = new Map<string, number>()
  #total = 0

  /** `most`: rooms of one owner, `MAX_ROOMS_PER_IP`. */
  constructor(most: number) {
    this.#most = most
  }

  /** Rooms of all owners. */
  get total(): number {
    return this.#total
  }
  of(owner: string): number {
    return this.#rooms.get(owner) ?? 0
  }
  /** Whether an owner has its share. Rooms that the server brings in itself, for an export, are nobody's: null. */
  isUsedUp(owner: string | null): boolean {
    return owner !== null && this.of(owner) >= this.#most
  }
  add(owner: string | null): void {
    this.#total++
    if (owner !== null) this.#rooms.set(owner, this.of(owner) + 1)
  }
  remove(owner: string | null): void {
    this.#total--
    if (owner === null) return
    const left = this.of(owner) - 1
    if (left === 0) this.#rooms.delete(owner)
    else this.#rooms.set(owner, left)
  }
}
