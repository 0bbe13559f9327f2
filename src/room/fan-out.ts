/**
 * Gives every member the same bytes. Each for itself: what one member's outbox throws is not the others' business.
 *   frame ─▶ all but its author, presence riding along where it is due      presence, rest, resume ─▶ all
 */
import type { DeleteSet, DiffSource, StateVector } from '../diff/diff-cursor.ts'
import type { Outbox } from '../outbound/outbox.ts'
import type { SyncFrame } from '../outbound/outgoing.ts'
import type { Member } from './member.ts'
import type { Presence, PresenceTick } from './presence.ts'

export class FanOut {
  readonly #members: ReadonlySet<Member>
  readonly #presence: Presence
  readonly #takesPresence: () => boolean

  /** `takesPresence`: whether what changed in presence goes along with an update that leaves now. */
  constructor(members: ReadonlySet<Member>, presence: Presence, takesPresence: () => boolean) {
    this.#members = members
    this.#presence = presence
    this.#takesPresence = takesPresence
  }

  /** An update, to everybody but who wrote all of it. Presence that is nearly due rides along. */
  send(frame: SyncFrame, author: Member | null): void {
    const [rider, ...others] = this.#takesPresence() ? this.#presence.tick() : []
    for (const member of this.#members) {
      try {
        if (member === author) {
          member.outbox.passOver(frame)
          if (rider !== undefined && member !== rider.author) member.outbox.pushPresence(rider.frame)
        } else if (rider === undefined || member === rider.author) member.outbox.pushSync(frame)
        else member.outbox.pushBoth(frame, rider.frame)
      } catch (error) {
        member.outbox.failed(error)
      }
    }
    for (const tick of others) this.#sendPresence(tick)
  }
  /** What changed in presence, to everybody but whose it is. */
  sendPresence(): void {
    for (const tick of this.#presence.tick()) this.#sendPresence(tick)
  }
  #sendPresence({ frame, author }: PresenceTick): void {
    for (const member of this.#members) {
      try {
        if (member !== author) member.outbox.pushPresence(frame)
      } catch (error) {
        member.outbox.failed(error)
      }
    }
  }

  /** What was relayed deleted more than it said: who is behind is owed that as well. */
  owe(deletes: DeleteSet): void {
    if (deletes.clients.size > 0) this.#each((outbox) => outbox.oweDeletes(deletes))
  }
  /**
   * A text is half in the document: whoever writes it has all of its own, the others are given nothing of it. Nobody writes: everybody is
   * given what there is.
   */
  withhold(writers: readonly Member[]): void {
    for (const member of this.#members) {
      member.outbox.withhold(writers.length > 1 || (writers.length === 1 && writers[0] !== member))
    }
  }
  /** The document broke: see `Outbox.rest`. */
  rest(level: StateVector): void {
    this.#each((outbox) => outbox.rest(level))
  }
  /** There is another. */
  resume(source: DiffSource): void {
    this.#each((outbox) => outbox.resume(source))
  }

  #each(give: (outbox: Outbox) => void): void {
    for (const { outbox } of this.#members) {
      try {
        give(outbox)
      } catch (error) {
        outbox.failed(error)
      }
    }
  }
}
