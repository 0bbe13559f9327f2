/**
 * What happens at an upgrade, before anything is read: origin, places, the room's name, access. Everybody is let as far as
 * a close frame can reach them, because a stock client stops for good on 44xx and retries an HTTP refusal for ever.
 */

import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import type { Authorizer } from './authorizer.ts'
import { clientAddress } from './client-address.ts'
import type { ConnectionLimits, Place } from './connection-limits.ts'
import { readCredentials } from './credentials.ts'
import { isOriginAllowed, type OriginSettings } from './origin-check.ts'
import { roomName } from './room-name.ts'
import { type Admission, Session, type SessionDeps, type SessionRequest } from './session.ts'
import type { Peer, Upgrade, Welcome } from './upgrade.ts'

export interface ReceptionDeps {
  readonly authorizer: Authorizer
  readonly limits: ConnectionLimits
  readonly origins: OriginSettings
  readonly trustedHops: number
  readonly session: SessionDeps
  /** Whether nobody is let in just now: the server is short of memory. */
  readonly isFull: () => boolean
}

export class Reception {
  readonly sessions = new Set<Session>()
  readonly #deps: ReceptionDeps
  #isOpen = true

  constructor(deps: ReceptionDeps) {
    this.#deps = deps
  }

  /** From now on no upgrade is taken. */
  shut(): void {
    this.#isOpen = false
  }

  readonly welcome = (upgrade: Upgrade): Welcome | null => {
    if (!this.#isOpen) return null
    const { limits, trustedHops, session: sessionDeps } = this.#deps
    const { address, group } = clientAddress(upgrade.peer, upgrade.forwardedFor, trustedHops)
    const { subprotocol } = readCredentials(upgrade)
    const room = roomName(upgrade.path)
    return {
      subprotocol,
      peer: (sink) => {
        // The place is taken when the socket is open, and given back when it is closed: each happens exactly once.
        const place = limits.admit(group)
        const request: SessionRequest = {
          room,
          address,
          group,
          notices: new URLSearchParams(upgrade.query).get('notices') === '1',
          admission: place.kind === 'refusal' ? refusal(place.reason) : this.#admission(upgrade, room),
        }
        const session = new Session(sink, request, sessionDeps)
        this.sessions.add(session)
        return new Seat(session, place.kind === 'place' ? place : null, this.sessions)
      },
    }
  }

  #admission(upgrade: Upgrade, room: string | null): Admission | Promise<Admission> {
    const { authorizer, origins, isFull } = this.#deps
    if (room === null) return refusal(CLOSE.badRoomName)
    if (!isOriginAllowed(upgrade, origins)) return refusal(CLOSE.notAllowed)
    if (isFull()) return refusal(CLOSE.serverFull)
    return authorizer.admit({ ...upgrade, room })
  }
}

const refusal = (reason: CloseReason): Admission => ({ kind: 'refusal', reason })

/**
 * One connection: its session and the place it takes. A class of its own, because closures made at the upgrade would keep
 * the whole upgrade, headers and all, as long as the connection lives.
 */
class Seat implements Peer {
  readonly #session: Session
  readonly #place: Place | null
  readonly #sessions: Set<Session>

  constructor(session: Session, place: Place | null, sessions: Set<Session>) {
    this.#session = session
    this.#place = place
    this.#sessions = sessions
  }

  open(): void {
    this.#session.open()
  }
  receive(bytes: Uint8Array, isBinary: boolean): void {
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
  closed(code: number, cutForSize: boolean): void {
    this.#sessions.delete(this.#session)
    this.#place?.release()
    this.#session.closed(code, cutForSize)
  }
}
