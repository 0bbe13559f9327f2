/** What the admin pages ask of the server, gathered from the rooms, the sessions and the authorizer. */
import * as Y from 'yjs'
import type { Authorizer } from '../access/authorizer.ts'
import { concerns } from '../access/revocations.ts'
import type { AdminFacts } from '../http/admin.ts'
import type { Reception } from '../inbound/reception.ts'
import type { Clock } from '../observe/clock.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { boardAsJson } from '../room/board-json.ts'
import type { Room } from '../room/room.ts'
import type { RoomRegistry } from '../room/room-registry.ts'

export interface AdminParts {
  readonly reception: Reception
  readonly registry: RoomRegistry
  readonly authorizer: Authorizer
  readonly clock: Clock
  /** Epoch ms. */
  readonly wallClock: () => number
}

export function adminFacts({ reception, registry, authorizer, clock, wallClock }: AdminParts): AdminFacts {
  const sessionsOf = (room: string) => [...reception.sessions].filter((session) => session.roomName === room)
  /** Reads a board with its room in memory, loading it when it is not; null when there is nothing in it. */
  const read = async <T>(name: string, look: (doc: Y.Doc) => T): Promise<T | null> => {
    let board: Room | null = null
    let result: T | null = null
    await registry.join(name, (room) => {
      if (room.doc.store.clients.size === 0) return null
      board = room
      result = room.read('export', look)
      return null
    })
    if (board !== null && result === null) throw new Error('the board cannot be read, it is being rebuilt')
    return result
  }
  return {
    rooms: () =>
      [...registry.rooms()].map(({ name, members, presence, doc }) => ({
        room: name,
        members: members.size,
        presence: presence.size,
        authors: doc.store.clients.size,
      })),
    clients: (room, limit) => {
      const all = [...reception.sessions].filter((session) => room === null || session.roomName === room)
      return { rows: all.slice(0, limit).map((session) => session.describe(clock.now())), total: all.length }
    },
    boardAsUpdate: (name) => read(name, (doc) => Y.encodeStateAsUpdate(doc)),
    boardAsJson: (name) => read(name, (doc) => boardAsJson(doc)),
    closeRoom: (name) => {
      if (registry.get(name) === undefined) return null
      const sessions = sessionsOf(name)
      for (const session of sessions) session.end(CLOSE.restart)
      return sessions.length
    },
    deleteRoom: (name) => registry.delete(name),
    revoke: (what) => {
      const revocation = { ...what, before: wallClock() }
      authorizer.revoke(revocation)
      let ended = 0
      for (const session of reception.sessions) {
        // Asked directly too: without keys nothing is remembered, but the sessions end all the same.
        if (session.grant === null || (authorizer.holds(session.grant) && !concerns(revocation, session.grant)))
          continue
        session.end(CLOSE.noAccess)
        ended++
      }
      return ended
    },
  }
}
