/** Rooms of people who draw, more and more of them, until what anybody does takes longer than 60 ms to be seen: delay and cost at every load. */
import { STUDIO } from './drawing.ts'
import { ladder } from './ladder.ts'
import type { Scenario } from './scenario.ts'

const ROOMS = [1, 10, 50, 75, 100, 125, 150, 200, 250, 300, 350, 400, 500]
const QUICK_ROOMS = [1, 10, 50, 100, 200, 300]

export const roomsOf = (rooms: number, members = STUDIO.members): string => `${rooms} × ${members}`

export const rooms: Scenario = {
  name: 'rooms',
  about:
    '1 × 2 people, then rooms of 4 from 1 to 500, 15 edits and 15 cursor moves a second each, until the p99 of edits passes 60 ms',
  deadlineMs: 400_000,
  run: (context) =>
    ladder(context, [
      { ...STUDIO, rooms: 1, members: 2, variant: roomsOf(1, 2) },
      ...(context.timing.quick ? QUICK_ROOMS : ROOMS).map((count) => ({
        ...STUDIO,
        rooms: count,
        variant: roomsOf(count),
      })),
    ]),
}
