import { LoopTime } from '../../src/budget/loop-time.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import type { HeldClock } from './held-clock.ts'

/** The loop's time on a clock that a test holds; what a job throws is thrown on. */
export function heldLoop(clock: HeldClock): LoopTime {
  return new LoopTime({
    clock,
    metrics: new Metrics([]),
    onError: (error) => {
      throw error
    },
  })
}
