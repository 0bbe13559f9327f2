/**
 * What one author draws, recorded from a real Y.Doc before the measurement, so that sending costs a copy: strokes of 40
 * points, each point an edit, the stroke before the last but one erased when a new one begins. Every server gets the same
 * updates. Authors depend on nothing but themselves.
 */
import * as Y from 'yjs'

export interface Script {
  /** The Yjs client id, also the presence id. */
  readonly clientId: number
  readonly edits: readonly Uint8Array[]
  /** By edit: the author's clock after it. */
  readonly ends: readonly number[]
  /** By clock: how many edits are whole below it. */
  readonly editsBelow: readonly number[]
}

export const ROOT = 'strokes'
const FIRST_ID = 0x4b1d_0000
const POINTS_PER_STROKE = 40

class Recorder implements Script {
  readonly clientId: number
  readonly edits: Uint8Array[] = []
  readonly ends: number[] = []
  readonly editsBelow: number[] = [0]
  readonly #doc = new Y.Doc()
  readonly #strokes: Y.Map<unknown>
  readonly #random: () => number
  #points = new Y.Array<number>()
  #x = 0
  #y = 0

  constructor(index: number) {
    this.clientId = FIRST_ID + index
    this.#doc.clientID = this.clientId
    this.#strokes = this.#doc.getMap(ROOT)
    this.#random = seededRandom(index + 1)
    this.#doc.on('update', (update: Uint8Array) => this.edits.push(update))
  }

  extendTo(edits: number): void {
    while (this.edits.length < edits) {
      const number = this.edits.length
      this.#doc.transact(() => this.#edit(number))
      const end = Y.getState(this.#doc.store, this.clientId)
      while (this.editsBelow.length < end) this.editsBelow.push(number)
      this.editsBelow.push(number + 1)
      this.ends.push(end)
    }
  }

  #edit(number: number): void {
    if (number % POINTS_PER_STROKE === 0) {
      const stroke = number / POINTS_PER_STROKE
      this.#x = this.#random() * 4000
      this.#y = this.#random() * 3000
      this.#points = new Y.Array()
      const shape = new Y.Map<unknown>([
        ['color', '#30bced'],
        ['width', 4],
        ['points', this.#points],
      ])
      this.#strokes.set(`${this.clientId}-${stroke}`, shape)
      this.#strokes.delete(`${this.clientId}-${stroke - 2}`)
    }
    this.#x += this.#random() * 24 - 12
    this.#y += this.#random() * 24 - 12
    this.#points.push([tenth(this.#x), tenth(this.#y), tenth(this.#random())])
  }
}

const recorders: Recorder[] = []

/** The scripts of the first `authors` authors with at least `edits` edits each. */
export function scripts(authors: number, edits: number): readonly Script[] {
  while (recorders.length < authors) recorders.push(new Recorder(recorders.length))
  const chosen = recorders.slice(0, authors)
  for (const recorder of chosen) recorder.extendTo(edits)
  return chosen
}

/** A presence state as whiteboards send it: who, and where the cursor is. */
export function cursorState(author: number, now: number): string {
  const x = tenth(2000 + 1500 * Math.sin(now / 700 + author))
  const y = tenth(1500 + 1000 * Math.cos(now / 900 + author))
  return `{"user":{"name":"Member ${author}","color":"#30bced"},"cursor":{"x":${x},"y":${y}},"tool":"pen"}`
}

const tenth = (value: number): number => Math.round(value * 10) / 10

/** Mulberry32: the same numbers in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
