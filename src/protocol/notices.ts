/**
 * Notices: what the server tells a client about itself, only to clients that asked (`?notices=1`): a stock client would log an
 * unknown message type. A frame of type 100 with JSON text; docs/protocol.md lists them for clients.
 */
import { encodeNoticeFrame } from './frames.ts'
import type { PresenceLimit } from './presence-frame.ts'

export type Notice =
  /** The soft mark was passed: what follows may be late. */
  | { readonly kind: 'behind' }
  /** Everything that was owed is sent. */
  | { readonly kind: 'caught-up' }
  /** Frames over the rate budget are being dropped and will be asked for. */
  | { readonly kind: 'limited' }
  | { readonly kind: 'limit-lifted' }
  /** A presence state was not taken: why is a label of `ws_presence_refused_total`. */
  | { readonly kind: 'presence-refused'; readonly reason: PresenceLimit }
  /** Edits of this client are not taken. */
  | { readonly kind: 'read-only' }
  /** Evicted too often: updates now come at this interval, ms. */
  | { readonly kind: 'degraded'; readonly intervalMs: number }
  | { readonly kind: 'degraded-lifted' }

const utf8 = new TextEncoder()

export const encodeNotice = (notice: Notice): Uint8Array => encodeNoticeFrame(utf8.encode(JSON.stringify(notice)))
