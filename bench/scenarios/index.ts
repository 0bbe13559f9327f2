import { classroom, hall, studio } from './drawing.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { neighbour } from './neighbour.ts'
import { people } from './people.ts'
import { rooms } from './rooms.ts'
import type { Scenario } from './scenario.ts'
import { stall } from './stall.ts'
import { storage } from './storage.ts'
import { storm } from './storm.ts'

/** In the order in which they run and are reported. */
export const SCENARIOS: readonly Scenario[] = [
  rooms,
  people,
  studio,
  classroom,
  hall,
  neighbour,
  storage,
  stall,
  storm,
  idle,
  growth,
]
