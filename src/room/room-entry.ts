/** A room in memory as the registry sees it, and which one makes way when there is no place for another. */
import type { RoomShares } from '../budget/room-shares.ts'
import type { Keeper } from '../keeping/keeper.ts'
import type { Room } from './room.ts'

export interface RoomEntry {
  /** Who brought it in; null: the server itself. */
  readonly owner: string | null
  /** Whether it counts as one of its owner's. */
  counts: boolean
  /** When its last member left, clock ms. */
  idleSince: number
  readonly room: Room
  readonly keeper: Keeper
  readonly loaded: Promise<void>
  /** Set while the room leaves memory; a join waits for it and starts anew. */
  leaving: Promise<void> | null
  /** Sessions that wait for the load and will join. */
  expected: number
  cancelIdle: (() => void) | null
}

/** Whether nobody is in the room or about to come in. */
export const isIdle = ({ room, expected }: RoomEntry): boolean => expected === 0 && room.members.size === 0

/** Whether a room has nothing in it that would be stored. */
const isBlank = ({ room }: RoomEntry): boolean => room.doc.store.clients.size === 0 && room.rebuilding === null

const canLeaveNow = (entry: RoomEntry): boolean =>
  entry.leaving === null && isIdle(entry) && entry.room.isSettled && entry.keeper.unsavedBytes === 0

/** The longest idle of `owner`’s rooms, or of all (null); those that store nothing before all others. */
export function longestIdle(entries: Iterable<RoomEntry>, owner: string | null): RoomEntry | null {
  let found: RoomEntry | null = null
  let least = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    if (!entry.counts || (owner !== null && entry.owner !== owner) || !canLeaveNow(entry)) continue
    const rank = entry.idleSince + (isBlank(entry) ? 0 : Number.MAX_SAFE_INTEGER / 2)
    if (rank < least) [found, least] = [entry, rank]
  }
  return found
}

/** An occupied room with nothing in it, of the owner with most rooms. */
export function occupiedBlank(entries: Iterable<RoomEntry>, shares: RoomShares): RoomEntry | null {
  let found: RoomEntry | null = null
  let most = 0
  for (const entry of entries) {
    const { owner } = entry
    if (!entry.counts || entry.leaving !== null || entry.expected > 0 || owner === null || !isBlank(entry)) continue
    const rooms = shares.of(owner)
    if (rooms > most) [found, most] = [entry, rooms]
  }
  return found
}
