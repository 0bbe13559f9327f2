import type { WebSocket } from 'uWebSockets.js'
import type { CloseReason, FrameSink } from '../outbound/frame-sink.ts'

/** The real socket behind a `FrameSink`. Any method of a closed uWS socket throws, so this lets go of it first (OP5). */
export class SocketSink implements FrameSink {
  #socket: WebSocket<unknown> | null

  constructor(socket: WebSocket<unknown>) {
    this.#socket = socket
  }

  get bufferedBytes(): number {
    return this.#socket === null ? 0 : this.#socket.getBufferedAmount()
  }
  write(frame: Uint8Array): 'sent' | 'buffered' | 'refused' {
    if (this.#socket === null) return 'refused'
    // 1: written. 0: accepted, uWS keeps the bytes. 2: nothing was taken.
    const status = this.#socket.send(frame, true, false)
    return status === 1 ? 'sent' : status === 0 ? 'buffered' : 'refused'
  }
  together(writes: () => void): void {
    if (this.#socket !== null) this.#socket.cork(writes)
  }
  ping(): void {
    this.#socket?.ping()
  }
  close(reason: CloseReason): void {
    const socket = this.#socket
    this.#socket = null
    socket?.end(reason.code, reason.text)
  }
  cut(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.close()
  }
  /** uWS says that the socket is gone. */
  gone(): void {
    this.#socket = null
  }
}
