import type { LongPlace, MessageRoom } from '../budget/message-room.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import type { Place } from './connection-limits.ts'
import type { Session } from './session.ts'
import type { Guest, Welcome } from './upgrade.ts'

export type Takes = Welcome['takes']

/** The reception. */
export interface SeatHost {
  readonly messages: MessageRoom
  /** Clock ms. */
  readonly now: number
  /** How long the close frame of a session that began at `since` (clock ms) is kept back, ms. */
  holdMs(session: Session, since: number): number
  /** Its socket is closed. */
  gone(session: Session): void
}

/** Where a client comes from and goes to: what is remembered of it is only ever in its favour. */
export const whereabouts = (group: string, room: string | null): string => `${group} ${room}`

/** The close code of a connection that ended without a close frame: its descriptor is free. */
const TORN = 1006

/**
 * One connection: its session and the place it takes. A class of its own, because closures made at the upgrade would keep
 * the whole upgrade, headers and all, as long as the connection lives.
 */
export class Seat implements Guest, LongPlace {
  readonly #session: Session
  readonly #place: Pick<Place, 'release'>
  readonly #host: SeatHost
  readonly #takes: Takes
  readonly #since: number
  usedAt: number
  readonly isWanted: boolean

  constructor(session: Session, place: Pick<Place, 'release'>, host: SeatHost, takes: Takes, isWanted: boolean) {
    this.#session = session
    this.#place = place
    this.#host = host
    this.#takes = takes
    this.#since = host.now
    this.usedAt = this.#since
    this.isWanted = isWanted
    if (takes === 'long') host.messages.take(this)
  }

  open(): void {
    this.#session.open()
  }
  /** Its long place is needed by somebody else. */
  end(): void {
    this.#session.end(CLOSE.placeNeeded)
  }
  receive(bytes: Uint8Array, isBinary: boolean): void {
    if (bytes.length > this.#host.messages.shortBytes) this.usedAt = this.#host.now
    this.#session.receive(bytes, isBinary)
  }
  drained(): void {
    this.#session.drained()
  }
  pinged(length: number): void {
    this.#session.pinged(length)
  }
  ponged(): void {
    this.#session.ponged()
  }
  failed(error: unknown): void {
    this.#session.failed(error)
  }
  holdMs(): number {
    return this.#takes === 'refused' ? 0 : this.#host.holdMs(this.#session, this.#since)
  }
  closed(code: number, cutForSize: boolean): void {
    this.#host.gone(this.#session)
    this.#place.release(code !== TORN)
    const { messages } = this.#host
    if (this.#takes === 'long') messages.giveBack(this)
    else if (cutForSize && this.#takes === 'short') {
      messages.want(whereabouts(this.#session.group, this.#session.roomName))
    }
    // Only in a long place does it say that the message was too long for any.
    this.#session.closed(code, cutForSize && this.#takes === 'long')
  }
}
