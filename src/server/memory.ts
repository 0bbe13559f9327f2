/** The memory's ledger and its guard, connected to whoever holds any: rooms, clients, answers. */

import { type MemoryFigures, noFigures } from '../budget/memory-figures.ts'
import { MemoryGuard } from '../budget/memory-guard.ts'
import { garbageCollector, heapBytes } from '../budget/process-memory.ts'
import type { LateWrites } from '../inbound/late-writes.ts'
import type { Reception } from '../inbound/reception.ts'
import type { Clock } from '../observe/clock.ts'
import type { Log } from '../observe/lazy-log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { ProcessWatch } from '../observe/process-watch.ts'
import type { RoomRegistry } from '../room/room-registry.ts'

export interface MemoryOwners {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly watch: ProcessWatch
  readonly registry: RoomRegistry
  readonly reception: Reception
  readonly late: LateWrites
  readonly unreadAnswers: { readonly bytes: number }
  /** `MAX_MEMORY_BYTES` */
  readonly maxBytes: number
}

/** Bytes held for anybody, by kind. A walk over all clients and rooms. */
export function memoryFigures({ reception, registry, late, unreadAnswers }: MemoryOwners): MemoryFigures {
  const figures = noFigures()
  for (const session of reception.sessions) session.tally(figures)
  registry.tally(figures)
  figures.backlogs += late.heldBytes
  figures.answers = unreadAnswers.bytes
  return figures
}

export function guardMemory(owners: MemoryOwners): MemoryGuard {
  const { clock, log, metrics, watch, registry, reception, unreadAnswers, maxBytes } = owners
  // What the process takes before it serves anybody, V8's heap apart: its code, LMDB, the threads' stacks.
  const ownBytes = Math.max(0, watch.readResident() - heapBytes())
  return new MemoryGuard({
    clock,
    log,
    shed: metrics.memoryShed,
    maxBytes,
    resident: () => watch.readResident(),
    used: () => {
      let buffered = unreadAnswers.bytes
      for (const session of reception.sessions) buffered += session.bufferedBytes
      return ownBytes + heapBytes() + buffered
    },
    garbage: garbageCollector(),
    idleRooms: () => registry.holders(true),
    slowClients: () => [...reception.sessions].flatMap((session) => session.slowHolder() ?? []),
    rooms: () => registry.holders(false),
  })
}
