/**
 * What to do with the next frame for one client, as a function of numbers: no socket, no timer. The order of the checks is
 * the promise (FC6).
 */

/** Limits of one client's way out. Bytes and milliseconds; defaults and their reasons are in config. */
export interface FlowLimits {
  /** Soft mark: above it the socket is congested and frames are held. At most half of `hardBytes`. */
  readonly softBytes: number
  /** Hard mark: at it the client is evicted. */
  readonly hardBytes: number
  /** Most frames held for a congested client. */
  readonly maxQueued: number
  /** Longest time without 64 KiB, or everything, draining. 0: no age eviction. */
  readonly maxCongestedMs: number
}

/** One client's backlog as the outbox sees it. */
export interface Backlog {
  /** Bytes below us: accepted by the socket and not taken by the kernel yet. */
  readonly socketBytes: number
  /** Bytes of the held frames. */
  readonly queuedBytes: number
  readonly queuedFrames: number
  /** Bytes of the frame in question; 0 when only looking. */
  readonly frameBytes: number
  /** Time since the congestion clock started; 0 when not congested. */
  readonly congestedMs: number
  /** Whether a single frame that could not be cut is still draining: it alone may be over the hard mark. */
  readonly uncuttableDraining: boolean
}

export type FlowStep = 'send' | 'hold' | 'fold' | 'evict_bytes' | 'evict_age'

/** Largest frame sent live. A longer update goes out as a diff in parts, paced by the drain (FC1). */
export const MAX_LIVE_FRAME_BYTES = 65_536

/**
 * `send`: hand it to the socket. `hold`: queue it. `fold`: it does not fit, drop the queue and owe one diff. `evict_…`: this
 * client cannot keep up at all.
 */
export function decide(backlog: Backlog, limits: FlowLimits): FlowStep {
  const held = backlog.socketBytes + backlog.queuedBytes
  if (held >= limits.hardBytes && !backlog.uncuttableDraining) return 'evict_bytes'
  if (limits.maxCongestedMs > 0 && backlog.congestedMs >= limits.maxCongestedMs) return 'evict_age'
  const fits = held + backlog.frameBytes < limits.hardBytes && backlog.frameBytes <= MAX_LIVE_FRAME_BYTES
  const congested = backlog.socketBytes > limits.softBytes || backlog.queuedFrames > 0
  if (!congested) return fits ? 'send' : 'fold'
  const room =
    backlog.queuedFrames < limits.maxQueued &&
    backlog.queuedBytes + backlog.frameBytes <= limits.hardBytes - limits.softBytes
  return room && fits ? 'hold' : 'fold'
}

/** The soft mark as it is used: never above half of the hard one, so that there is room to hold anything. */
export const clampSoft = (softBytes: number, hardBytes: number): number =>
  Math.min(softBytes, Math.floor(hardBytes / 2))

/**
 * Size of the parts of a diff: 64 KiB, and less under a low soft mark, so that two parts fit under it and one never reaches
 * the hard mark.
 */
export const partBytes = (limits: FlowLimits): number =>
  Math.max(1024, Math.min(MAX_LIVE_FRAME_BYTES, Math.floor(limits.softBytes / 2)))
