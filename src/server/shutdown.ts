/**
 * Stopping in order (OP1): clients are closed with 1012 spread over a window, so that they do not all come back in the same
 * instant; what they sent is applied and stored; then everything is let go. Each step has its share of the deadline.
 */
import type { Logger } from 'pino'
import type { Clock } from '../observe/clock.ts'
import { CLOSE, type CloseReason } from '../protocol/close-reasons.ts'

export interface ShutdownParts {
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** `SHUTDOWN_GRACE_MS` */
  readonly graceMs: number
  /** The clients that are connected now. */
  sockets(): readonly { end(reason: CloseReason): void; failed(error: unknown): void }[]
  /** Whether everything received is in its document. */
  isSettled(): boolean
  /** Resolves when every board is saved. */
  saved(): Promise<void>
  /** Takes no more connections, cuts those that are left and closes the store. */
  release(): Promise<void>
}

/** Before the first close: what is already on the wire is still read. */
const LISTEN_ON_MS = 100
/** Between two closes. At most half of the deadline is spent on closing, however many there are. */
const SPREAD_MS = 2
const POLL_MS = 20

export async function shutDown(parts: ShutdownParts): Promise<void> {
  const { clock, log, graceMs } = parts
  const started = clock.now()
  const left = (share: number): number => Math.max(0, started + graceMs * share - clock.now())
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  /** Waits for something, at most until a share of the deadline is over. Whether it came. */
  const within = async (share: number, done: () => boolean): Promise<boolean> => {
    while (!done() && left(share) > 0) await pause(Math.min(POLL_MS, left(share)))
    return done()
  }

  const sockets = parts.sockets()
  log.info({ event: 'stopping', sockets: sockets.length }, 'shutting down')
  if (sockets.length > 0) await pause(Math.min(LISTEN_ON_MS, left(0.1)))
  const perTick = Math.max(1, Math.ceil((sockets.length * SPREAD_MS) / Math.max(1, left(0.5))))
  for (let i = 0; i < sockets.length; i += perTick) {
    for (const socket of sockets.slice(i, i + perTick)) {
      try {
        socket.end(CLOSE.restart)
      } catch (error) {
        socket.failed(error)
      }
    }
    if (i + perTick < sockets.length) await pause(SPREAD_MS)
  }
  await within(0.6, () => parts.isSettled())
  let saved = false
  void parts.saved().then(() => {
    saved = true
  })
  await within(0.9, () => saved && parts.sockets().length === 0)
  if (!saved) log.warn({ event: 'not_all_saved' }, 'some boards could not be saved in time')
  await new Promise<void>((resolve, reject) => {
    const cancel = clock.after(left(1), resolve)
    parts.release().finally(cancel).then(resolve, reject)
  })
  log.info({ event: 'stopped', ms: Math.round(clock.now() - started), saved }, 'stopped')
}
