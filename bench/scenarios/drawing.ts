/** People who draw: the three scenarios that the targets are about. */
import type { Scenario } from './scenario.ts'
import { type SteadyWork, steadyAlone } from './steady.ts'

export const STUDIO: SteadyWork = { rooms: 50, members: 4, editsPerSecond: 15, presencePerSecond: 15, echoes: false }
export const CLASS: SteadyWork = { rooms: 1, members: 50, editsPerSecond: 5, presencePerSecond: 20, echoes: true }
export const HALL: SteadyWork = { rooms: 1, members: 200, editsPerSecond: 5, presencePerSecond: 10, echoes: false }

/** A relay passes echoes on as news to everybody who has not seen them yet: its work grows with the square. */
export const NO_RELAY = { relay: 'a relay of echoes never ends' }

const DEADLINE_MS = 150_000

export const studio: Scenario = {
  name: 'studio',
  about: '50 rooms of 4; 15 edits and 15 cursor moves a second each',
  deadlineMs: DEADLINE_MS,
  run: async (context) => [await steadyAlone(context, STUDIO)],
}

export const classroom: Scenario = {
  name: 'class',
  about: 'one room of 50 stock-like clients that echo presence; 5 edits and 20 cursor moves a second each',
  deadlineMs: DEADLINE_MS,
  leaveOut: NO_RELAY,
  run: async (context) => [await steadyAlone(context, CLASS)],
}

export const hall: Scenario = {
  name: 'hall',
  about: 'one room of 200; 5 edits and 10 cursor moves a second each',
  deadlineMs: DEADLINE_MS,
  run: async (context) => [await steadyAlone(context, HALL)],
}
