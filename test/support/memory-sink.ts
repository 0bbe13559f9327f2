import type { FrameSink } from '../../src/outbound/frame-sink.ts'
import type { CloseReason } from '../../src/protocol/close-reasons.ts'
import { webSocketHeaderBytes } from '../../src/protocol/frames.ts'

/**
 * A socket in memory that a test holds still. Open, everything passes at once; stalled, `windowBytes` more pass (the
 * kernel's buffers) and the rest stays until the test lets bytes through.
 */
export class MemorySink implements FrameSink {
  readonly #deliver: (frame: Uint8Array) => void
  #waiting: { readonly frame: Uint8Array; left: number }[] = []
  #window = Number.POSITIVE_INFINITY
  #refuseNext = false
  isOpen = true
  closedWith: CloseReason | 'cut' | null = null
  /** The most that was ever held. */
  peakBytes = 0
  pings = 0
  onClosed: (code: number) => void = () => {}
  onDrain: () => void = () => {}

  constructor(deliver: (frame: Uint8Array) => void) {
    this.#deliver = deliver
  }

  get bufferedBytes(): number {
    return this.#waiting.reduce((sum, { left }) => sum + left, 0)
  }
  write(frame: Uint8Array): 'sent' | 'buffered' | 'refused' {
    if (!this.isOpen) return 'refused'
    if (this.#refuseNext) {
      this.#refuseNext = false
      return 'refused'
    }
    this.#waiting.push({ frame: frame.slice(), left: frame.length + webSocketHeaderBytes(frame.length) })
    this.#pass()
    const buffered = this.bufferedBytes
    this.peakBytes = Math.max(this.peakBytes, buffered)
    return buffered === 0 ? 'sent' : 'buffered'
  }
  writeBoth(first: Uint8Array, second: Uint8Array): 0 | 1 | 2 {
    if (this.write(first) === 'refused') return 0
    return this.write(second) === 'refused' ? 1 : 2
  }
  ping(): void {
    this.pings++
  }
  close(reason: CloseReason): void {
    if (!this.isOpen) return
    this.letThrough(Number.POSITIVE_INFINITY)
    this.#end(reason, reason.code)
  }
  cut(): void {
    if (this.isOpen) this.#end('cut', 1006)
  }

  /** From now on only `bytes` more pass. */
  stall(bytes = 0): void {
    this.#window = bytes
  }
  /** Lets bytes through to the client; everything and from now on when infinite. Tells the server like a drain event. */
  letThrough(bytes: number): void {
    const before = this.bufferedBytes
    this.#window = Number.isFinite(bytes) ? this.#window + bytes : Number.POSITIVE_INFINITY
    this.#pass()
    if (this.bufferedBytes < before && this.isOpen) this.onDrain()
  }
  /** The next write is refused, as by a socket over its backstop. */
  refuseNext(): void {
    this.#refuseNext = true
  }
  /** The connection breaks: what is on the way is lost. */
  break(): void {
    if (this.isOpen) this.#end('cut', 1006)
  }

  #end(how: CloseReason | 'cut', code: number): void {
    this.isOpen = false
    this.closedWith = how
    this.#waiting = []
    this.onClosed(code)
  }
  #pass(): void {
    while (this.#waiting.length > 0 && this.#window > 0) {
      const first = this.#waiting[0]!
      const passed = Math.min(first.left, this.#window)
      first.left -= passed
      this.#window -= passed
      if (first.left > 0) return
      this.#waiting.shift()
      this.#deliver(first.frame)
    }
  }
}
