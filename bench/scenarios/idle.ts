/** Clients that are there and do nothing: what a connection takes of the server's memory, in rooms of five. */
import { Crew, type CrewWork } from '../load/crew.ts'
import { sleep } from '../load/waiting.ts'
import { maxOpenFiles } from '../servers/process-figures.ts'
import type { Scenario } from './scenario.ts'

const ROOM_SIZE = 5
const ROOMS = 1000
const QUICK_ROOMS = 200
/** Connected and gone before the first measurement: code that is compiled, pools that are filled. */
const FIRST_ROOMS = 20
const SPARE_FILES = 500
const CONNECT_TIMEOUT_MS = 60_000
const SETTLE_MS = 2000

export const idle: Scenario = {
  name: 'idle',
  about: '5 000 connections with presence in 1 000 rooms; resident memory of each after a collection',
  deadlineMs: 150_000,
  run: async (context) => {
    const server = await context.startServer()
    const wanted = context.timing.quick ? QUICK_ROOMS : ROOMS
    const rooms = Math.min(wanted, Math.floor((maxOpenFiles() - SPARE_FILES) / ROOM_SIZE))
    const idlers = (count: number, roomPrefix: string): CrewWork => ({
      rooms: count,
      members: ROOM_SIZE,
      editsPerSecond: 0,
      presencePerSecond: 1,
      echoes: false,
      longestMs: 0,
      roomPrefix,
    })
    const first = context.use(new Crew(server.address, idlers(FIRST_ROOMS, 'first-')))
    await first.connect(CONNECT_TIMEOUT_MS)
    first.close()
    await sleep(SETTLE_MS)
    const heapBefore = await server.collect()
    const before = server.residentBytes()

    const crew = context.use(new Crew(server.address, idlers(rooms, 'idle-')))
    await crew.connect(CONNECT_TIMEOUT_MS)
    await sleep(SETTLE_MS)
    const heapAfter = await server.collect()
    const after = server.residentBytes()
    const connections = rooms * ROOM_SIZE
    const notes = crew.complaints()
    if (rooms < wanted) notes.push(`only ${connections} connections: ulimit -n is ${maxOpenFiles()}`)
    return [
      context.measurement(
        '',
        crew.complaints().length === 0 ? 'ok' : 'FAILED',
        {
          clients: connections,
          rssBytes: after,
          rssPerConnection: (after - before) / connections,
          heapPerConnection:
            (heapAfter.heapUsed + heapAfter.external - heapBefore.heapUsed - heapBefore.external) / connections,
        },
        notes,
      ),
    ]
  },
}
