/**
 * Class with a fifth of the clients not reading. On loopback the kernel takes some 4 MB for a client before its server
 * notices, so 8 MB are drawn first: from then on every byte for a stalled client is the server's to hold, or not. The same
 * clients are silent in both runs; only in the second they stop reading.
 */
import * as Y from 'yjs'
import { makeBoard } from '../load/board.ts'
import { FullClient } from '../load/full-client.ts'
import { until, within } from '../load/waiting.ts'
import type { RunningServer } from '../servers/running-server.ts'
import { CLASS, NO_RELAY } from './drawing.ts'
import type { Context, Measurement, Scenario } from './scenario.ts'
import { steady, warm } from './steady.ts'

const MiB = 1024 * 1024
const STALLED = CLASS.members / 5
const FILL_BYTES = 8 * MiB
const FILL_TIMEOUT_MS = 30_000

export const stall: Scenario = {
  name: 'stall',
  about: 'class of 50 of whom 10 only listen, and the same with those 10 not reading',
  deadlineMs: 240_000,
  leaveOut: NO_RELAY,
  run: async (context) => [await one(context, 'all read', 0), await one(context, 'a fifth stalled', STALLED)],
}

async function one(context: Context, variant: string, stalled: number): Promise<Measurement> {
  const server = await context.startServer()
  await warm(context, server)
  const roomPrefix = 'stall-'
  let heldBytes = 0
  const row = await steady(context, server, {
    ...CLASS,
    variant,
    roomPrefix,
    silent: STALLED,
    prepare: async (crew) => {
      for (const client of crew.silent.slice(0, stalled)) client.pause()
      await fill(server, `${roomPrefix}0`, crew.witness.doc!)
    },
    look: async () => {
      heldBytes = Math.max(heldBytes, await mostHeld(server))
    },
    release: (crew) => {
      for (const client of crew.silent) client.resume()
    },
  })
  await server.stop()
  return server.kind.id === 'y-weir' ? { ...row, figures: { ...row.figures, heldBytes } } : row
}

/** Draws until every socket buffer of a client that does not read is full; resolves when the witness has it. */
async function fill(server: RunningServer, room: string, witness: Y.Doc): Promise<void> {
  const drawer = new FullClient(server.address, room)
  try {
    await within(FILL_TIMEOUT_MS, 'joining to fill the sockets', drawer.joined)
    for (const update of makeBoard(FILL_BYTES, 1).updates) Y.applyUpdate(drawer.doc, update)
    const wanted = Y.getState(drawer.doc.store, [...drawer.doc.store.clients.keys()][0]!)
    const author = [...drawer.doc.store.clients.keys()][0]!
    if (!(await until(FILL_TIMEOUT_MS, () => Y.getState(witness.store, author) >= wanted))) {
      throw new Error('the sockets could not be filled in time')
    }
  } finally {
    drawer.close()
  }
}

/** y-weir tells what it holds for each client. */
async function mostHeld(server: RunningServer): Promise<number> {
  if (server.kind.id !== 'y-weir') return 0
  const { clients } = JSON.parse(await server.get('/admin/clients')) as { clients: { heldBytes: number }[] }
  return Math.max(0, ...clients.map(({ heldBytes }) => heldBytes))
}
