/**
 * Who writes under which client id. Two live clients may do so honestly: a page whose old socket is not known to be dead yet, a
 * tab that has a sibling's edits. Or they are two documents with one id, the second of which goes on where the first has got to
 * as if it had written that; what it sends then contradicts nothing, and stands on something else than here. So whoever goes on
 * for another is asked for what comes before: an answer that says the same as the document makes it the writer (IN8).
 */
import type { AuthorSection } from '../update/update-check.ts'
import type { Member } from './member.ts'

/** Updates of more authors than this are no edits by hand: nobody becomes a writer by them, and nobody is asked. */
const MAX_SECTIONS = 8
/** So many clocks before what is known are asked for: enough to tell two documents apart, and little to send. */
const ASKED_CLOCKS = 256

export class Writers {
  readonly #byClient = new Map<number, Member>()

  /**
   * Notes a member as the writer of what is new in its update, whose sections these are. True: somebody else writes there, and
   * the member is to be asked first. `knownOf`: the document's next clock of an author.
   */
  doubts(member: Member, sections: readonly AuthorSection[], knownOf: (client: number) => number): boolean {
    if (sections.length > MAX_SECTIONS) return false
    let isDoubted = false
    for (const { client, from, to } of sections) {
      const writer = this.#byClient.get(client)
      if (writer === member) continue
      const known = knownOf(client)
      if (to <= known) continue
      if (writer === undefined || from < known || known === 0) {
        this.#byClient.set(client, member)
        if (member.asked.has(client)) member.asked = new Map([...member.asked].filter(([asked]) => asked !== client))
      } else {
        member.asked = new Map([...member.asked, [client, Math.max(0, known - ASKED_CLOCKS)]])
        isDoubted = true
      }
    }
    return isDoubted
  }

  /** Whether a member is who writes under a client id. */
  isWriter(member: Member, client: number): boolean {
    return this.#byClient.get(client) === member
  }

  left(member: Member): void {
    for (const [client, writer] of this.#byClient) if (writer === member) this.#byClient.delete(client)
  }
}
