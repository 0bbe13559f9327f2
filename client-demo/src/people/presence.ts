/**
 * What this person shows to others and what others show: cursor, view, selection, what is being drawn or dragged, a reaction.
 * All of it in one presence state, sent at most once per 33 ms; none of it touches the document.
 */
import type { Awareness } from 'y-protocols/awareness'
import type { Transform } from '../board/geometry.ts'
import type { Box, Fill, ShapeKind } from '../board/shape.ts'
import { Event } from '../signal.ts'
import { readPerson } from './presence-validation.ts'

/** The server's presence tick; faster would only be folded there. */
const SEND_INTERVAL_MS = 33
/** A state stays far below the server's 16 KiB: 200 ids of 12 characters are 3 KiB. */
export const MAX_SHARED_SELECTION = 200

export type Preview =
  | {
      readonly is: 'shape'
      readonly kind: ShapeKind
      readonly box: Box
      readonly color: string
      readonly fill: Fill
      readonly width: number
    }
  | { readonly is: 'transform'; readonly how: Transform }

export interface Reaction {
  readonly glyph: number
  /** Counts up, so that the same reaction twice in a row is seen twice. */
  readonly n: number
  readonly x: number
  readonly y: number
}

export interface Person {
  readonly name: string
  readonly color: string
  readonly cursor: readonly [x: number, y: number] | null
  /** Centre of the view, zoom, and how much of the board is in it; 0 × 0 is unknown. */
  readonly view: readonly [x: number, y: number, zoom: number, w: number, h: number] | null
  readonly selection: readonly string[]
  /** Everything selected when it is more than can be listed: x, y, w, h. */
  readonly selectionRect: readonly [number, number, number, number] | null
  readonly preview: Preview | null
  readonly reaction: Reaction | null
}

export class Presence {
  readonly others = new Map<number, Person>()
  readonly changed = new Event<void>()
  #mine: Person = {
    name: '',
    color: '#0b7079',
    cursor: null,
    view: null,
    selection: [],
    selectionRect: null,
    preview: null,
    reaction: null,
  }
  #lastCursor: Person['cursor'] = null
  #sentAt = Number.NEGATIVE_INFINITY
  #timer = 0

  constructor(readonly awareness: Awareness) {
    awareness.on('change', ({ added, updated, removed }: Record<'added' | 'updated' | 'removed', number[]>) => {
      for (const id of [...added, ...updated]) this.#read(id)
      for (const id of removed) this.others.delete(id)
      this.changed.emit()
    })
    for (const id of awareness.getStates().keys()) this.#read(id)
  }

  #read(id: number): void {
    if (id === this.awareness.clientID) return
    const person = readPerson(this.awareness.getStates().get(id))
    if (person) this.others.set(id, person)
    else this.others.delete(id)
  }

  get mine(): Person {
    return this.#mine
  }

  /** Where the pointer was last, also when it is over a button now. */
  get lastCursor(): Person['cursor'] {
    return this.#lastCursor
  }

  show(part: Partial<Person>): void {
    if (part.cursor) this.#lastCursor = part.cursor
    this.#mine = { ...this.#mine, ...part }
    if (this.#timer !== 0) return
    const wait = this.#sentAt + SEND_INTERVAL_MS - performance.now()
    if (wait <= 0) this.#send()
    else this.#timer = window.setTimeout(() => this.#send(), wait)
  }

  #send(): void {
    this.#timer = 0
    this.#sentAt = performance.now()
    const shared = Object.entries(this.#mine).filter(([, value]) => value !== null && !isEmpty(value))
    this.awareness.setLocalState(Object.fromEntries(shared))
  }
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0
