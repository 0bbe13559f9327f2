/**
 * One side of a y-websocket conversation, or of Hocuspocus's, which puts the room's name before every message and wants a
 * token first; or of the bare relay's, which answers nothing.
 */
import { ClientSocket } from './web-socket.ts'
import {
  AUTH,
  messageFrame,
  PRESENCE,
  readVarUint,
  STEP_1,
  STEP_2,
  SYNC,
  SYNC_REPLY,
  UPDATE,
  varUintEnd,
} from './wire.ts'

export type Dialect = 'y-websocket' | 'hocuspocus' | 'relay'

export interface Address {
  readonly port: number
  readonly dialect: Dialect
}

export interface PeerEvents {
  /** The server takes messages of this room from now on. */
  ready(): void
  /** The server asks for what is beyond this state vector. */
  asked(stateVector: Uint8Array): void
  /** An update, `bytes[from, to)`: only lent. `isAnswer`: the end of the answer to our SyncStep1. */
  update(bytes: Uint8Array, from: number, to: number, isAnswer: boolean): void
  /** A presence payload, likewise. */
  presence(bytes: Uint8Array, from: number, to: number): void
  readDone(): void
  closed(code: number): void
}

const NOTHING = new Uint8Array(0)
const AUTHENTICATED = 2

export class Peer {
  readonly dialect: Dialect
  readonly #socket: ClientSocket
  readonly #events: PeerEvents
  readonly #prefix: Uint8Array
  #admitted = false

  constructor(address: Address, room: string, events: PeerEvents) {
    this.dialect = address.dialect
    this.#events = events
    const name = Buffer.from(room)
    this.#prefix = address.dialect === 'hocuspocus' ? Buffer.concat([Buffer.of(name.length), name]) : NOTHING
    this.#socket = new ClientSocket(
      { port: address.port, path: `/${room}` },
      {
        open: () => this.#opened(),
        message: (bytes, from, to) => this.#message(bytes, from, to),
        readDone: () => events.readDone(),
        closed: (code) => events.closed(code),
      },
    )
  }

  get socket(): ClientSocket {
    return this.#socket
  }

  ask(stateVector: Uint8Array): void {
    this.#socket.send(messageFrame(this.#prefix, [SYNC, STEP_1], stateVector))
  }
  answer(update: Uint8Array): void {
    this.#socket.send(messageFrame(this.#prefix, [SYNC, STEP_2], update))
  }
  update(update: Uint8Array): void {
    this.#socket.send(messageFrame(this.#prefix, [SYNC, UPDATE], update))
  }
  presence(payload: Uint8Array): void {
    this.#socket.send(messageFrame(this.#prefix, [PRESENCE], payload))
  }

  #opened(): void {
    if (this.dialect === 'hocuspocus') {
      // Token (0), empty.
      this.#socket.send(messageFrame(this.#prefix, [AUTH, 0], NOTHING))
    } else this.#events.ready()
  }

  #message(bytes: Uint8Array, from: number, to: number): void {
    let at = from + this.#prefix.length
    const type = bytes[at++]
    if (type === PRESENCE) {
      readVarUint(bytes, at)
      this.#events.presence(bytes, varUintEnd(), to)
    } else if (type === SYNC || type === SYNC_REPLY) {
      const subtype = bytes[at++]
      const length = readVarUint(bytes, at)
      at = varUintEnd()
      if (at + length !== to) throw new Error('a frame whose length is not its payload')
      if (subtype === STEP_1) this.#events.asked(bytes.slice(at, to))
      else this.#events.update(bytes, at, to, subtype === STEP_2)
    } else if (type === AUTH && !this.#admitted) {
      if (bytes[at] !== AUTHENTICATED) throw new Error('Hocuspocus let nobody in')
      this.#admitted = true
      this.#events.ready()
    }
  }
}
