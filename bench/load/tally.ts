import { Histogram } from './histogram.ts'

/** What all rooms of a run have seen since the last `clear`: the measured window's sums. */
export class Tally {
  sentEdits = 0
  sentPresence = 0
  /** Deliveries that the sends of the window owe: one for every other member that reads. */
  dueEdits = 0
  duePresence = 0
  /** Deliveries seen at the receivers. */
  edits = 0
  presence = 0
  /** Of those, presence states that a newer one replaced on the way. */
  superseded = 0
  echoes = 0
  readonly editDelay = new Histogram()
  readonly presenceDelay = new Histogram()
  /** Every edit that arrived, one by one; null: not kept. */
  arrivals: { readonly at: number; readonly delay: number }[] | null = null

  clear(): void {
    this.sentEdits = this.sentPresence = this.dueEdits = this.duePresence = 0
    this.edits = this.presence = this.superseded = this.echoes = 0
    this.editDelay.clear()
    this.presenceDelay.clear()
    if (this.arrivals !== null) this.arrivals = []
  }
}
