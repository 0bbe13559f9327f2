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

/** One client as the route sees it. */
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

/** What to do with an upgrade: a peer, and the subprotocol to answer; or nobody, answered with HTTP 503. */
export interface Welcome {
  readonly subprotocol: string | null
  peer(sink: FrameSink): Peer
}
