import * as Y from 'yjs'
import type { DeleteSet } from './owed-deletes.ts'

/**
 * Deletions a transaction brought without naming them: structs that arrive already collected are deleted, but stand neither in
 * its delete set nor in the update it emits. A client that still has their content (its own, written while it was away)
 * depends on being told, or it keeps what everybody else has lost. Null when there are none, which is nearly always.
 */
export function collectedIn(transaction: Y.Transaction): DeleteSet | null {
  let collected: DeleteSet | null = null
  for (const [client, clock] of transaction.afterState) {
    const before = transaction.beforeState.get(client) ?? 0
    if (before === clock) continue
    const structs = transaction.doc.store.clients.get(client)!
    for (let i = Y.findIndexSS(structs, before); i < structs.length; i++) {
      const struct = structs[i]!
      if (!(struct instanceof Y.GC)) continue
      collected ??= Y.createDeleteSet()
      const start = Math.max(before, struct.id.clock)
      const range = { clock: start, len: struct.id.clock + struct.length - start }
      const ranges = collected.clients.get(client)
      if (ranges === undefined) collected.clients.set(client, [range as never])
      else ranges.push(range as never)
    }
  }
  return collected
}
