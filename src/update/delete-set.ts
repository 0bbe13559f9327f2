import type * as Y from 'yjs'
import { StructWalk } from './struct-walk.ts'

/** What `transaction.deleteSet` is; yjs does not export the class. */
type DeleteSet = Y.Transaction['deleteSet']
type Ranges = DeleteSet['clients'] extends Map<number, infer R> ? R : never

const NOTHING = { clients: new Map() } as DeleteSet

/** One for all calls, which are not re-entrant: nearly every update that is looked at deletes nothing. */
const walk = new StructWalk()
const NO_BYTES = new Uint8Array(0)

/** What a checked V1 update deletes. `at`: where its delete set begins. The result is not to be changed. */
export function deleteSetOf(update: Uint8Array, at: number): DeleteSet {
  walk.begin(update)
  walk.pos = at
  const deletes = readDeletes(walk.deleteAuthors())
  // A walk that is kept for the next update must not keep this one alive.
  walk.bytes = NO_BYTES
  return deletes
}

function readDeletes(authors: number): DeleteSet {
  if (authors <= 0) return NOTHING
  const clients = new Map<number, Ranges>()
  for (let left = authors; left > 0 && walk.deleteAuthor(); left--) {
    const ranges = clients.get(walk.deleteClient) ?? ([] as unknown as Ranges)
    for (let count = walk.deleteCount; count > 0 && walk.deleteRange(); count--) {
      ranges.push({ clock: walk.deleteClock, len: walk.deleteLength })
    }
    if (ranges.length > 0) clients.set(walk.deleteClient, ranges)
  }
  return { clients } as DeleteSet
}
