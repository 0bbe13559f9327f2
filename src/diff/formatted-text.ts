/**
 * What a receiver must have of a formatted text before it tidies it.
 *   text ──one walk of its items──▶ clocks that go with its marks · deletions that go with them
 *
 * After a remote transaction Yjs goes through every text that got formatting marks in it, and round everything that was
 * deleted in a formatted one, and deletes the marks that say nothing new: overwritten before any content follows, or setting what is
 * set already. That is right only when the receiver
 * has *all* marks of the text, and something before the first and between any two wherever there is something. More is not
 * needed: which words stand there changes no mark's meaning.
 */
import * as Y from 'yjs'
import type { ParentType } from './root-types.ts'

/** A formatting mark that is not deleted. */
export const isMark = (struct: Y.Item | Y.GC): boolean =>
  struct instanceof Y.Item && struct.content instanceof Y.ContentFormat && !struct.deleted

/** Something deleted in a text that has, or had, marks. Yjs keeps the flag on any parent that a mark came into. */
export const isRemovedFromFormatted = (struct: Y.Item | Y.GC): boolean =>
  struct.deleted &&
  struct instanceof Y.Item &&
  (struct.parent as { _hasFormatting?: boolean } | null)?._hasFormatting === true

/** What the receiver has, as far as a text's needs depend on it. */
export interface Receiver {
  /** Clock below which it has an author's structs. */
  sentOf(client: number): number
  /** Clock up to which this item may be there undeleted, although it is deleted here; 0: it is known as deleted. */
  mayHaveLive(item: Y.Item): number
  /** Whether anything of this text may be there undeleted although it is deleted here. */
  mayLag(text: ParentType): boolean
}

export interface TextNeeds {
  /** Author and clock up to which its structs have to be there. */
  readonly until: ReadonlyMap<number, number>
  /** Deletions in this text that the receiver may not know of: author, clock, length. */
  readonly deletes: readonly (readonly [client: number, clock: number, length: number])[]
  /** Items looked at. */
  readonly items: number
}

/** Null when the text has more than `maxItems` items. */
export function needsOf(text: ParentType, receiver: Receiver, maxItems: number): TextNeeds | null {
  const until = new Map<number, number>()
  const deletes: [number, number, number][] = []
  const owe = (item: Y.Item, end: number): void => {
    const { client } = item.id
    if (end > receiver.sentOf(client) && end > (until.get(client) ?? 0)) until.set(client, end)
  }
  const { _item } = text
  const isThere = _item === null || _item.id.clock < receiver.sentOf(_item.id.client)
  let items = 0
  // Of what stands before a mark and after the one before: whether any is there, and if not, what is nearest to being sent.
  let hasContent = false
  let nearest: Y.Item | null = null
  let distance = 0
  for (let item = text._start; item !== null; item = item.right) {
    if (++items > maxItems) return null
    if (item.deleted) {
      const end = isThere ? receiver.mayHaveLive(item) : 0
      if (end > item.id.clock) deletes.push([item.id.client, item.id.clock, end - item.id.clock])
    } else if (isMark(item)) {
      if (!hasContent && nearest !== null) owe(nearest, nearest.id.clock + 1)
      owe(item, item.id.clock + 1)
      hasContent = false
      nearest = null
    } else if (!hasContent && item.countable) {
      const missing = item.id.clock - receiver.sentOf(item.id.client)
      if (missing < 0) hasContent = true
      else if (nearest === null || missing < distance) {
        nearest = item
        distance = missing
      }
    }
  }
  return { until, deletes, items }
}

/** Whether a document has formatting marks, found out when somebody asks, and from there on for what came since. */
export class MarkSearch {
  private readonly store: Y.Doc['store']
  private readonly searched = new Map<number, number>()
  private found = false

  constructor(store: Y.Doc['store']) {
    this.store = store
  }

  get any(): boolean {
    if (this.found) return true
    for (const [client, structs] of this.store.clients) if (this.searchAuthor(client, structs)) return true
    return false
  }

  private searchAuthor(client: number, structs: readonly (Y.Item | Y.GC)[]): boolean {
    const last = structs.at(-1)!
    const end = last.id.clock + last.length
    const from = this.searched.get(client) ?? 0
    if (from >= end) return false
    for (let i = Y.findIndexSS(structs as (Y.Item | Y.GC)[], from); i < structs.length; i++) {
      this.found ||= isMark(structs[i]!)
      if (this.found) break
    }
    this.searched.set(client, end)
    return this.found
  }
}
