/**
 * Every figure the server keeps. The rest of the code adds to these; /metrics reads them (metrics-text). Gauges that can
 * be asked for when they are wanted are functions, set by the composition root.
 */
import { Counter, Histogram, LabelledCounter, RecentMax } from './counters.ts'

/** What a frame is about, in either direction. */
export const MESSAGE_TYPES = ['sync', 'presence', 'control'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

/** Why a resync was needed. `out`: the server owed a client a diff. `in`: the server asked a client for what it missed. */
export const RESYNC_CAUSES = [
  'queue_full', 'refused', 'large_update', 'degraded', 'rate_limited', 'gap', 'load_overflow',
  'intake_full', 'rebuilt', 'client_id',
] as const // biome-ignore format: one line reads better
export type ResyncCause = (typeof RESYNC_CAUSES)[number]

/** Close codes that have a label of their own; everything else is `other`. */
export const CLOSE_CODES = [
  '1000', '1001', '1005', '1006', '1011', '1012', '1013', '4400', '4401', '4403', '4409', '4410', '4413', '4422', 'other',
] as const // biome-ignore format: one line reads better
export type CloseCode = (typeof CLOSE_CODES)[number]

/**
 * Where a call into Yjs threw, so that the room's document had to be rebuilt. `apply`: updates of members. `remote`: those of
 * other nodes. `load`: a stored record. `emit`: what a flush is to send. `flush`: the rest of it. `answer`: what a client lacks. `vector`: the server's
 * SyncStep1, or a look at one. `measure`, `compact`, `export`: reading all of it.
 */
export const BREAK_SITES = [
  'apply', 'remote', 'load', 'emit', 'flush', 'answer', 'vector', 'measure', 'compact', 'export',
] as const // biome-ignore format: one line reads better
export type BreakSite = (typeof BREAK_SITES)[number]

/**
 * What the loop's time goes to. `flush`: applying updates and sending what came of them. `drain`: answers and backlogs. `load`:
 * boards from the store, and their compaction. `measure`: how large boards are.
 */
export const LOOP_WORK = ['flush', 'drain', 'load', 'measure'] as const
export type LoopWork = (typeof LOOP_WORK)[number]

/**
 * Where something was caught that nobody expected: in a timer's, an immediate's or a socket's callback, a promise nobody waits
 * for, an HTTP handler; `client`, `room`: that client was closed for it, that room went on without.
 */
export const CAUGHT_AT = ['timer', 'immediate', 'promise', 'socket', 'http', 'client', 'room', 'job'] as const
export type CaughtAt = (typeof CAUGHT_AT)[number]

/** How somebody was refused at the upgrade: with a close frame after it, or before it with an HTTP status. */
export const REFUSAL_ANSWERS = ['close_frame', 'http'] as const

/** What the server holds for anybody, by kind: a closed set, the label of `memory_held_bytes`. */
export const MEMORY_KINDS = [
  /** Sent, and not taken by the kernel yet: frames and pongs in the socket library's buffers. */
  'sockets',
  /** Frames held for clients that are behind, and what describes what they are owed. */
  'queues',
  /** Frames that came before their client was in its room, or that a budget put off. */
  'backlogs',
  /** Updates that were received and are not in their document yet. */
  'intake',
  /** Parts of updates that wait for a predecessor. */
  'parked',
  /** HTTP answers that nobody has read yet. */
  'answers',
  'presence',
  /** Documents, estimated from their bytes and structs. */
  'documents',
  /** Parts already written, shared by those who load a board. */
  'caches',
  /** Updates that storage has not got yet. */
  'unsaved',
] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** What is let go when memory is short: rooms that nobody is in, clients that do not keep up, the largest rooms. */
export const SHED_KINDS = ['idle_room', 'client', 'room'] as const
export type ShedKind = (typeof SHED_KINDS)[number]

/** Why a room was not brought into memory, or made way for another: its owner's share, or `MAX_ROOMS`. */
export const ROOM_LIMITS = ['share', 'full'] as const
export type RoomLimit = (typeof ROOM_LIMITS)[number]

export const EVICTION_REASONS = ['buffer_limit', 'congested'] as const
export type EvictionReason = (typeof EVICTION_REASONS)[number]

/** Why a presence entry was not taken. */
export const PRESENCE_REFUSALS = [
  'not_owner', 'too_many_ids', 'room_full', 'count', 'state_size', 'clock', 'nesting',
] as const // biome-ignore format: one line reads better

/** What became of edits whose author was gone before it was in its room. */
export const LATE_OUTCOMES = ['written', 'refused', 'no_room'] as const

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly messagesReceived = new LabelledCounter([...MESSAGE_TYPES, 'malformed', 'text', 'ping', 'pong'] as const)
  readonly messagesSent = new LabelledCounter(MESSAGE_TYPES)
  readonly messagesDropped = new LabelledCounter(MESSAGE_TYPES)
  readonly backpressureDrops = new Counter()
  readonly clientsDropped = new LabelledCounter(EVICTION_REASONS)
  readonly rateLimited = new Counter()
  readonly presenceEchoes = new Counter()
  readonly presenceSuperseded = new Counter()
  readonly presenceRefused = new LabelledCounter(PRESENCE_REFUSALS)
  readonly floods = new LabelledCounter(['connection', 'address'] as const)
  readonly lateWrites = new LabelledCounter(LATE_OUTCOMES)
  readonly messageErrors: LabelledCounter<string>
  readonly resyncsOut = new LabelledCounter(RESYNC_CAUSES)
  readonly resyncsIn = new LabelledCounter(RESYNC_CAUSES)
  readonly errorsCaught = new LabelledCounter(CAUGHT_AT)
  readonly roomsRebuilt = new LabelledCounter(BREAK_SITES)
  readonly roomsGivenUp = new Counter()
  readonly closes = new LabelledCounter(CLOSE_CODES)
  readonly memoryShed = new LabelledCounter(SHED_KINDS)
  readonly longMessagesCut = new Counter()
  readonly roomsRefused = new LabelledCounter(ROOM_LIMITS)
  readonly roomsMadeWay = new LabelledCounter(ROOM_LIMITS)
  readonly refusals = new LabelledCounter(REFUSAL_ANSWERS)
  readonly splitTexts = new Counter()
  readonly queueDepthMax = new RecentMax()
  readonly deliveryDelay = new Histogram(FAST_SECONDS)
  readonly roomUpdates = new LabelledCounter(['relayed', 'gathered'] as const)
  readonly roomFlush = new Histogram(FAST_SECONDS)
  readonly loopWork = new LabelledCounter(LOOP_WORK)
  readonly loopPostponed = new LabelledCounter(LOOP_WORK)
  readonly loopTurn = new Histogram(FAST_SECONDS)
  readonly loopShare = new LabelledCounter(['slowed', 'closed'] as const)
  readonly bytesReceived = new Counter()
  readonly bytesSent = new Counter()

  /** Bytes held for anybody, by kind, as of the last sweep. */
  memoryHeld: Readonly<Record<MemoryKind, number>> = new LabelledCounter(MEMORY_KINDS).values
  /** Bytes held for all clients, socket and queue, as of the last sweep (`WS_BUFFER_SWEEP_INTERVAL_MS`). */
  bufferedBytes = 0
  activeSockets: () => number = () => 0
  roomsActive: () => number = () => 0
  /** Age of the oldest frame that any client has not taken yet, seconds. */
  oldestUnsentSeconds: () => number = () => 0
  /** Sockets that were ended and may still hold their descriptor. */
  lingeringSockets: () => number = () => 0
  /** Open files and sockets of this process; null where the system does not say. */
  openDescriptors: () => number | null = () => null
  eventLoopLagSeconds: () => number = () => 0
  /** Of the loop's time, how much was worked lately, 0 to 1. */
  eventLoopUtilisation: () => number = () => 0
  /** Log lines that could not be written. */
  logLinesDropped: () => number = () => 0
  /** Log lines that were one too many of their kind. */
  logLinesLeftOut: () => number = () => 0
  /** Resident memory, bytes. */
  residentBytes: () => number = () => 0

  constructor(messageErrorReasons: readonly string[]) {
    this.messageErrors = new LabelledCounter(messageErrorReasons)
  }

  /** Counts a close under its own label where it has one. */
  countClose(code: number): void {
    const label = String(code)
    this.closes.add(label in this.closes.values ? (label as CloseCode) : 'other')
  }
}
