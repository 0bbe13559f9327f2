/** Gauges: figures that are looked up when they are wanted, and two that take a walk over all clients and are swept. */
import { countDescriptors } from '../budget/descriptor-limit.ts'
import type { Lingering } from '../budget/lingering.ts'
import type { Reception } from '../inbound/reception.ts'
import { every } from '../observe/clock.ts'
import { type MemoryOwners, memoryFigures } from './memory.ts'

/** Sets them all. Returns what ends the sweep. `sweepMs`: `WS_BUFFER_SWEEP_INTERVAL_MS`. */
export function hangGauges(owners: MemoryOwners, lingering: Lingering, sweepMs: number): () => void {
  const { clock, metrics, watch, registry, reception } = owners
  metrics.activeSockets = () => reception.sessions.size
  metrics.lingeringSockets = () => lingering.total
  metrics.openDescriptors = countDescriptors
  metrics.roomsActive = () => registry.size
  metrics.residentBytes = () => watch.residentBytes
  metrics.eventLoopLagSeconds = () => watch.lagSeconds
  metrics.eventLoopUtilisation = () => registry.loopUtilisation
  metrics.oldestUnsentSeconds = () => oldestUnsent(reception, clock.now())
  return every(clock, sweepMs, () => {
    metrics.memoryHeld = memoryFigures(owners)
    metrics.bufferedBytes = bufferedBytes(reception)
  })
}

function bufferedBytes(reception: Reception): number {
  let bytes = 0
  for (const session of reception.sessions) {
    try {
      bytes += session.outbox?.heldBytes ?? 0
    } catch (error) {
      session.failed(error)
    }
  }
  return bytes
}

function oldestUnsent(reception: Reception, now: number): number {
  let oldest = now
  for (const { outbox } of reception.sessions) oldest = Math.min(oldest, outbox?.oldestUnsentAt ?? now)
  return (now - oldest) / 1000
}
