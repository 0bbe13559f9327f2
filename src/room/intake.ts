/**
 * Updates that members sent and the document does not have yet: a queue each, in order, served in turn, so that one
 * member's paste of a whole board does not hold up the others. Large updates come out in slices (IN5).
 */
import type { UpdateSummary } from '../protocol/update-check.ts'
import { stripUnknownDeletes } from '../protocol/update-check.ts'
import { sliceUpdate } from '../protocol/update-slices.ts'
import type { Member } from './member.ts'

/** One checked update on its way into the document. */
export interface Received {
  readonly member: Member
  readonly update: Uint8Array
  readonly summary: UpdateSummary
  /** Whether it answers a SyncStep1: what is missing in it is missing at its author too. */
  readonly isAnswer: boolean
  /** Clock ms. */
  readonly at: number
}

/** What is applied in one go. */
export interface Unit {
  readonly received: Received
  readonly update: Uint8Array
  /** Delete ranges nobody here knows the target of, left out: Yjs would park them and pay for them ever after. */
  readonly stripped: number
}

/** Above either, an update is cut: applying 64 KiB of ordinary structs takes some 10 ms. */
const WHOLE_BYTES = 65_536
const WHOLE_STRUCTS = 2_000

interface Waiting {
  readonly received: Received
  slices: Iterator<Uint8Array> | null
  stripped: number
}

export class Intake {
  readonly #queues = new Map<Member, Waiting[]>()
  readonly #stateOf: (client: number) => number

  /** `stateOf`: the document's next clock of an author. */
  constructor(stateOf: (client: number) => number) {
    this.#stateOf = stateOf
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(received: Received): void {
    const waiting: Waiting = { received, slices: null, stripped: 0 }
    const queue = this.#queues.get(received.member)
    if (queue === undefined) this.#queues.set(received.member, [waiting])
    else queue.push(waiting)
  }

  /** The next unit, or null when nothing waits. Members take turns; one member's updates stay in order. */
  take(): Unit | null {
    for (const [member, queue] of this.#queues) {
      this.#queues.delete(member)
      const unit = this.#next(queue)
      if (queue.length > 0) this.#queues.set(member, queue)
      if (unit !== null) return unit
    }
    return null
  }

  #next(queue: Waiting[]): Unit | null {
    const waiting = queue[0]!
    const { received } = waiting
    if (waiting.slices === null) {
      // At this moment, not when it came: what it deletes may have been in the update before it.
      const { bytes, stripped } = this.#withoutUnknownDeletes(received)
      waiting.stripped = stripped
      if (bytes.length <= WHOLE_BYTES && received.summary.structs <= WHOLE_STRUCTS) {
        queue.shift()
        return { received, update: bytes, stripped }
      }
      waiting.slices = sliceUpdate(bytes)
    }
    const slice = waiting.slices.next()
    if (slice.done === true) {
      queue.shift()
      return null
    }
    const { stripped } = waiting
    waiting.stripped = 0
    return { received, update: slice.value, stripped }
  }

  #withoutUnknownDeletes({ update, summary }: Received): { bytes: Uint8Array; stripped: number } {
    const unknown = summary.deletes.some(({ client, end }) => {
      if (end <= this.#stateOf(client)) return false
      const own = summary.sections.find((section) => section.client === client)
      return own === undefined || end > own.to
    })
    return unknown ? stripUnknownDeletes(update, this.#stateOf) : { bytes: update, stripped: 0 }
  }
}
