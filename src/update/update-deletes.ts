import type * as Y from 'yjs'
import { readVarUint, varUintEnd } from '../protocol/varuint.ts'

/** What `transaction.deleteSet` is; yjs does not export the class. */
type DeleteSet = Y.Transaction['deleteSet']
type Ranges = DeleteSet['clients'] extends Map<number, infer R> ? R : never

const NOTHING = { clients: new Map() } as DeleteSet

/** What a checked V1 update deletes. `at`: where its delete set begins. The result is not to be changed. */
export function deletesOf(update: Uint8Array, at: number): DeleteSet {
  const authors = readVarUint(update, at)
  if (authors <= 0) return NOTHING
  const clients = new Map<number, Ranges>()
  for (let left = authors; left > 0; left--) {
    const client = readVarUint(update, varUintEnd())
    const count = readVarUint(update, varUintEnd())
    const ranges = clients.get(client) ?? ([] as unknown as Ranges)
    for (let i = 0; i < count; i++) {
      const clock = readVarUint(update, varUintEnd())
      ranges.push({ clock, len: readVarUint(update, varUintEnd()) })
    }
    if (ranges.length > 0) clients.set(client, ranges)
  }
  return { clients } as DeleteSet
}
