import { classroom, hall, studio } from './drawing.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { light } from './light.ts'
import type { Scenario } from './scenario.ts'
import { stall } from './stall.ts'
import { storage } from './storage.ts'
import { storm } from './storm.ts'
import { sweep } from './sweep.ts'

/** In the order in which they run and are reported. */
export const SCENARIOS: readonly Scenario[] = [
  studio,
  classroom,
  hall,
  light,
  storage,
  stall,
  storm,
  idle,
  growth,
  sweep,
]
