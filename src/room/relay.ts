/**
 * Updates that everybody was given before the document has them (FR8).
 *   plainly next ─▶ frame to everybody, noted here ─▶ all together into the document, before anybody reads it
 */
import type { Received } from './intake.ts'

/** So many are integrated together, or so many bytes: a transaction costs more than a small update in it. */
const BATCH_UPDATES = 64
const BATCH_BYTES = 65_536
/** While the loop has no time for that, so many times more may wait; then nothing is relayed any more. */
const MOST_BATCHES = 4
/** Frames relayed between two versions of a document are told apart by so small a step that they never reach the next. */
const STEP = 2 ** -20

/** An author of whom something is on its way. */
interface Ahead {
  /** Its next clock, with what was relayed. */
  clock: number
  /** Whether the struct before that is an entry of a map; null: it is not known without looking at the document. */
  isKeyed: boolean | null
}

export class Relay {
  #waiting: Received[] = []
  readonly #ahead = new Map<number, Ahead>()
  #count = 0
  bytes = 0

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }
  /** Enough waits for a transaction of its own. */
  get isDue(): boolean {
    return this.#waiting.length >= BATCH_UPDATES || this.bytes >= BATCH_BYTES
  }
  /** Nothing more may be relayed until what waits is in the document. */
  get isFull(): boolean {
    return this.#waiting.length >= MOST_BATCHES * BATCH_UPDATES || this.bytes >= MOST_BATCHES * BATCH_BYTES
  }

  /** An author's next clock as everybody knows it; undefined: the document says. */
  clockOf(client: number): number | undefined {
    return this.#ahead.get(client)?.clock
  }
  /**
   * Whether a struct that the document does not have yet is an entry of a map. Undefined: that is not known, or it is not on its
   * way.
   */
  isKeyed(client: number, clock: number): boolean | undefined {
    const ahead = this.#ahead.get(client)
    return ahead === undefined || ahead.clock !== clock + 1 || ahead.isKeyed === null ? undefined : ahead.isKeyed
  }

  /**
   * Notes what everybody is being given, of one author, up to the clock `to`. `isKeyed`: whether its last struct is an entry of a
   * map; null when that is not known.
   */
  add(received: Received, client: number, to: number, isKeyed: boolean | null): void {
    this.#waiting.push(received)
    this.#count++
    this.bytes += received.update.length
    const ahead = this.#ahead.get(client)
    if (ahead === undefined) this.#ahead.set(client, { clock: to, isKeyed })
    else {
      ahead.clock = to
      ahead.isKeyed = isKeyed
    }
  }
  /** What the frame relayed last counts as between this version of the document and the next: no two are the same. */
  versionAfter(version: number): number {
    return version + this.#count * STEP
  }

  /** Takes out all of it, in order. */
  take(): readonly Received[] {
    const waiting = this.#waiting
    this.#waiting = []
    this.#ahead.clear()
    this.#count = 0
    this.bytes = 0
    return waiting
  }
}
