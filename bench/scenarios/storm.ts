/**
 * A lesson begins: 200 clients that have nothing join a board of 1 MB at once. When has the last one all of it, and what do
 * two people in another room notice?
 */
import * as Y from 'yjs'
import { makeBoard } from '../load/board.ts'
import { difference } from '../load/full-client.ts'
import { Ledger } from '../load/ledger.ts'
import { LoadClient } from '../load/load-client.ts'
import { Probe } from '../load/probe.ts'
import { Tally } from '../load/tally.ts'
import { sleep, until } from '../load/waiting.ts'
import { CpuWindow, type Scenario } from './scenario.ts'
import { seed } from './seeding.ts'

const JOINERS = 200
const BOARD_BYTES = 1024 * 1024
const BOARD_AUTHORS = 5
const ROOM = 'storm'
const QUIET_MS = 2000
/** The joiners' deadline. */
const TIMEOUT_MS = 60_000

export const storm: Scenario = {
  name: 'storm',
  about: '200 cold joins of a 1 MB board at once, and two people drawing in another room',
  deadlineMs: 150_000,
  leaveOut: { relay: 'a relay keeps no board' },
  run: async (context) => {
    const board = makeBoard(BOARD_BYTES, BOARD_AUTHORS)
    const server = await context.startServer()
    const bringer = context.use(await seed(server, ROOM, board.updates))
    const probe = context.use(await Probe.start(server.address))
    await sleep(500)
    await probe.clear()
    await sleep(QUIET_MS)
    const quiet = await probe.read()
    await probe.clear()

    const tally = new Tally()
    const ledger = new Ledger(board.scripts, JOINERS, tally, true)
    for (const author of board.scripts.keys()) ledger.editSent(author, performance.now())
    const startedAt = performance.now()
    const cpu = new CpuWindow(server, context.conditions.cores)
    const clients = Array.from({ length: JOINERS }, (_, index) => {
      const doc = index === 0 ? new Y.Doc() : null
      const { address } = server
      return context.use(
        new LoadClient({
          address,
          room: ROOM,
          index,
          script: null,
          ledger,
          tally,
          echoes: false,
          hasPresence: false,
          doc,
        }),
      )
    })
    const isDone = (client: LoadClient, index: number): boolean => client.isJoined && ledger.isComplete(index)
    const allIn = await until(TIMEOUT_MS, () => clients.every(isDone))
    const { cpuMs, loadShare, foreignShare } = cpu.end()
    const stalled = await probe.read()
    const times = clients.map(({ joinedAt }) => joinedAt - startedAt).sort((a, b) => a - b)
    const bytesOut = clients.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    const differs = allIn ? difference(bringer.doc, clients[0]!.doc!) : null
    const closed = clients.filter(({ closedWith }) => closedWith !== null).length
    const notes = [`${Math.round(cpuMs)} ms of server CPU, ${(bytesOut / 1e6).toFixed(0)} MB out`]
    if (closed > 0) notes.push(`${closed} joiners were closed`)
    if (differs !== null) notes.push(differs)
    return [
      context.measurement(
        '',
        !allIn ? 'overloaded' : differs === null ? 'ok' : 'FAILED',
        {
          clients: JOINERS,
          allSyncedMs: times.at(-1)!,
          medianSyncedMs: times[JOINERS / 2]!,
          worstStallMs: stalled.max,
          quietStallMs: quiet.max,
          rssBytes: server.residentBytes(),
          loadShare,
          foreignShare,
        },
        notes,
      ),
    ]
  },
}
