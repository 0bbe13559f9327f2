import * as Y from 'yjs'
import { FullClient } from '../load/full-client.ts'
import { until, within } from '../load/waiting.ts'
import type { RunningServer } from '../servers/running-server.ts'

const TIMEOUT_MS = 60_000

/** Brings a board into a room and waits until a newcomer gets it whole. The client that brought it stays. */
export async function seed(server: RunningServer, room: string, updates: readonly Uint8Array[]): Promise<FullClient> {
  const bringer = new FullClient(server.address, room)
  await within(TIMEOUT_MS, 'joining to bring a board', bringer.joined)
  for (const update of updates) Y.applyUpdate(bringer.doc, update)
  await arrived(server, room, bringer.doc)
  return bringer
}

async function arrived(server: RunningServer, room: string, doc: Y.Doc): Promise<void> {
  if (!server.kind.keepsBoards) return
  const wanted = Y.decodeStateVector(Y.encodeStateVector(doc))
  const newcomer = new FullClient(server.address, room)
  try {
    const isWhole = (): boolean => [...wanted].every(([id, clock]) => Y.getState(newcomer.doc.store, id) >= clock)
    if (!(await until(TIMEOUT_MS, isWhole))) throw new Error('the board that was brought did not arrive')
  } finally {
    newcomer.close()
  }
}
