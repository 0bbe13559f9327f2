/**
 * One room's books: when each edit and presence state was sent, what each receiver has been brought of it. A server may
 * merge many edits into one frame and send only the newest of several presence states, so it is not frames that are
 * counted but edits, by the author's clock range inside what arrived, and states, by their clock.
 */
import { FrameMemo } from './frame-memo.ts'
import type { Script } from './script.ts'
import type { Tally } from './tally.ts'
import { readVarUint, varUintEnd } from './wire.ts'

export class Ledger {
  readonly #scripts: readonly Script[]
  readonly #tally: Tally
  readonly #memo: FrameMemo
  readonly #authors: number
  readonly #firstId: number
  readonly #outsiders: boolean
  /** By receiver × author: the author's clock up to which the receiver has been brought everything. */
  readonly #editClock: Int32Array
  readonly #presenceClock: Int32Array
  readonly #editsSentAt: number[][]
  /** By clock: a client's first state has clock 1. */
  readonly #presenceSentAt: number[][]
  /** Updates that skipped some of an author's edits: the server lost them. */
  readonly #gaps: Int32Array
  /** Members that read: the others are owed nothing. */
  readonly #reads: Uint8Array
  #readers: number

  /** `receivers`: who reads. The first of them are the authors themselves, unless `outsiders` says that none is. */
  constructor(scripts: readonly Script[], receivers: number, tally: Tally, outsiders = false) {
    this.#outsiders = outsiders
    this.#scripts = scripts
    this.#tally = tally
    this.#authors = scripts.length
    this.#firstId = scripts[0]?.clientId ?? 0
    this.#memo = new FrameMemo((clientId) => {
      const author = clientId - this.#firstId
      return author >= 0 && author < scripts.length ? author : -1
    })
    this.#editClock = new Int32Array(receivers * scripts.length)
    this.#presenceClock = new Int32Array(receivers * scripts.length)
    this.#editsSentAt = scripts.map(() => [])
    this.#presenceSentAt = scripts.map(() => [0])
    this.#gaps = new Int32Array(receivers)
    this.#reads = new Uint8Array(receivers).fill(1)
    this.#readers = receivers
  }

  setReading(receiver: number, reads: boolean): void {
    this.#readers += Number(reads) - this.#reads[receiver]!
    this.#reads[receiver] = Number(reads)
  }

  editSent(author: number, now: number): void {
    this.#editsSentAt[author]!.push(now)
    this.#tally.sentEdits++
    this.#tally.dueEdits += this.#readers - (this.#reads[author] ?? 0)
  }
  editsSent(author: number): number {
    return this.#editsSentAt[author]!.length
  }
  /** The clock of the state that is sent. */
  presenceSent(author: number, now: number): number {
    const sentAt = this.#presenceSentAt[author]!
    sentAt.push(now)
    this.#tally.sentPresence++
    this.#tally.duePresence += this.#readers - (this.#reads[author] ?? 0)
    return sentAt.length - 1
  }

  /** An update reached a receiver. */
  update(receiver: number, bytes: Uint8Array, from: number, to: number, now: number): void {
    const ranges = this.#memo.ranges(bytes, from, to)
    for (let i = 0; i < ranges.length; i += 3) {
      const author = ranges[i]!
      if (this.#isSelf(receiver, author)) continue
      const at = receiver * this.#authors + author
      const had = this.#editClock[at]!
      const firstClock = ranges[i + 1]!
      const endClock = ranges[i + 2]!
      if (endClock <= had) continue
      if (firstClock > had) this.#gaps[receiver]!++
      this.#editClock[at] = endClock
      const { editsBelow } = this.#scripts[author]!
      const sentAt = this.#editsSentAt[author]!
      const end = editsBelow[Math.min(endClock, editsBelow.length - 1)]!
      for (let edit = editsBelow[Math.max(had, firstClock)]!; edit < end; edit++) {
        const sent = sentAt[edit]
        if (sent === undefined) continue
        this.#tally.edits++
        this.#tally.editDelay.add(now - sent)
        this.#tally.arrivals?.push({ at: now, delay: now - sent })
      }
    }
  }

  /** A presence payload reached a receiver. Returns how many of its states are news; `isNews` gets an answer for each. */
  presence(receiver: number, bytes: Uint8Array, from: number, now: number, isNews: boolean[] | null): number {
    const count = readVarUint(bytes, from)
    let at = varUintEnd()
    let news = 0
    for (let i = 0; i < count; i++) {
      const id = readVarUint(bytes, at)
      const clock = readVarUint(bytes, varUintEnd())
      const length = readVarUint(bytes, varUintEnd())
      at = varUintEnd() + length
      const fresh = this.#hasNews(receiver, id - this.#firstId, clock, now)
      if (fresh) news++
      isNews?.push(fresh)
    }
    return news
  }
  #hasNews(receiver: number, author: number, clock: number, now: number): boolean {
    if (author < 0 || author >= this.#authors || this.#isSelf(receiver, author)) return false
    const index = receiver * this.#authors + author
    const had = this.#presenceClock[index]!
    if (clock <= had) return false
    this.#presenceClock[index] = clock
    const sentAt = this.#presenceSentAt[author]!
    this.#tally.presence += clock - had
    this.#tally.superseded += clock - had - 1
    for (let i = had + 1; i <= clock; i++) this.#tally.presenceDelay.add(now - (sentAt[i] ?? now))
    return true
  }

  /** What a receiver still misses, edits (in authors) and presence states; gaps never heal. */
  missing(receiver: number): { readonly edits: number; readonly presence: number; readonly gaps: number } {
    let edits = 0
    let presence = 0
    for (let author = 0; author < this.#authors; author++) {
      if (this.#isSelf(receiver, author)) continue
      const at = receiver * this.#authors + author
      if (this.#editClock[at]! < this.endClock(author)) edits++
      if (this.#presenceClock[at]! < this.#presenceSentAt[author]!.length - 1) presence++
    }
    return { edits, presence, gaps: this.#gaps[receiver]! }
  }
  #isSelf(receiver: number, author: number): boolean {
    return receiver === author && !this.#outsiders
  }
  isComplete(receiver: number): boolean {
    const { edits, presence } = this.missing(receiver)
    return edits === 0 && presence === 0
  }
  clientId(author: number): number {
    return this.#scripts[author]!.clientId
  }
  /** The author's clock after its last edit sent. */
  endClock(author: number): number {
    const sent = this.#editsSentAt[author]!.length
    return sent === 0 ? 0 : this.#scripts[author]!.ends[sent - 1]!
  }
}
