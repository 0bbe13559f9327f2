/**
 * What happens at an upgrade, before anything is read: places, origin, the room's name, access.
 *   upgrade ──▶ place? ──▶ origin, room, access ──▶ a session in its place
 *                └──────────── refused ───────────▶ a close frame, or an HTTP status
 * Whoever is refused is let as far as a close frame can reach it, because a stock client stops for good on 44xx and retries
 * an HTTP refusal for ever; but only so often (RepeatedRefusals), and only so many at a time (Doorway).
 */
import { createHash } from 'node:crypto'
import type { Authorizer } from '../access/authorizer.ts'
import { clientAddress } from '../access/client-address.ts'
import { readCredentials } from '../access/credentials.ts'
import { isOriginAllowed, type OriginSettings } from '../access/origin-check.ts'
import type { Lingering } from '../budget/lingering.ts'
import type { MessageRoom } from '../budget/message-room.ts'
import type { FrameSink } from '../outbound/frame-sink.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'
import { roomName } from '../protocol/room-name.ts'
import type { Absent } from './absent.ts'
import type { ConnectionLimits, Place } from './connection-limits.ts'
import { Doorway } from './doorway.ts'
import { RepeatedRefusals } from './repeated-refusals.ts'
import { Seat, type SeatHost, type Takes, whereabouts } from './seat.ts'
import { type Admission, Session, type SessionDeps, type SessionRequest } from './session.ts'
import type { Answer, Guest, Upgrade } from './upgrade.ts'

export interface ReceptionDeps {
  readonly authorizer: Authorizer
  readonly limits: ConnectionLimits
  readonly lingering: Lingering
  readonly absent: Absent
  readonly messages: MessageRoom
  readonly origins: OriginSettings
  readonly trustedHops: number
  readonly session: SessionDeps
  /** Whether nobody is let in just now: the server is short of memory. */
  readonly isFull: () => boolean
}

/**
 * How long an upgrade waits for its token to be checked, ms. Most are refused or granted by then, before they hold a socket
 * that takes long messages; where a key server is slow the rest is decided behind the upgrade.
 */
const PATIENCE_MS = 100
/** A connection that is shown the door within this time has been refused, ms: its client comes back for the same. */
const SHORT_VISIT_MS = 5_000
/** How long the close frame is kept back from one that comes for the same again and again, ms. */
const HOLD_MS = 3_000

/** Who is at the door. */
interface Visitor {
  readonly room: string | null
  readonly address: string
  readonly group: string
  readonly notices: boolean
  readonly subprotocol: string | null
}

export class Reception implements SeatHost {
  readonly sessions = new Set<Session>()
  readonly #deps: ReceptionDeps
  readonly #doorway: Doorway
  readonly #refused: RepeatedRefusals
  /** Those that came in and were shown the door at once, by address and room. */
  readonly #returning: RepeatedRefusals
  #isOpen = true

  constructor(deps: ReceptionDeps) {
    const { clock } = deps.session
    this.#deps = deps
    this.#doorway = new Doorway(deps.limits.maxDoors, deps.lingering)
    this.#refused = new RepeatedRefusals(clock)
    this.#returning = new RepeatedRefusals(clock)
  }

  /** From now on no upgrade is taken. */
  shut(): void {
    this.#isOpen = false
  }

  readonly welcome = (upgrade: Upgrade): Answer | Promise<Answer> => {
    if (!this.#isOpen) return turned(CLOSE.restart)
    const { limits, trustedHops } = this.#deps
    const { address, group } = clientAddress(upgrade.peer, upgrade.forwardedFor, trustedHops)
    const { subprotocol } = readCredentials(upgrade)
    const notices = new URLSearchParams(upgrade.query).get('notices') === '1'
    const visitor: Visitor = { room: roomName(upgrade.path), address, group, notices, subprotocol }
    if (limits.isCrowded) return this.#turn(CLOSE.serverFull)
    const place = limits.admit(group)
    if (place.kind === 'refusal') return this.#refuse(upgrade, visitor, place.reason)
    const admission = this.#admission(upgrade, visitor.room)
    if (!(admission instanceof Promise)) return this.#answer(upgrade, visitor, place, admission)
    // Before the keys were ever there it takes long for certain.
    if (!this.#deps.authorizer.ready) return this.#answer(upgrade, visitor, place, admission)
    return this.#patiently(admission).then((known) => this.#answer(upgrade, visitor, place, known ?? admission))
  }

  #admission(upgrade: Upgrade, room: string | null): Admission | Promise<Admission> {
    const { authorizer, origins, isFull } = this.#deps
    if (room === null) return refusal(CLOSE.badRoomName)
    if (!isOriginAllowed(upgrade, origins)) {
      // A page that is not listed is nearly always a setting that was forgotten.
      this.#deps.session.log.warn({ event: 'origin_refused', origin: shown(upgrade.origin) }, 'origin not allowed')
      return refusal(CLOSE.notAllowed)
    }
    if (isFull()) return refusal(CLOSE.serverFull)
    return authorizer.admit({ ...upgrade, room })
  }
  /** The answer, or null when it takes long. */
  #patiently(admission: Promise<Admission>): Promise<Admission | null> {
    return new Promise((resolve) => {
      const cancel = this.#deps.session.clock.after(PATIENCE_MS, () => resolve(null))
      const settle = (answer: Admission | null): void => {
        cancel()
        resolve(answer)
      }
      // A failure is met again by whoever waits for the admission itself.
      admission.then(settle, () => settle(null))
    })
  }

