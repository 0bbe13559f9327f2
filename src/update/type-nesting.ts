/**
 * How deep the shared types of an update nest. Yjs deletes recursively and tells every type above a changed one: an array in
 * an array in an array, 5 000 deep (30 KB), makes a change in each of them cost 1 s and 10 000 deep 8 s; when the outermost
 * is deleted, the stack overflows, and from then on nobody can load the board.
 */
import { CausalOrder } from './causal-order.ts'
import { StructIndex } from './struct-index.ts'
import { KIND } from './struct-walk.ts'

/**
 * Types inside each other, a root's children being 1 deep. Rich text with lists in lists takes two levels for each: boards
 * and documents stay below 30.
 */
export const MAX_TYPE_DEPTH = 100

/** Levels are kept in a byte each: beyond it, deep is deep. */
const DEEPEST = 255

/**
 * The depth of the deepest shared type that an update makes, 0 when it makes none and at most 255. `levelOf` tells of a
 * struct that the document has how many shared types it lies in, roots not counted (0 when it is not known). Linear; the
 * room can spare itself the walk while its deepest type plus the summary's `types` stays under the limit. Bytes that
 * checkUpdate would refuse: 0.
 */
export function typeDepth(bytes: Uint8Array, levelOf: (client: number, clock: number) => number): number {
  const index = new StructIndex(bytes)
  index.fill(Number.POSITIVE_INFINITY)
  if (index.deleteSetAt < 0) return 0
  const order = new CausalOrder(index)
  const { walk } = order
  const levels = new Uint8Array(index.firsts.at(-1)!)
  const levelAt = (client: number, clock: number): number => {
    const section = index.sectionOf(client)
    const first = section < 0 ? 0 : index.firsts[section]!
    if (section < 0 || clock < index.clock(first) || clock >= index.clockEnds[section]!) return levelOf(client, clock)
    const struct = index.structAt(section, clock, first)
    return index.isSkip(struct) ? levelOf(client, clock) : levels[struct]!
  }
  let deepest = 0
  for (let section = order.ready(); section >= 0; section = order.ready()) {
    const struct = order.upcoming(section)
    let level = 0
    // As Yjs does: without a parent of its own a struct lies where its origin, or else its right origin, does.
    if (walk.parentClient >= 0) level = levelAt(walk.parentClient, walk.parentClock) + 1
    else if (walk.originClient >= 0) level = levelAt(walk.originClient, walk.originClock)
    else if (walk.rightClient >= 0) level = levelAt(walk.rightClient, walk.rightClock)
    levels[struct] = Math.min(level, DEEPEST)
    if (walk.kind === KIND.type) deepest = Math.max(deepest, Math.min(level + 1, DEEPEST))
    order.pass(section)
  }
  return deepest
}
