import type { Logger } from 'pino'
import type { Outbox } from '../outbound/outbox.ts'
import type { PresenceOwner } from './presence.ts'
import type { Repair } from './repair.ts'
import type { Strikes } from './strikes.ts'

/** One client in a room: made by its session, watched by its room. */
export interface Member extends PresenceOwner {
  readonly outbox: Outbox
  readonly repair: Repair
  readonly strikes: Strikes
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Asks the peer for a sign of life; the session tells the room of the pong. */
  ping(): void
}
