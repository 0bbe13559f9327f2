/**
 * What it takes to delete a range of clocks of a document, which its length does not tell: a range of 2^40 may be a single
 * collected struct, one clock a list of thousands, and where a struct is split all of its author's behind it move.
 */
import * as Y from 'yjs'
import type { DeleteGuide } from '../update/update-slices.ts'

/** An author's structs that move in the time that one takes to be deleted, twice: a range is split off at both ends. */
const MOVED_STRUCTS = 512
/** A struct that is deleted already is only looked at. */
const DELETED_COST = 1 / 16

export class DeleteCosts implements DeleteGuide {
  readonly #doc: () => Y.Doc

  constructor(doc: () => Y.Doc) {
    this.#doc = doc
  }

  /** What a range of this author costs beside the structs in it, in structs. */
  ofRange(client: number): number {
    return 1 + (this.#doc().store.clients.get(client)?.length ?? 0) / MOVED_STRUCTS
  }

  reach(client: number, clock: number, end: number, budget: number): { readonly to: number; readonly cost: number } {
    let cost = this.ofRange(client)
    const { store } = this.#doc()
    const structs = store.clients.get(client)
    if (structs === undefined || clock >= Y.getState(store, client)) return { to: end, cost }
    for (let i = Y.findIndexSS(structs, clock); i < structs.length; i++) {
      const struct = structs[i]!
      if (struct.id.clock >= end) break
      // Always one, whatever it costs.
      if (cost > budget && struct.id.clock > clock) return { to: struct.id.clock, cost }
      cost += struct.deleted ? DELETED_COST : 1 + childrenOf(struct, budget)
    }
    return { to: end, cost }
  }
}

/** What a struct holds that is deleted with it; no more than `most` are counted. */
function childrenOf(struct: Y.Item | Y.GC, most: number): number {
  if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) return 0
  const open: (Y.Item | null)[] = [...firstsOf(struct.content)]
  let count = 0
  for (let item = open.pop(); item !== undefined && count < most; item = open.pop()) {
    for (let next = item; next !== null && count < most; next = next.right) {
      count++
      if (!next.deleted && next.content instanceof Y.ContentType) open.push(...firstsOf(next.content))
    }
  }
  return count
}

function firstsOf({ type }: Y.ContentType): (Y.Item | null)[] {
  return [type._start, ...(type._map as Map<string, Y.Item>).values()].filter((item) => item !== null)
}
