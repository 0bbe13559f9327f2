/**
 * Claims to a presence id whose owner is still connected: the owner is pinged, and keeps the id if it answers within two
 * seconds (PR1). A half-open peer, whose page has long come back on another socket, does not.
 */
import type { Clock } from '../observe/clock.ts'
import type { PresenceEntry } from '../protocol/presence-frame.ts'
import type { Member } from './member.ts'
import type { Presence, PresenceClaim, PresenceOwner } from './presence.ts'

/** How long an owner may take to answer a ping, ms. */
const ANSWER_MS = 2_000

interface Waiting {
  claim: PresenceClaim
  tell: (late: readonly PresenceEntry[]) => void
  readonly cancel: () => void
}

export class Claims {
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #changed: () => void
  readonly #waiting = new Map<number, Waiting>()

  /** `changed`: an id has moved, presence has news. */
  constructor(presence: Presence, clock: Clock, changed: () => void) {
    this.#presence = presence
    this.#clock = clock
    this.#changed = changed
  }

  /**
   * One claim an id waits at a time. A newer one of the same claimant takes its place, and one of who the owner is, back from a
   * reconnect, takes anybody's. `tell` reaches the claimant.
   */
  add(claim: PresenceClaim, claimant: Member, tell: (late: readonly PresenceEntry[]) => void): void {
    const { id } = claim.entry
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) {
      const isOwners = claimant.identity === claim.owner.identity
      if (waiting.claim.claimant !== claimant && !isOwners) return
      waiting.claim = claim
      waiting.tell = tell
      return
    }
    const cancel = this.#clock.after(ANSWER_MS, () => this.#grant(id))
    this.#waiting.set(id, { claim, tell, cancel })
    // Every owner is a member: ids are only ever taken in by `announce`.
    ;(claim.owner as Member).outbox.ping()
  }

  /** The owner answered. Returns how many claims that refuses. */
  ownerLives(owner: PresenceOwner): number {
    let refused = 0
    for (const [id, { claim, cancel }] of this.#waiting) {
      if (claim.owner !== owner) continue
      cancel()
      this.#waiting.delete(id)
      refused++
    }
    return refused
  }

  /** A connection is going: claims to its ids are granted before they are removed, its own claims are void. */
  ownerLeft(member: PresenceOwner): void {
    for (const [id, { claim, cancel }] of this.#waiting) {
      if (claim.owner === member) this.#grant(id)
      else if (claim.claimant === member) {
        cancel()
        this.#waiting.delete(id)
      }
    }
  }

  stop(): void {
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }

  #grant(id: number): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    waiting.cancel()
    this.#waiting.delete(id)
    const late = this.#presence.grant(waiting.claim, this.#clock.now())
    if (late.length > 0) waiting.tell(late)
    this.#changed()
  }
}
