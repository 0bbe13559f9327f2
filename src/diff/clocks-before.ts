import type * as Y from 'yjs'
import type { StateVector } from './diff-cursor.ts'

/** Of the authors whose structs a transaction brought, and of no others, the clocks before it. */
export function clocksBefore({ beforeState, afterState }: Y.Transaction): StateVector {
  const clocks = new Map<number, number>()
  for (const [client, clock] of afterState) {
    const before = beforeState.get(client) ?? 0
    if (before !== clock) clocks.set(client, before)
  }
  return clocks
}
