/**
 * How much of an update is given to Yjs in one go: what takes about a millisecond, by what the last goes really took.
 *
 * Bytes tell little: a struct takes 2 to 5 µs, but one that is inserted where thousands were inserted concurrently walks past
 * all of them (10 000: 1.2 ms; 50 000: 14 ms [measured]), and nothing in its bytes says so. Hence few at first, fewer at once
 * when they turn out dear, and more again step by step.
 */

/** Weight of a struct that follows its author's struct before it, or is the first of its own new type: next to no walking. */
export const PLAIN_WEIGHT = 1
/** Weight of any other: it may have others at its place. */
export const PLACED_WEIGHT = 4

/** A go that takes longer makes the next ones smaller, ms; less may be a garbage collection. */
const DEAR_MS = 4
/** What a go should take then, ms. */
const AIM_MS = 1
/** Structs deleted in one go: 5 to 10 ms. */
const MOST_DELETED = 4_096
/** After so many in a row that took less than they should, they may be twice as large. */
const EASY_SLICES = 8
/** How much larger than the first they may become. */
const LARGEST = 4

export class SliceSize {
  readonly #first: number
  /** Most weight of the next slice. */
  #limit: number
  /** How many in a row took less than they should. */
  #easy = 0
  /** Weight of the slice that was cut last. */
  weight = 0

  /** `first`: weight of a slice while nothing is known. What a slice costs beside its structs is 10 to 30 µs. */
  constructor(first: number) {
    this.#first = first
    this.#limit = first
  }

  /** Whether nothing was dear of late. */
  get isEasy(): boolean {
    return this.#limit >= this.#first
  }
  /** Weight that the next slice may have; a single struct may always be one. */
  get limit(): number {
    return this.#limit
  }
  /** What the next slice may delete, in structs (see DeleteGuide). */
  get deletes(): number {
    return Math.max(1, Math.floor((MOST_DELETED * Math.min(this.#limit, this.#first)) / this.#first))
  }

  /** The slice (or whole update) of this weight took `ms`. */
  took(ms: number, weight: number): void {
    if (ms > DEAR_MS) {
      this.#easy = 0
      this.#limit = Math.max(1, Math.min(this.#limit / 2, (AIM_MS * weight) / ms))
    } else if (ms > AIM_MS) this.#easy = 0
    else if (this.#limit < LARGEST * this.#first && ++this.#easy >= EASY_SLICES) {
      this.#easy = 0
      this.#limit = Math.min(2 * this.#limit, LARGEST * this.#first)
    }
  }
}
