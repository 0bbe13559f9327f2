/** What every client's session is made of: its way in with all budgets, its way out, and what is remembered of it. */
import type { Authorizer } from '../access/authorizer.ts'
import type { FrameFlood } from '../inbound/frame-flood.ts'
import { KeptBudgets } from '../inbound/kept-budgets.ts'
import type { LateWrites } from '../inbound/late-writes.ts'
import { Oversized } from '../inbound/oversized.ts'
import { Rates } from '../inbound/rate-limiter.ts'
import { SecondChances } from '../inbound/second-chances.ts'
import type { SessionDeps } from '../inbound/session.ts'
import { EveryTenth } from '../observe/every-tenth.ts'
import { clampSoft } from '../outbound/flow-policy.ts'
import type { OutboxSettings } from '../outbound/outbox.ts'
import type { RoomRegistry } from '../room/room-registry.ts'
import type { Config } from '../settings/settings.ts'
import type { Foundation } from './foundation.ts'

/** Entries in one presence frame: an echo of a join in a room of thousands still passes. */
const MAX_PRESENCE_ENTRIES = 4096

export interface SessionSurroundings {
  readonly registry: RoomRegistry
  readonly authorizer: Authorizer
  readonly late: LateWrites
  readonly flood: FrameFlood
  /** Whether little memory is left. */
  readonly isMemoryTight: () => boolean
}

export function sessionParts(config: Config, base: Foundation, around: SessionSurroundings): SessionDeps {
  const { clock, wallClock, log, metrics, shares, scheduler } = base
  const { registry, authorizer, late, flood, isMemoryTight } = around
  return {
    settings: { maxMessageBytes: config.maxMessageBytes },
    clock,
    wallClock,
    log,
    metrics,
    shares,
    registry,
    late,
    flood,
    floods: new EveryTenth(),
    refusals: new EveryTenth(),
    malformed: new EveryTenth(),
    holds: (grant) => authorizer.holds(grant),
    rates: documentRates(config, clock.now),
    conversation: {
      clock,
      metrics,
      shares,
      isMemoryTight,
      presenceLimits: { maxStateBytes: config.maxPresenceBytes, maxEntries: MAX_PRESENCE_ENTRIES },
      presenceRates: presenceRates(config, clock.now),
    },
    outbox: { settings: outboxSettings(config), clock, scheduler, metrics },
    reputation: {
      clock,
      budgets: new KeptBudgets(),
      oversized: new Oversized(clock),
      chances: new SecondChances(
        {
          evictions: config.evictionsBeforeDegraded,
          windowMs: config.evictionWindowMs,
          intervalMs: config.degradedIntervalMs,
        },
        clock,
      ),
    },
  }
}

function documentRates(config: Config, now: () => number): Rates {
  const { rateLimitMaxTokens: maxTokens, rateLimitRefillWindowMs: refillMs } = config
  // A full budget has enough for any message.
  return new Rates(
    { maxTokens, refillMs, burstBytes: config.maxMessageBytes, bytesPerSecond: config.inboundBytesPerSecond },
    now,
  )
}

function presenceRates(config: Config, now: () => number): Rates {
  const { presencePerSecond: maxTokens, presenceBytesPerSecond: bytesPerSecond } = config
  return new Rates({ maxTokens, refillMs: 1000, burstBytes: bytesPerSecond, bytesPerSecond }, now)
}

function outboxSettings(config: Config): OutboxSettings {
  const hardBytes = config.maxBufferedBytes
  return {
    softBytes: clampSoft(config.slowClientBufferBytes, hardBytes),
    hardBytes,
    maxQueued: config.maxQueuedMessages,
    maxCongestedMs: config.maxCongestedMs,
    drainBatch: config.drainBatchSize,
    closeGraceMs: config.closeGraceMs,
    wholeTextBytes: config.maxWholeTextBytes,
    presenceIntervalMs: config.awarenessFlushIntervalMs,
  }
}
