/**
 * What an update has to be beyond its bytes, seen from the document it is about to go into. Asked right before it is applied,
 * whatever was asked before: what a part says about others means nothing until they are there.
 */
import * as Y from 'yjs'
import { withoutKnown } from '../update/known-structs.ts'
import { DeletedClocks, judgePlaces, type KnownPlaces, type Parent, type PlaceFault } from '../update/struct-places.ts'
import { MAX_TYPE_DEPTH, typeDepth } from '../update/type-nesting.ts'
import type { UpdateSummary } from '../update/update-check.ts'
import { typeLevels } from './type-levels.ts'

/** Why an update is refused that passed the check of its bytes: labels of `ws_message_errors_total`. */
export type DocumentFault = PlaceFault | 'nesting'

/** The update that a part was cut from, and what the check found in it. */
export interface Whole {
  readonly update: Uint8Array
  readonly summary: UpdateSummary
}

export class DocumentCheck implements KnownPlaces {
  readonly #doc: Y.Doc
  readonly #stateOf: (client: number) => number
  readonly #levelOf: (client: number, clock: number) => number
  /** Of the update whose parts were judged last, which may be many: what it deletes. */
  #deleted: { readonly update: Uint8Array; readonly clocks: DeletedClocks } | null = null

  /** `stateOf`: the document's next clock of an author. */
  constructor(doc: Y.Doc, stateOf: (client: number) => number) {
    this.#doc = doc
    this.#stateOf = stateOf
    this.#levelOf = typeLevels(doc)
  }

  /** What of a part the document does not have. The same bytes for nearly all. */
  newsOf(part: Uint8Array, { update, summary: { sections } }: Whole): Uint8Array {
    // One of many parts: what the whole says of thousands of authors is not gone through for each.
    if (part !== update && part.length < update.length) return withoutKnown(part, this.#stateOf)
    for (const { client, from } of sections) if (from < this.#stateOf(client)) return withoutKnown(part, this.#stateOf)
    return part
  }

  /**
   * The part as it may be applied, or why it may not. It must not lean on anything that is not there. `isNews`: what was known
   * was left out of it, so that the summary does not tell where it begins.
   */
  judge(part: Uint8Array, whole: Whole, isNews: boolean): Uint8Array | DocumentFault {
    const { summary } = whole
    let fit: Uint8Array | DocumentFault = part
    if (isNews || !this.isPlacedWell(summary)) {
      fit = judgePlaces(part, this, () => this.#deletedIn(whole))
      if (typeof fit === 'string') return fit
    }
    return this.isTooDeep(fit, summary) ? 'nesting' : fit
  }

  /** Whether types would nest too deeply with it. Linear. */
  isTooDeep(part: Uint8Array, { types }: UpdateSummary): boolean {
    return types > 0 && typeDepth(part, this.#levelOf) > MAX_TYPE_DEPTH
  }

  #deletedIn({ update, summary }: Whole): DeletedClocks {
    if (this.#deleted?.update !== update) {
      this.#deleted = { update, clocks: new DeletedClocks(update, summary.deleteSetAt) }
    }
    return this.#deleted.clocks
  }
  structAt(client: number, clock: number): Y.Item | null {
    const structs = this.#doc.store.clients.get(client)
    if (structs === undefined) return null
    const last = structs[structs.length - 1]!
    if (clock >= last.id.clock + last.length) return null
    const struct = structs[Y.findIndexSS(structs, clock)]
    return struct instanceof Y.Item ? struct : null
  }
  typeAt(client: number, clock: number): Parent | null {
    const content = this.structAt(client, clock)?.content
    return content instanceof Y.ContentType ? content.type : null
  }
  root(name: string): Parent {
    return this.#doc.share.get(name) ?? name
  }

  /**
   * False: the structs themselves have to be looked at. `isKeyed`: of a struct that is on its way into the document, whether it is an
   * entry of a map; undefined when that is not known.
   */
  isPlacedWell(
    { places, neighbours }: UpdateSummary,
    isKeyed?: (client: number, clock: number) => boolean | undefined,
  ): boolean {
    if (places !== 'if_neighbours') return places === 'fine'
    for (let i = 0; i < neighbours.length; i += 5) {
      const [client, clock, rightClient, rightClock] = [
        neighbours[i]!,
        neighbours[i + 1]!,
        neighbours[i + 2]!,
        neighbours[i + 3]!,
      ]
      const left = client < 0 ? undefined : this.structAt(client, clock)
      const right = rightClient < 0 ? undefined : this.structAt(rightClient, rightClock)
      if (left === null && right === undefined && isKeyed?.(client, clock) === false) continue
      // What is not there comes with the update itself, or is collected.
      if (left === null || right === null) return false
      if (right !== undefined && right.parentSub !== null) return false
      if (left === undefined) continue
      if (right !== undefined && left.parent !== right.parent) return false
      if (left.parentSub !== null && (right !== undefined || neighbours[i + 4] === 1)) return false
    }
    return true
  }
}
