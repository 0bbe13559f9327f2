import type { WebSocket } from 'uWebSockets.js'
import type { Guest } from '../inbound/upgrade.ts'
import type { Clock } from '../observe/clock.ts'
import type { CloseReason, FrameSink } from '../outbound/frame-sink.ts'

/** What is being corked. One place and one function for all sinks: corking is synchronous, and done thousands of times a second. */
const pair: { socket: WebSocket<unknown> | null; first: Uint8Array; second: Uint8Array; taken: 0 | 1 | 2 } = {
  socket: null,
  first: new Uint8Array(0),
  second: new Uint8Array(0),
  taken: 0,
}
function writePair(): void {
  const socket = pair.socket
  pair.socket = null
  if (socket === null || socket.send(pair.first, true, false) === 2) return
  pair.taken = socket.send(pair.second, true, false) === 2 ? 1 : 2
}

/** The real socket behind a `FrameSink`. Any method of a closed uWS socket throws, so this lets go of it first (OP5). */
export class SocketSink implements FrameSink {
  #socket: WebSocket<unknown> | null
  /** A socket that is closed but for its close frame, which is kept back. */
  #held: WebSocket<unknown> | null = null
  readonly #clock: Clock
  readonly #owner: { readonly peer: Pick<Guest, 'holdMs'> | null }

  /** `owner.peer` says whether a close frame is kept back. */
  constructor(socket: WebSocket<unknown>, clock: Clock, owner: { readonly peer: Pick<Guest, 'holdMs'> | null }) {
    this.#socket = socket
    this.#clock = clock
    this.#owner = owner
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
  writeBoth(first: Uint8Array, second: Uint8Array): 0 | 1 | 2 {
    if (this.#socket === null) return 0
    pair.socket = this.#socket
    pair.first = first
    pair.second = second
    pair.taken = 0
    this.#socket.cork(writePair)
    return pair.taken
  }
  ping(): void {
    this.#socket?.ping()
  }
  close(reason: CloseReason): void {
    const socket = this.#socket
    this.#socket = null
    const holdMs = socket === null ? 0 : (this.#owner.peer?.holdMs() ?? 0)
    if (holdMs === 0) {
      socket?.end(reason.code, reason.text)
      return
    }
    this.#held = socket
    this.#clock.after(holdMs, () => {
      const held = this.#held
      this.#held = null
      held?.end(reason.code, reason.text)
    })
  }
  cut(): void {
    const socket = this.#socket ?? this.#held
    this.#socket = null
    this.#held = null
    socket?.close()
  }
  /** uWS says that the socket is gone. */
  gone(): void {
    this.#socket = null
    this.#held = null
  }
}
