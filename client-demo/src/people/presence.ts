/**
 * What this person shows to others and what others show: cursor, view, selection, what is being drawn or dragged, a reaction.
 * All of it in one presence state, sent at most once per 33 ms; none of it touches the document.
 */
import type { Awareness } from 'y-protocols/awareness'
import { Event } from '../signal.ts'
import type { Person } from './person.ts'
import { readPerson } from './presence-validation.ts'

/** The server's presence tick; faster would only be folded there. */
const SEND_INTERVAL_MS = 33
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
