import type { CloseReason } from '../protocol/close-reasons.ts'

/**
 * What the authorizer answers to somebody at the door: a grant to keep beside the session, or a refusal to close with.
 */
export interface Grant {
  readonly kind: 'grant'
  /** The room it is for: a grant never travels to another room. */
  readonly room: string
  readonly access: 'write' | 'read'
  /** Whether the client may show a cursor: writers always, readers if the operator lets them. */
  readonly cursor: boolean
  /** The token's `sub`: who it is across connections. Null without keys, and for tokens that name nobody. */
  readonly subject: string | null
  /** Epoch milliseconds of the token's `iat`. Null when unknown. */
  readonly issuedAt: number | null
  /** Epoch milliseconds at which the session ends. Null without keys: never. */
  readonly expiresAt: number | null
  /** What to answer in `Sec-WebSocket-Protocol`. Null: leave the header out. Never holds the token. */
  readonly subprotocol: string | null
}

/** What everybody has where no keys are set: all of the room, for ever. */
export function openGrant(room: string, subprotocol: string | null): Grant {
  return {
    kind: 'grant',
    room,
    access: 'write',
    cursor: true,
    subject: null,
    issuedAt: null,
    expiresAt: null,
    subprotocol,
  }
}

export interface Refusal {
  readonly kind: 'refusal'
  readonly reason: CloseReason
  readonly label: RefusalLabel
  /** As in a grant: the refusal is a close frame after the upgrade, so the upgrade has to be one browsers accept. */
  readonly subprotocol: string | null
}

/** Why somebody was refused, for logs and metrics: a closed set, and never anything of the token. */
export type RefusalLabel =
  | 'no_token'
  | 'oversized'
  | 'malformed'
  | 'algorithm'
  | 'signature'
  | 'unknown_key'
  | 'keys_unavailable'
  | 'claims'
  | 'expired'
  | 'not_yet'
  | 'revoked'
  | 'room'
