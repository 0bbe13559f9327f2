import type { MessageType } from '../observe/metrics.ts'

interface Accepted {
  /** Bytes accepted by the socket up to and with this frame. */
  readonly end: number
  readonly type: MessageType
  readonly at: number
}

/**
 * Frames a socket has accepted and the kernel has not taken yet. A frame is *sent* when the bytes accepted minus the bytes
 * still buffered have passed its end (FC9), not when it was written. Pings share the socket's buffer without being counted
 * here, which can only make a frame count later, never too early.
 */
export class Flight {
  /** Null while nothing is in flight, as it is for nearly every client at nearly every time. */
  #frames: Accepted[] | null = null
  #head = 0
  #accepted = 0

  get isEmpty(): boolean {
    return this.#frames === null
  }
  /** When the oldest frame still in flight was accepted, or null. */
  get oldestAt(): number | null {
    return this.#frames?.[this.#head]?.at ?? null
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
    this.#frames ??= []
    this.#frames.push({ end: this.#accepted, type, at: now })
  }
  /** Tells of every frame that has left, given what the socket still holds. Returns the bytes that have left in all. */
  settle(bufferedBytes: number, sent: (type: MessageType) => void): number {
    const passed = this.#accepted - bufferedBytes
    const frames = this.#frames ?? []
    while (this.#head < frames.length && frames[this.#head]!.end <= passed) sent(frames[this.#head++]!.type)
    if (this.#head === frames.length) this.#forget()
    else if (this.#head > 256) {
      frames.splice(0, this.#head)
      this.#head = 0
    }
    return passed
  }
  /** Empties the flight because the socket is gone; tells of every frame that never left. */
  abandon(lost: (type: MessageType) => void): void {
    for (const { type } of this.#frames?.slice(this.#head) ?? []) lost(type)
    this.#forget()
  }

  #forget(): void {
    this.#head = 0
    this.#frames = null
  }
}
