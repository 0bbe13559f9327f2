/**
 * What an update has to be beyond its bytes, seen from the document it is about to go into. Asked right before it is applied,
 * whatever was asked before: what a part says about others means nothing until they are there.
 */
import * as Y from 'yjs'
import { withoutKnown } from '../protocol/known-structs.ts'
import { DeletedClocks, deleteLongEntries, type IsEntry } from '../protocol/map-entries.ts'
import { MAX_TYPE_DEPTH, typeDepth } from '../protocol/type-nesting.ts'
import type { UpdateSummary } from '../protocol/update-check.ts'
import { typeLevels } from './type-levels.ts'

/** Why an update is refused that passed the check of its bytes: labels of `ws_message_errors_total`. */
export type DocumentFault = 'map_entry' | 'nesting'

/** The update that a part was cut from, and what the check found in it. */
export interface Whole {
  readonly update: Uint8Array
  readonly summary: UpdateSummary
}

export class DocumentCheck {
  readonly #stateOf: (client: number) => number
  readonly #isEntry: IsEntry
  readonly #levelOf: (client: number, clock: number) => number

  /** `stateOf`: the document's next clock of an author. */
  constructor(doc: Y.Doc, stateOf: (client: number) => number) {
    this.#stateOf = stateOf
    this.#levelOf = typeLevels(doc)
    this.#isEntry = (client, clock) => {
      if (clock >= stateOf(client)) return false
      const item = Y.getItem(doc.store, Y.createID(client, clock)) as Y.Item | Y.GC
      return item instanceof Y.Item && item.parentSub !== null
    }
  }

  /** What of a part the document does not have. The same bytes for nearly all. */
  newsOf(part: Uint8Array, { summary: { sections } }: Whole): Uint8Array {
    for (const { client, from } of sections) if (from < this.#stateOf(client)) return withoutKnown(part, this.#stateOf)
    return part
  }

  /** The part as it may be applied, or why it may not. It must not lean on anything that is not there. */
  judge(part: Uint8Array, whole: Whole): Uint8Array | DocumentFault {
    const { summary } = whole
    let fit: Uint8Array | null = part
    if (this.#mayHaveLongEntries(summary)) {
      fit = deleteLongEntries(part, this.#isEntry, () => new DeletedClocks(whole.update, summary.deleteSetAt))
      if (fit === null) return 'map_entry'
    }
    return summary.types > 0 && typeDepth(fit, this.#levelOf) > MAX_TYPE_DEPTH ? 'nesting' : fit
  }

  #mayHaveLongEntries({ longEntries, followed }: UpdateSummary): boolean {
    if (longEntries !== 'if_followed_is') return longEntries === 'maybe'
    for (let i = 0; i < followed.length; i += 2) {
      const [client, clock] = [followed[i]!, followed[i + 1]!]
      // What is not there comes with the update itself.
      if (clock >= this.#stateOf(client) || this.#isEntry(client, clock)) return true
    }
    return false
  }
}
