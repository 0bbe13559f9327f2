/**
 * Updates that members sent and the document does not have yet: a queue each, in order. Whose turn it is says the budget of the
 * loop's time: who has had least, so that neither one member's paste of a whole board nor updates that are dear to take in hold
 * up the others. What is not small is checked in steps and comes out in slices (IN5, LT2).
 */
import type { LoopTime } from '../budget/loop-time.ts'
import { PLACED_WEIGHT, SliceSize } from '../update/slice-size.ts'
import {
  checkUpdateInSteps,
  type MalformedUpdate,
  stripUnknownDeletes,
  type UpdateCheck,
  type UpdateSummary,
} from '../update/update-check.ts'
import { SLICE_BYTES, sliceUpdate } from '../update/update-slices.ts'
import type { DeleteCosts } from './delete-costs.ts'
import type { Member } from './member.ts'

/** One update on its way into the document. */
export interface Received {
  readonly member: Member
  readonly update: Uint8Array
  /** The Update frame that it came in, when that is what a frame of ours would be. */
  readonly frame?: Uint8Array
  /** What the structural check found; null: not checked yet, it is too long to be checked in one go. */
  readonly summary: UpdateSummary | null
  /** Whether it answers a SyncStep1: what is missing in it is missing at its author too. */
  readonly isAnswer: boolean
  /** It waited for a predecessor before, and what lacked then was asked for. */
  readonly hasWaited?: boolean
  /** Clock ms. */
  readonly at: number
}

/** An update to apply, or a part of one. */
export interface ApplyUnit {
  readonly kind: 'apply'
  readonly received: Received
  readonly update: Uint8Array
  readonly summary: UpdateSummary
  /** The room has not been asked about `summary` yet. */
  readonly first: boolean
  /** Delete ranges nobody here knows the target of, left out: Yjs would park them and pay for them ever after. */
  readonly stripped: number
  /** A part of what came. */
  readonly isSlice: boolean
  /** Everybody was given it before the document. */
  readonly wasRelayed: boolean
  /** How much it is, in the unit of `SliceSize`. */
  readonly weight: number
}

/** What is done in one go. */
export type Unit =
  | ApplyUnit
  /** The check refused it. */
  | { readonly kind: 'refused'; readonly received: Received; readonly reason: MalformedUpdate }
  /** A step of the check or of the cutting: nothing to apply yet. */
  | { readonly kind: 'step'; readonly received: Received }

/** Above this, an update is not checked when it arrives but here, in steps: 64 KiB are up to 0.6 ms. */
export const CHECK_AT_ONCE_BYTES = 65_536
/** Checked in one go, here. */
const CHECK_STEP_BYTES = 131_072
/** Weight of a slice while nothing is dear: some 0.1 ms of ordinary structs, 38 ms where each walks past 10 000. */
const SLICE_WEIGHT = 32
/** Structs of an update that is applied as it is, under the same condition: nearly every edit by hand. */
const WHOLE_STRUCTS = 32
/** Clock units that it may delete; and what that may cost at most (see delete-costs), so that it is not looked at closely. */
const WHOLE_DELETES = 4_096
/** Authors of whom it may delete something. */
const WHOLE_DELETE_AUTHORS = 16

type Stage =
  | { readonly name: 'check'; readonly steps: Iterator<void, UpdateCheck> }
  | { readonly name: 'open'; readonly summary: UpdateSummary }
  | {
      readonly name: 'slices'
      readonly summary: UpdateSummary
      readonly slices: Iterator<Uint8Array>
      /** One of them has been handed out. */
      hasBegun: boolean
      /** Whether clients that have half of it may tidy formatted text; null: nobody has asked yet. */
      makesTidy: boolean | null
    }

const NOBODY: readonly Member[] = []

interface Waiting {
  readonly received: Received
  stage: Stage
}

export class Intake {
  readonly #queues = new Map<Member, Waiting[]>()
  readonly #stateOf: (client: number) => number
  readonly #loop: LoopTime
  readonly #deleteCosts: DeleteCosts
  /** How much is given to the document in one go; to be told what it took. */
  readonly size = new SliceSize(SLICE_WEIGHT)

