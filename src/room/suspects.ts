/**
 * Authors of updates that everybody was given before they broke the document. All who have them bring them back when they are
 * asked for what the next document lacks: they are not to blame, and the room is not to break over it again and again.
 */
import { MAX_CLOCK } from '../protocol/byte-reader.ts'
import { withoutKnown } from '../update/known-structs.ts'
import { authorsOf } from '../update/update-authors.ts'
import { stripUnknownDeletes } from '../update/update-check.ts'
import type { Member } from './member.ts'

/** Breaks over one author's updates after which what it writes is kept out of the document. One may be the server's own fault. */
const MOST_BREAKS = 5

interface Suspect {
  /** Who wrote what broke the first document. */
  readonly writer: Member
  breaks: number
}

export class Suspects {
  readonly #suspects = new Map<number, Suspect>()
  readonly #withheld = new Set<number>()

  /** Whether something of this author broke a document after everybody had been given it. */
  has(author: number): boolean {
    return this.#suspects.has(author)
  }
  /** Whether anything is kept out of the document. */
  get areWithheld(): boolean {
    return this.#withheld.size > 0
  }

  /** A document broke over an update of this member's. `wasRelayed`: everybody had it. */
  broke(member: Member, update: Uint8Array, wasRelayed: boolean): void {
    if (!wasRelayed && this.#suspects.size === 0) return
    for (const author of authorsOf(update)) {
      const suspect = this.#suspects.get(author) ?? { writer: member, breaks: 0 }
      if (!wasRelayed && suspect.breaks === 0) continue
      this.#suspects.set(author, suspect)
      if (++suspect.breaks >= MOST_BREAKS) this.#withheld.add(author)
    }
  }
  /** Whether an update has something that its sender was given here. */
  isPassedOn(member: Member, update: Uint8Array): boolean {
    if (this.#suspects.size === 0) return false
    return authorsOf(update).some((author) => (this.#suspects.get(author)?.writer ?? member) !== member)
  }
  /** An update without what is kept out. The same bytes while that is nothing. */
  without(update: Uint8Array, stateOf: (client: number) => number): Uint8Array {
    if (this.#withheld.size === 0 || !authorsOf(update).some((author) => this.#withheld.has(author))) return update
    const rest = withoutKnown(update, (client) => (this.#withheld.has(client) ? MAX_CLOCK : stateOf(client)))
    return stripUnknownDeletes(rest, stateOf).bytes
  }
}
