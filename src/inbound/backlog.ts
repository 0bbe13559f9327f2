/**
 * Frames that came before their session was in its room, in order, within a bound (FR6). What does not fit is dropped and
 * has to be asked for again; a SyncStep1 is never among it, since nobody would ask for that one.
 */
import { decodeFrame } from '../protocol/frames.ts'

/** Most bytes kept for one connection. */
const MAX_BYTES = 1_048_576
/** What a kept frame costs beside its bytes. */
const FRAME_OVERHEAD = 128

/** Whether a frame brings something into the document: an Update or a SyncStep2. */
const isWrite = (bytes: Uint8Array): boolean => bytes[0] === 0 && (bytes[1] === 1 || bytes[1] === 2)

export class Backlog {
  #frames: Uint8Array[] = []
  #bytes = 0
  #question: Uint8Array | null = null
  /** Whether anything was dropped. */
  overflowed = false
  /** Whether there is something for the document among it. */
  hasWrites = false

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes + (this.#question?.length ?? 0)
  }

  keep(bytes: Uint8Array): void {
    if (this.#bytes + bytes.length + FRAME_OVERHEAD <= MAX_BYTES) {
      this.#bytes += bytes.length + FRAME_OVERHEAD
      this.#frames.push(bytes.slice())
      if (isWrite(bytes)) this.hasWrites = true
    } else if (bytes.length <= 65_536 && decodeFrame(bytes).kind === 'step1') this.#question = bytes.slice()
    else this.overflowed = true
  }

  /** The next frame, or null. */
  take(): Uint8Array | null {
    const next = this.#frames.shift()
    if (next !== undefined) return next
    const question = this.#question
    this.#question = null
    return question
  }
}
