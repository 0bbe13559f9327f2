import type { MessageType } from '../observe/metrics.ts'

/**
 * Frames a socket has accepted and the kernel has not taken yet. A frame is *sent* when the bytes accepted minus the bytes
 * still buffered have passed its end (FC9), not when it was written. Pings share the socket's buffer without being counted
 * here, which can only make a frame count later, never too early.
 */
export class Flight {
  readonly #ends: number[] = []
  readonly #types: MessageType[] = []
  readonly #times: number[] = []
  #head = 0
  #accepted = 0

  get isEmpty(): boolean {
    return this.#head === this.#ends.length
  }
  /** When the oldest frame still in flight was accepted, or null. */
  get oldestAt(): number | null {
    return this.#times[this.#head] ?? null
  }
  /** Bytes handed to the socket so far: the offset at which the next frame will start. */
  get accepted(): number {
    return this.#accepted
  }

  /** `bytes` went straight through: the socket held nothing before or after. */
  passedAtOnce(bytes: number): void {
    this.#accepted += bytes
  }
  accept(bytes: number, type: MessageType, now: number): void {
    this.#accepted += bytes
    this.#ends.push(this.#accepted)
    this.#types.push(type)
    this.#times.push(now)
  }
  /** Tells of every frame that has left, given what the socket still holds. Returns the bytes that have left in all. */
  settle(bufferedBytes: number, sent: (type: MessageType) => void): number {
    const passed = this.#accepted - bufferedBytes
    while (this.#head < this.#ends.length && this.#ends[this.#head]! <= passed) sent(this.#types[this.#head++]!)
    if (this.#head === this.#ends.length) this.#forget()
    else if (this.#head > 256) this.#compact()
    return passed
  }
  /** Empties the flight because the socket is gone; tells of every frame that never left. */
  abandon(lost: (type: MessageType) => void): void {
    for (let i = this.#head; i < this.#types.length; i++) lost(this.#types[i]!)
    this.#forget()
  }

  #forget(): void {
    this.#head = 0
    this.#ends.length = this.#types.length = this.#times.length = 0
  }
  #compact(): void {
    this.#ends.splice(0, this.#head)
    this.#types.splice(0, this.#head)
    this.#times.splice(0, this.#head)
    this.#head = 0
  }
}
