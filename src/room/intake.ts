/**
 * Updates that members sent and the document does not have yet: a queue each, in order, served in turn, so that one
 * member's paste of a whole board does not hold up the others. Large ones are checked in steps and come out in slices (IN5).
 */
import {
  checkUpdateInSteps,
  type MalformedUpdate,
  stripUnknownDeletes,
  type UpdateCheck,
  type UpdateSummary,
} from '../protocol/update-check.ts'
import { sliceUpdate } from '../protocol/update-slices.ts'
import type { Member } from './member.ts'

/** One update on its way into the document. */
export interface Received {
  readonly member: Member
  readonly update: Uint8Array
  /** What the structural check found; null: not checked yet, it is too long to be checked in one go. */
  readonly summary: UpdateSummary | null
  /** Whether it answers a SyncStep1: what is missing in it is missing at its author too. */
  readonly isAnswer: boolean
  /** Clock ms. */
  readonly at: number
}

/** What is done in one go. */
export type Unit =
  /** An update to apply; `first`: the room has not been asked about `summary` yet. */
  | {
      readonly kind: 'apply'
      readonly received: Received
      readonly update: Uint8Array
      readonly summary: UpdateSummary
      readonly first: boolean
      /** Delete ranges nobody here knows the target of, left out: Yjs would park them and pay for them ever after. */
      readonly stripped: number
    }
  /** The check refused it. */
  | { readonly kind: 'refused'; readonly received: Received; readonly reason: MalformedUpdate }
  /** A step of the check: nothing to apply yet. */
  | { readonly kind: 'step' }

/** Above this, an update is not checked when it arrives but here, in steps: 1 MiB is up to 9 ms. */
export const CHECK_AT_ONCE_BYTES = 1_048_576
/** Above either, an update is cut: applying 64 KiB of ordinary structs takes some 10 ms. */
const WHOLE_BYTES = 65_536
const WHOLE_STRUCTS = 2_000

type Stage =
  | { readonly name: 'check'; readonly steps: Iterator<void, UpdateCheck> }
  | { readonly name: 'open'; readonly summary: UpdateSummary }
  | { readonly name: 'slices'; readonly summary: UpdateSummary; readonly slices: Iterator<Uint8Array> }

interface Waiting {
  readonly received: Received
  stage: Stage
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

  /** Bytes of the updates that wait. */
  get heldBytes(): number {
    let bytes = 0
    for (const member of this.#queues.keys()) bytes += this.bytesOf(member)
    return bytes
  }
  /** Those of one member. */
  bytesOf(member: Member): number {
    let bytes = 0
    for (const { received } of this.#queues.get(member) ?? []) bytes += received.update.length
    return bytes
  }

  add(received: Received): void {
    const { member, update, summary } = received
    const stage: Stage =
      summary === null ? { name: 'check', steps: checkUpdateInSteps(update) } : { name: 'open', summary }
    const queue = this.#queues.get(member)
    if (queue === undefined) this.#queues.set(member, [{ received, stage }])
    else queue.push({ received, stage })
  }

  /** Forgets the rest of the update that a member is being served from. */
  skipRest(member: Member): void {
    const queue = this.#queues.get(member)
    if (queue?.[0]?.stage.name !== 'slices') return
    queue.shift()
    if (queue.length === 0) this.#queues.delete(member)
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
    const { received, stage } = waiting
    switch (stage.name) {
      case 'check': {
        const step = stage.steps.next()
        if (step.done !== true) return { kind: 'step' }
        if (step.value.ok) {
          waiting.stage = { name: 'open', summary: step.value.summary }
          return { kind: 'step' }
        }
        queue.shift()
        return { kind: 'refused', received, reason: step.value.reason }
      }
      case 'open': {
        const { summary } = stage
        // At this moment, not when it came: what it deletes may have been in the update before it.
        const { bytes, stripped } = this.#areDeletesKnown(summary)
          ? { bytes: received.update, stripped: 0 }
          : stripUnknownDeletes(received.update, this.#stateOf)
        if (bytes.length <= WHOLE_BYTES && summary.structs <= WHOLE_STRUCTS) {
          queue.shift()
          return { kind: 'apply', received, update: bytes, summary, first: true, stripped }
        }
        const slices = sliceUpdate(bytes)
        waiting.stage = { name: 'slices', summary, slices }
        const { value } = slices.next()
        return value === undefined ? null : { kind: 'apply', received, update: value, summary, first: true, stripped }
      }
      case 'slices': {
        const { value } = stage.slices.next()
        if (value !== undefined) {
          return { kind: 'apply', received, update: value, summary: stage.summary, first: false, stripped: 0 }
        }
        queue.shift()
        return null
      }
    }
  }

  #areDeletesKnown({ deletes, sections }: UpdateSummary): boolean {
    // Quick for what nearly every update is; a long one is left to the linear walk.
    const few = deletes.length * sections.length <= 256
    for (const { client, end } of deletes) {
      if (end <= this.#stateOf(client)) continue
      const own = few ? sections.find((section) => section.client === client) : undefined
      if (own === undefined || end > own.to) return false
    }
    return true
  }
}
