/** What a room remembers of documents that broke: how many of late, and which updates did it. */
import { createHash } from 'node:crypto'
import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'
import type { Applied } from './ingest.ts'
import type { Member } from './member.ts'

/** This many documents within the window are rebuilt; the next is one too many: whatever it is, it is still there. */
const REBUILDS = 5
const WITHIN_MS = 60_000
/** Updates remembered. */
const UPDATES = 64

export class Breaks {
  readonly #clock: Clock
  readonly #times: number[] = []
  /** Hashes of updates that broke a document. */
  readonly #updates = new RecentMap<string, true>(UPDATES)
  readonly #senders = new WeakSet<Member>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes one more. False: that are too many. */
  note(): boolean {
    const now = this.#clock.now()
    this.#times.push(now)
    if (this.#times.length <= REBUILDS) return true
    return now - this.#times.shift()! > WITHIN_MS
  }

  /**
   * Notes an update that broke a document. True: it is not the first time, of these bytes or of something that its sender was
   * asked for after it had broken one before.
   */
  isRepeated({ member, update, isAnswer }: Applied): boolean {
    const hash = createHash('sha1').update(update).digest('base64')
    const isRepeated = this.#updates.has(hash) || (isAnswer && this.#senders.has(member))
    this.#updates.set(hash, true)
    this.#senders.add(member)
    return isRepeated
  }
}
