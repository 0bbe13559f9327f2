/** What the socket edge and the sessions say to each other. */
import type { FrameSink } from '../outbound/frame-sink.ts'

/** What an upgrade request said, as plain texts: uWS's request object is gone when its callback returns. */
export interface Upgrade {
  /** The URL's path as it came, percent-encoded. */
  readonly path: string
  /** The URL's query as it came, without the `?`. */
  readonly query: string
  /** The TCP peer's address in text; IPv6 uncompressed. */
  readonly peer: string
  readonly origin: string
  readonly host: string
  readonly forwardedHost: string
  readonly forwardedFor: string
  readonly authorization: string
  readonly protocols: string
}

/** One client as the route sees it: its session (session.ts). */
export interface Peer {
  open(): void
  /** One frame; the bytes are only lent. */
  receive(bytes: Uint8Array, isBinary: boolean): void
  drained(): void
  /** The client has asked for a pong of `length` bytes, and it is on its way. */
  pinged(length: number): void
  ponged(): void
  /** `cutForSize`: uWS itself ended the connection because a message was too long. */
  closed(code: number, cutForSize: boolean): void
  /** One of the others threw: this client is closed for it. Must not throw itself. */
  failed(error: unknown): void
}

/** A client in its place, which is what the route has (seat.ts). */
export interface Guest extends Peer {
  /** How long the close frame that it is about to get is kept back, ms. */
  holdMs(): number
}

/** What to do with an upgrade. */
export type Answer = Welcome | Turned

/** A peer, and the subprotocol to answer. One of `peer` and `aborted` is called, once. */
export interface Welcome {
  readonly kind: 'welcome'
  readonly subprotocol: string | null
  /**
   * How long a message its socket takes. `refused`: it is only let as far as a close frame can reach it, and soon cut. `short` and
   * `long`: see MessageRoom.
   */
  readonly takes: 'refused' | 'short' | 'long'
  peer(sink: FrameSink): Guest
  /** The connection ended before it was upgraded. */
  aborted(): void
}

/** Nobody: answered over HTTP, and the connection closed at once. */
export interface Turned {
  readonly kind: 'turned'
  readonly status: number
  readonly text: string
}
