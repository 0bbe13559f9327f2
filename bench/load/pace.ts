/**
 * Sends at fixed rates, each sender in a phase of its own, whatever the server does (an open loop). A send's own time counts
 * as its beginning, so a late turn makes no delay.
 *
 * It never sleeps: a process that waits in the kernel has to be woken by whoever sends to it, and on loopback that is the
 * measured server. On a virtual machine waking a sleeping core doubles the price of a small send; no network card charges
 * that. So the load turns its loop until it is stopped, and notes how much of the time it had nothing to do.
 */
import { seededRandom } from './script.ts'
import { socketActivity } from './web-socket.ts'

/** Least time between two looks at what is due, ms. */
const LOOK_EVERY_MS = 0.25
/** So late that the load cannot keep up: the sends are left out and counted. */
const TOO_LATE_PERIODS = 4

export class Pace {
  readonly #random = seededRandom(7)
  readonly #run: ((now: number) => void)[] = []
  readonly #period: number[] = []
  #due = new Float64Array(0)
  #isRunning = false
  #lookedAt = 0
  #turnedAt = 0
  #activity = 0
  /** Time spent on turns in which there was nothing to read or to send, ms. */
  idleMs = 0
  /** Sends left out because the load itself was behind. */
  skipped = 0

  add(perSecond: number, run: (now: number) => void): void {
    if (perSecond <= 0) return
    this.#run.push(run)
    this.#period.push(1000 / perSecond)
  }

  start(): void {
    const now = performance.now()
    this.#due = Float64Array.from(this.#period, (period) => now + this.#random() * period)
    this.#turnedAt = now
    this.#isRunning = true
    this.#turn()
  }
  stop(): void {
    this.#isRunning = false
  }

  readonly #turn = (): void => {
    if (!this.#isRunning) return
    const now = performance.now()
    if (socketActivity() === this.#activity) this.idleMs += now - this.#turnedAt
    this.#activity = socketActivity()
    this.#turnedAt = now
    if (now - this.#lookedAt >= LOOK_EVERY_MS) this.#sendDue(now)
    setImmediate(this.#turn)
  }

  #sendDue(started: number): void {
    this.#lookedAt = started
    const due = this.#due
    for (let i = 0; i < due.length; i++) {
      if (due[i]! > started) continue
      const period = this.#period[i]!
      this.#run[i]!(performance.now())
      // People are not metronomes: a tenth early or late.
      due[i]! += period * (0.9 + 0.2 * this.#random())
      if (due[i]! < started - TOO_LATE_PERIODS * period) {
        this.skipped += Math.floor((started - due[i]!) / period)
        due[i] = started + period
      }
    }
  }
}
