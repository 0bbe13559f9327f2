import type { Viewport } from '../canvas/viewport.ts'
import { h, reducedMotion } from '../ui/dom.ts'
import type { Person, Presence } from './presence.ts'
import { inkOn } from './presence-validation.ts'

/** Half of the remaining way per frame at 60 Hz: smooth at 30 positions a second, and never more than two frames late. */
const GLIDE = 0.45

interface Cursor {
  readonly element: HTMLElement
  readonly label: HTMLElement
  x: number
  y: number
  toX: number
  toY: number
  color: string
}

/** Other people's pointers, gliding between the positions they send. */
export class Cursors {
  readonly #layer: HTMLElement
  readonly #cursors = new Map<number, Cursor>()
  #running = false

  constructor(
    stage: HTMLElement,
    private readonly presence: Presence,
    private readonly view: Viewport,
  ) {
    this.#layer = h('div', { class: 'cursors', attrs: { 'aria-hidden': 'true' } })
    stage.append(this.#layer)
    presence.changed.on(() => this.#read())
    view.changed.on(() => this.#run())
  }

  #read(): void {
    for (const [id, person] of this.presence.others) if (person.cursor) this.#aim(id, person, person.cursor)
    for (const [id, cursor] of this.#cursors) {
      if (this.presence.others.get(id)?.cursor) continue
      cursor.element.remove()
      this.#cursors.delete(id)
    }
    this.#run()
  }

  #aim(id: number, person: Person, [x, y]: readonly [number, number]): void {
    let cursor = this.#cursors.get(id)
    if (!cursor) {
      const label = h('span', { class: 'cursor-name' })
      const element = h('div', { class: 'cursor' }, h('span', { class: 'cursor-arrow' }), label)
      cursor = { element, label, x, y, toX: x, toY: y, color: '' }
      this.#cursors.set(id, cursor)
      this.#layer.append(element)
    }
    cursor.toX = x
    cursor.toY = y
    if (cursor.label.textContent !== person.name) cursor.label.textContent = person.name
    if (cursor.color !== person.color) {
      cursor.color = person.color
      cursor.element.style.setProperty('--person', person.color)
      cursor.element.style.setProperty('--person-ink', inkOn(person.color))
    }
  }

  #run(): void {
    if (this.#running) return
    this.#running = true
    requestAnimationFrame(() => this.#step())
  }

  #step(): void {
    this.#running = false
    const glide = reducedMotion() ? 1 : GLIDE
    for (const cursor of this.#cursors.values()) {
      cursor.x += (cursor.toX - cursor.x) * glide
      cursor.y += (cursor.toY - cursor.y) * glide
      if (Math.hypot(cursor.toX - cursor.x, cursor.toY - cursor.y) * this.view.zoom > 0.5) this.#run()
      const { x, y } = this.view.toScreen(cursor)
      cursor.element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`
    }
  }
}
