/** What a room remembers of documents that broke: how many of late, and which updates did it. */
import { createHash } from 'node:crypto'
import type { Clock } from '../observe/clock.ts'
import { RecentMap } from '../observe/recent-map.ts'
import type { Applied } from './ingest.ts'
import type { Member } from './member.ts'

/**
 * This many documents within the window are rebuilt; the next is one too many: whatever breaks them is still there. One whose
 * culprit is known counts a fifth: that client is closed before long, and the room need not be.
 */
const REBUILDS = 5
const KNOWN_WEIGHT = 1 / 5
const WITHIN_MS = 60_000
/** Updates remembered. */
const UPDATES = 64

export class Breaks {
  readonly #clock: Clock
  #breaks: { readonly at: number; readonly weight: number }[] = []
  /** Hashes of updates that broke a document. */
  readonly #updates = new RecentMap<string, true>(UPDATES)
  readonly #senders = new WeakSet<Member>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes one more. False: that are too many. */
  note(isCulpritKnown: boolean): boolean {
    const now = this.#clock.now()
    this.#breaks = this.#breaks.filter(({ at }) => now - at <= WITHIN_MS)
    this.#breaks.push({ at: now, weight: isCulpritKnown ? KNOWN_WEIGHT : 1 })
    return this.#breaks.reduce((sum, { weight }) => sum + weight, 0) <= REBUILDS
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

/** Most bytes of an update that a log line shows. */
const SHOWN_BYTES = 512

/** What a log line says of it. */
export function culpritFacts(culprit: Applied | null): object {
  if (culprit === null) return {}
  const { update } = culprit
  return { bytes: update.length, update: Buffer.from(update.subarray(0, SHOWN_BYTES)).toString('hex') }
}
