/** What all parts of one server share and none owns: time, figures, the log, and the event loop's time with who may have how much. */
import type { Logger } from 'pino'
import { LoopTime } from '../budget/loop-time.ts'
import { Shares } from '../budget/share.ts'
import { MESSAGE_ERRORS } from '../inbound/message-errors.ts'
import { Boundary } from '../observe/boundary.ts'
import type { Clock } from '../observe/clock.ts'
import { Metrics } from '../observe/metrics.ts'
import { ProcessWatch } from '../observe/process-watch.ts'
import { DrainScheduler } from '../outbound/drain-scheduler.ts'
import type { Config } from '../settings/settings.ts'
import { StorageMetrics } from '../storage/storage-metrics.ts'

export interface Foundation {
  readonly log: Logger
  readonly metrics: Metrics
  readonly storageMetrics: StorageMetrics
  /** Where everything ends up that nobody expected. */
  readonly errors: Boundary
  /** Its callbacks are behind that boundary. */
  readonly clock: Clock
  /** Epoch ms. */
  readonly wallClock: () => number
  readonly loop: LoopTime
  readonly shares: Shares
  readonly scheduler: DrainScheduler
  readonly watch: ProcessWatch
  /** Ends every timer of these. */
  stop(): void
}

export function layFoundation(config: Config, log: Logger): Foundation {
  const metrics = new Metrics(MESSAGE_ERRORS)
  const errors = new Boundary(metrics, log)
  const clock = errors.clock()
  const loop = new LoopTime({ clock, metrics, onError: (error) => errors.caught('job', error) })
  const scheduler = new DrainScheduler(loop)
  const watch = new ProcessWatch(clock)
  return {
    log,
    metrics,
    storageMetrics: new StorageMetrics(),
    errors,
    clock,
    wallClock: Date.now,
    loop,
    shares: new Shares(loop, { msPerSecond: config.workMsPerSecond, burstMs: config.workBurstMs }),
    scheduler,
    watch,
    stop() {
      watch.stop()
      scheduler.stop()
      loop.stop()
    },
  }
}
