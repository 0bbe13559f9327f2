/** What a delivery costs y-weir as there are ten times the rooms, the clients in a room, the board. */
import { makeBoard } from '../load/board.ts'
import { HALL, STUDIO } from './drawing.ts'
import type { Context, Measurement, Scenario } from './scenario.ts'
import { seed } from './seeding.ts'
import { type SteadyWork, steady, warm } from './steady.ts'

const MiB = 1024 * 1024
const ROOMS = [10, 100]
const CLIENTS = [20, 200]
const BOARDS = [MiB / 10, MiB, 10 * MiB]
const BOARD_MEMBERS = 20

export const growth: Scenario = {
  name: 'growth',
  about: 'rooms of 4 at studio rates: 10, 100 · one room at hall rates: 20, 200 clients · 20 clients on 0.1, 1, 10 MiB',
  deadlineMs: 300_000,
  leaveOut: {
    'y-websocket': 'growth looks at y-weir alone',
    hocuspocus: 'growth looks at y-weir alone',
    relay: 'growth looks at y-weir alone',
  },
  run: async (context) => {
    const rows: Measurement[] = []
    const measure = async (variant: string, work: SteadyWork, boardBytes = 0): Promise<void> => {
      rows.push(await one(context, { ...work, variant }, boardBytes))
      const { cpuPerDeliveryUs = Number.NaN } = rows.at(-1)!.figures
      context.say(`${variant}: ${cpuPerDeliveryUs.toFixed(2)} µs a delivery`)
    }
    for (const rooms of ROOMS) await measure(`${rooms} rooms`, { ...STUDIO, rooms })
    for (const members of CLIENTS) await measure(`${members} clients`, { ...HALL, members })
    for (const bytes of BOARDS) {
      await measure(`${(bytes / MiB).toFixed(1)} MiB board`, { ...HALL, members: BOARD_MEMBERS }, bytes)
    }
    return rows
  },
}

async function one(context: Context, work: SteadyWork, boardBytes: number): Promise<Measurement> {
  const server = await context.startServer()
  await warm(context, server)
  const roomPrefix = 'growth-'
  if (boardBytes > 0) context.use(await seed(server, `${roomPrefix}0`, makeBoard(boardBytes, 4).updates))
  const row = await steady(context, server, { ...work, roomPrefix })
  await server.stop()
  return row
}
