import type { CloseReason } from '../protocol/close-reasons.ts'

export type { CloseReason }

/**
 * One client's socket as the outbox sees it: three words and an amount. `uws/socket-sink` is the real one; tests use a
 * wire in memory that they hold still.
 */
export interface FrameSink {
  /** Bytes the server still holds for this socket below us (uWS's buffer, frame headers included). */
  readonly bufferedBytes: number
  /**
   * Hands one binary frame to the socket. `sent`: the kernel has it. `buffered`: accepted, the socket keeps the bytes.
   * `refused`: nothing was taken (the socket is over its backstop or gone); the frame is still the caller's.
   */
  write(frame: Uint8Array): 'sent' | 'buffered' | 'refused'
  /** Two frames in one system call. How many were taken, the first one first; `bufferedBytes` says what waits of them. */
  writeBoth(first: Uint8Array, second: Uint8Array): 0 | 1 | 2
  /** Asks the peer for a pong; one that never comes is a peer that is gone. */
  ping(): void
  /** Sends the close frame behind what is buffered and ends the socket. Nothing can be written afterwards. */
  close(reason: CloseReason): void
  /** Ends the connection now, without a close frame. */
  cut(): void
}
