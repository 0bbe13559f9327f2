/**
 * What a congested client is owed beside document updates, in a form that cannot grow: of presence the ids that changed
 * (FC3), of the server's own frames the newest of each kind.
 */
import type { LabelledCounter } from '../observe/counters.ts'
import type { MessageType } from '../observe/metrics.ts'
import type { PresenceStates } from './outgoing.ts'
import type { Wire } from './wire.ts'

export class SideLane {
  readonly #wire: Wire
  readonly #presence: PresenceStates
  readonly #dropped: LabelledCounter<MessageType>
  // Made when they are first needed: most clients are never congested.
  /** Ids, and since when they are owed: when the oldest state that was not sent came in, clock ms. */
  #slots: Map<number, number> | null = null
  #controls: Map<string, Uint8Array> | null = null
  #presenceAt = Number.NEGATIVE_INFINITY

  constructor(wire: Wire, presence: PresenceStates, dropped: LabelledCounter<MessageType>) {
    this.#wire = wire
    this.#presence = presence
    this.#dropped = dropped
  }

  get isEmpty(): boolean {
    return !this.owesPresence && !this.owesControl
  }
  get owesPresence(): boolean {
    return this.#slots !== null && this.#slots.size > 0
  }
  get owesControl(): boolean {
    return this.#controls !== null && this.#controls.size > 0
  }

  /** An id that changes again before it was sent supersedes its older state, but is as late as that one was. */
  owe(ids: Iterable<number>, at: number): void {
    for (const id of ids) {
      this.#slots ??= new Map()
      if (this.#slots.has(id)) this.#dropped.add('presence')
      else this.#slots.set(id, at)
    }
  }
  /** Of one `key` only the newest is sent. */
  put(key: string, bytes: Uint8Array): void {
    this.#controls ??= new Map()
    this.#controls.set(key, bytes)
  }

  /** Writes one of the server's own frames. False: the socket has no room. */
  sendControl(now: number): boolean {
    const [next] = this.#controls ?? []
    if (next === undefined || this.#wire.isCongested() || !this.#wire.write(next[1], 'control', now)) return false
    this.#controls?.delete(next[0])
    return true
  }
  /** How long ago presence was last sent from here, ms. */
  presenceAge(now: number): number {
    return now - this.#presenceAt
  }
  /** Writes one frame of newest states. The caller has made sure of room. */
  sendPresence(now: number): void {
    const owed = this.#slots === null ? null : this.#presence.takeFrame(this.#slots)
    if (owed === null || this.#slots?.size === 0) this.#slots = null
    if (owed === null) return
    this.#presenceAt = now
    // A refused one is superseded like any other state that was not sent.
    if (!this.#wire.write(owed.bytes, 'presence', owed.at)) this.#dropped.add('presence')
  }

  /** Lets everything go; how many presence ids were owed. */
  clear(): number {
    const owed = this.#slots?.size ?? 0
    this.#slots = null
    this.#controls = null
    return owed
  }
}