  /** `stateOf`: the document's next clock of an author. */
  constructor(stateOf: (client: number) => number, loop: LoopTime, deleteCosts: DeleteCosts) {
    this.#stateOf = stateOf
    this.#loop = loop
    this.#deleteCosts = deleteCosts
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  /** Bytes of the updates that wait. */
  get heldBytes(): number {
    let bytes = 0
    for (const { waitingBytes } of this.#queues.keys()) bytes += waitingBytes
    return bytes
  }

  /** Members whose update is half in the document, when a client that has half of it may tidy formatted text. */
  halfTexts(hasMarks: () => boolean): readonly Member[] {
    let members = NOBODY
    for (const [member, queue] of this.#queues) {
      const { stage } = queue[0]!
      if (stage.name !== 'slices' || !stage.hasBegun) continue
      const { formats, deletedUnits } = stage.summary
      stage.makesTidy ??= formats || (deletedUnits > 0 && hasMarks())
      if (stage.makesTidy) members = [...members, member]
    }
    return members
  }

  add(received: Received): void {
    this.#queueOf(received.member).push(this.#waiting(received))
  }
  /** The same for what is older than all that waits of a member, but for the one that is being served. */
  addFirst(member: Member, received: readonly Received[]): void {
    const queue = this.#queueOf(member)
    const hasBegun = queue.length > 0 && queue[0]!.stage.name !== 'open'
    queue.splice(hasBegun ? 1 : 0, 0, ...received.map((each) => this.#waiting(each)))
  }
  #queueOf(member: Member): Waiting[] {
    const known = this.#queues.get(member)
    if (known !== undefined) return known
    const queue: Waiting[] = []
    this.#queues.set(member, queue)
    return queue
  }
  #waiting(received: Received): Waiting {
    const { member, update, summary } = received
    member.waitingBytes += update.length
    if (summary !== null) return { received, stage: { name: 'open', summary } }
    return { received, stage: { name: 'check', steps: checkUpdateInSteps(update, CHECK_STEP_BYTES) } }
  }

  /** Forgets the rest of the update that a member is being served from. */
  skipRest(member: Member): void {
    const queue = this.#queues.get(member)
    if (queue?.[0]?.stage.name !== 'slices') return
    this.#shift(member, queue)
    if (queue.length === 0) this.#queues.delete(member)
  }

  /** Forgets everything that waits of a member. */
  forget(member: Member): void {
    const queue = this.#queues.get(member)
    this.#queues.delete(member)
    while (queue !== undefined && queue.length > 0) this.#shift(member, queue)
  }

  /**
   * Who is next at `now` (clock ms): of those who may, whoever has had least of the loop's time; in turn where that is the same.
   * Null: nobody waits, or all that do are over their shares.
   */
  next(now: number): Member | null {
    let best: Member | null = null
    for (const member of this.#queues.keys()) {
      const { share } = member
      if (share.isOver && share.waitAt(now) > 0) continue
      // Nearly always the first one is.
      if (!this.#loop.isAhead(share.account)) return member
      if (best === null || this.#loop.virtualOf(share.account) < this.#loop.virtualOf(best.share.account)) best = member
    }
    return best
  }
  /** How long until somebody who is over its share may go on, ms. */
  waitAt(now: number): number {
    let least = Number.POSITIVE_INFINITY
    for (const { share } of this.#queues.keys()) least = Math.min(least, share.waitAt(now))
    return least
  }

  /** The next unit of a member that `next` named. Null: its update turned out to have nothing left. */
  take(member: Member): Unit | null {
    const queue = this.#queues.get(member)
    if (queue === undefined) return null
    this.#queues.delete(member)
    const unit = this.#unitOf(member, queue)
    if (queue.length > 0) this.#queues.set(member, queue)
    return unit
  }

  #shift(member: Member, queue: Waiting[]): void {
    const { received } = queue.shift()!
    member.waitingBytes -= received.update.length
    if (received.isAnswer) member.repair.answerTaken()
  }

  #unitOf(member: Member, queue: Waiting[]): Unit | null {
    const waiting = queue[0]!
    const { received, stage } = waiting
    switch (stage.name) {
      case 'check': {
        const step = stage.steps.next()
        if (step.done !== true) return { kind: 'step', received }
        if (step.value.ok) {
          waiting.stage = { name: 'open', summary: step.value.summary }
          return { kind: 'step', received }
        }
        this.#shift(member, queue)
        return { kind: 'refused', received, reason: step.value.reason }
      }
      case 'open': {
        const { summary } = stage
        if (this.isSmall(received.update, summary)) {
          this.#shift(member, queue)
          return this.#whole(received, summary)
        }
        waiting.stage = {
          name: 'slices',
          summary,
          slices: sliceUpdate(received.update, SLICE_BYTES, this.size, this.#deleteCosts),
          hasBegun: false,
          makesTidy: null,
        }
        return this.#unitOf(member, queue)
      }
      case 'slices': {
        const { value } = stage.slices.next()
        if (value === undefined) {
          this.#shift(member, queue)
          return null
        }
        // Two zeros: a step on the way to the next one.
        if (value.length === 2) return { kind: 'step', received }
        const first = !stage.hasBegun
        stage.hasBegun = true
        // No section: it only deletes. At this moment, so that all of the update's own structs are there.
        const { bytes, stripped } = value[0] === 0 ? stripUnknownDeletes(value, this.#stateOf) : NOT_STRIPPED(value)
        return {
          kind: 'apply',
          received,
          update: bytes,
          summary: stage.summary,
          first,
          stripped,
          isSlice: true,
          wasRelayed: false,
          weight: this.size.weight,
        }
      }
    }
  }

  /** Whether an update is taken in as it is, in one go. */
  isSmall({ length }: Uint8Array, summary: UpdateSummary): boolean {
    const { structs } = summary
    if (length > SLICE_BYTES || structs > WHOLE_STRUCTS || !this.#deletesLittle(summary)) return false
    // One struct and a handful of deletes cannot be cut to any use.
    return structs * PLACED_WEIGHT <= SLICE_WEIGHT / 8 || this.size.isEasy
  }

  #deletesLittle({ deletes, deleteRanges, deletedUnits }: UpdateSummary): boolean {
    if (deleteRanges === 0) return true
    if (deletedUnits > WHOLE_DELETES || deletes.length > WHOLE_DELETE_AUTHORS) return false
    let dearest = 0
    for (const { client } of deletes) dearest = Math.max(dearest, this.#deleteCosts.ofRange(client))
    return deletedUnits + deleteRanges * dearest <= 2 * WHOLE_DELETES
  }

  #whole(received: Received, summary: UpdateSummary): Unit {
    // At this moment, not when it came: what it deletes may have been in the update before it.
    const stripped = this.areDeletesKnown(summary, this.#stateOf)
      ? NOT_STRIPPED(received.update)
      : stripUnknownDeletes(received.update, this.#stateOf)
    return wholeUnit(received, summary, stripped, false)
  }

  /** Whether all that it deletes is there, or comes with it. `clockOf`: an author's next clock. */
  areDeletesKnown({ deletes, sections }: UpdateSummary, clockOf: (client: number) => number): boolean {
    // Quick for what nearly every update is; a long one is left to the linear walk.
    const few = deletes.length * sections.length <= 256
    for (const { client, end } of deletes) {
      if (end <= clockOf(client)) continue
      const own = few ? sections.find((section) => section.client === client) : undefined
      if (own === undefined || end > own.to) return false
    }
    return true
  }
}

/** One that everybody was given already, and that is taken in as it is. */
export const relayedUnit = (received: Received): ApplyUnit =>
  wholeUnit(received, received.summary!, NOT_STRIPPED(received.update), true)

function wholeUnit(
  received: Received,
  summary: UpdateSummary,
  { bytes, stripped }: Stripped,
  wasRelayed: boolean,
): ApplyUnit {
  const weight = summary.structs * PLACED_WEIGHT + Math.ceil(summary.deletedUnits / 32)
  return { kind: 'apply', received, update: bytes, summary, first: true, stripped, isSlice: false, wasRelayed, weight }
}

type Stripped = ReturnType<typeof stripUnknownDeletes>

const NOT_STRIPPED = (bytes: Uint8Array): Stripped => ({ bytes, stripped: 0 })