  #answer(upgrade: Upgrade, visitor: Visitor, place: Place, admission: Admission | Promise<Admission>): Answer {
    if (!(admission instanceof Promise) && admission.kind === 'refusal') {
      place.release()
      return this.#refuse(upgrade, visitor, admission.reason)
    }
    const { messages } = this.#deps
    const promised = messages.promise(whereabouts(visitor.group, visitor.room))
    const takes = promised === null ? 'short' : 'long'
    return {
      kind: 'welcome',
      subprotocol: visitor.subprotocol,
      takes,
      peer: (sink) => this.#seat(sink, requestOf(visitor, admission), place, takes, promised === 'wanted'),
      aborted: () => {
        place.release()
        if (takes === 'long') messages.giveBack(null)
        if (admission instanceof Promise) this.#awaitAbsent(visitor.group, admission)
      },
    }
  }

  /** Its socket is gone before it was decided whether it may come in, and what it said is held until then. */
  #awaitAbsent(group: string, admission: Promise<Admission>): void {
    const { absent } = this.#deps
    absent.add(group)
    const decided = (): void => absent.remove(group)
    admission.then(decided, decided)
  }
  gone(session: Session): void {
    this.sessions.delete(session)
    // The same of one that has a session.
    if (!session.isEntering) return
    const { absent } = this.#deps
    absent.add(session.group)
    session.whenEntered(() => absent.remove(session.group))
  }

  #refuse(upgrade: Upgrade, visitor: Visitor, reason: CloseReason): Answer {
    if (!this.#doorway.hasRoom(visitor.group)) return this.#turn(reason)
    if (!this.#refused.mayTell(`${reason.code} ${identity(upgrade, visitor)}`)) return this.#turn(reason)
    const place = this.#doorway.enter(visitor.group)
    this.#deps.session.metrics.refusals.add('close_frame')
    return {
      kind: 'welcome',
      subprotocol: visitor.subprotocol,
      takes: 'refused',
      peer: (sink) => this.#seat(sink, requestOf(visitor, refusal(reason)), place, 'refused'),
      aborted: () => place.release(),
    }
  }
  #turn(reason: CloseReason): Answer {
    const { metrics, refusals, log } = this.#deps.session
    metrics.refusals.add('http')
    const facts = { code: reason.code, reason: reason.text, refusals: refusals.count }
    if (refusals.due()) log.info({ event: 'refused_early', ...facts }, 'refused before the upgrade')
    return turned(reason)
  }

  #seat(
    sink: FrameSink,
    request: SessionRequest,
    place: Pick<Place, 'release'>,
    takes: Takes,
    isWanted = false,
  ): Guest {
    const session = new Session(sink, request, this.#deps.session)
    this.sessions.add(session)
    return new Seat(session, place, this, takes, isWanted)
  }

  holdMs(session: Session, since: number): number {
    const isShort = this.#deps.session.clock.now() - since < SHORT_VISIT_MS
    if (!this.#isOpen || !isShort || this.#returning.mayTell(`${session.group} ${session.roomName}`)) return 0
    return HOLD_MS
  }
  get messages(): MessageRoom {
    return this.#deps.messages
  }
  get now(): number {
    return this.#deps.session.clock.now()
  }
}

const refusal = (reason: CloseReason): Admission => ({ kind: 'refusal', reason })

/** As a close code's HTTP status: 4401 is 401. What is temporary is a 503, which every client comes back from. */
function turned({ code, text }: CloseReason): Answer {
  return { kind: 'turned', status: code >= 4400 && code <= 4499 ? code - 4000 : 503, text }
}

const requestOf = (
  { room, address, group, notices }: Visitor,
  admission: Admission | Promise<Admission>,
): SessionRequest => ({ room, address, group, notices, admission })

/** Who asks for what, with which right: nobody is answered for somebody else. A hash, since it holds a token. */
/** As much of a header as a log line needs. */
const shown = (header: string): string => header.slice(0, 200)

function identity({ path, query, origin, authorization, protocols }: Upgrade, { group }: Visitor): string {
  const hash = createHash('sha256')
  for (const part of [group, path, query, origin, authorization, protocols]) hash.update(`${part.length} ${part} `)
  return hash.digest('base64')
}
