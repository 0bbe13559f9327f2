/**
 * Where log lines go: a standard output that may be full, closed, or read by nobody. Writing to it never throws and never waits: what
 * cannot be written is kept up to a bound, and beyond it dropped and counted.
 *   line ──▶ written at once ── not now? ──▶ queue ──▶ written when there is room ── full? ──▶ dropped
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

/** Bytes that wait for a reader: some 5 000 lines. */
const MAX_WAITING_BYTES = 1 << 20
/** How soon an output that had no room is tried again, ms. */
const RETRY_MS = 50

/** Takes bytes. How many were taken; 0: none now. Throws for what is no matter of time: a full disk, a reader that is gone. */
type Write = (bytes: Uint8Array) => number

export class LogOutput {
  /** Lines that nobody will see. */
  dropped = 0
  readonly #write: Write
  readonly #close: () => void
  #waiting: Buffer[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | null = null

  /** The process's standard output, or another descriptor. */
  static of(descriptor = 1): LogOutput {
    try {
      if (fstatSync(descriptor).isSocket()) return ofSocket(descriptor)
      // Anew, so that it does not block: a pipe that nobody reads would hold up the process, and this flag is not ours to set on
      // what others write to as well.
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK
      const own = openSync(`/proc/self/fd/${descriptor}`, flags)
      return new LogOutput(
        (bytes) => writeSync(own, bytes),
        () => closeSync(own),
      )
    } catch {
      // Not Linux, or no such descriptor.
      return new LogOutput(
        (bytes) => writeSync(descriptor, bytes),
        () => {},
      )
    }
  }

  constructor(write: Write, close: () => void) {
    this.#write = write
    this.#close = close
  }

  /** One or several lines, as pino writes them. */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waiting.length > 0) {
      if (this.#bytes + bytes.length > MAX_WAITING_BYTES) this.dropped++
      else this.#keep(bytes)
      return
    }
    const left = this.#put(bytes)
    if (left !== null) this.#keep(left)
  }

  /** Resolves when all that waits is written, or `ms` have passed. */
  async flushed(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (this.#waiting.length > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(RETRY_MS, 5)))
      this.#again()
    }
  }
  /** Nothing is left running. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#waiting = []
    this.#close()
  }

  /** What could not be written now; null: nothing, or it is lost. */
  #put(bytes: Buffer): Buffer | null {
    try {
      const written = this.#write(bytes)
      return written === bytes.length ? null : bytes.subarray(written)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return bytes
      this.dropped++
      return null
    }
  }
  #keep(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (this.#timer !== null) return
    this.#timer = setInterval(() => this.#again(), RETRY_MS)
    this.#timer.unref()
  }
  #again(): void {
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0]!
      const left = this.#put(first)
      if (left !== null && left.length === first.length) return
      this.#bytes -= first.length - (left?.length ?? 0)
      if (left !== null) this.#waiting[0] = left
      else this.#waiting.shift()
    }
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

/** A socket cannot be opened anew, but does not block where it is written to as one. */
function ofSocket(descriptor: number): LogOutput {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true })
  let failure: Error | null = null
  socket.on('error', (error) => {
    failure = error
  })
  socket.unref()
  return new LogOutput(
    (bytes) => {
      if (failure !== null) throw failure
      if (socket.writableLength > 0) return 0
      socket.write(bytes)
      return bytes.length
    },
    () => {},
  )
}
