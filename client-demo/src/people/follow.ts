import type { Viewport } from '../canvas/viewport.ts'
import type { Attention } from '../input/attention.ts'
import { signal } from '../signal.ts'
import { textButton } from '../ui/button.ts'
import { h } from '../ui/dom.ts'
import type { Presence } from './presence.ts'
import { inkOn } from './presence-validation.ts'

/** Shows what somebody else is looking at, until one moves the view oneself. */
export class Follow {
  readonly following = signal<number | null>(null)
  readonly element: HTMLElement
  #moving = false

  constructor(
    private readonly presence: Presence,
    private readonly view: Viewport,
    attention: Attention,
  ) {
    let leave: (() => void) | null = null
    const label = h('span')
    this.element = h(
      'div',
      { class: 'following', attrs: { hidden: true } },
      label,
      textButton('Stop', () => this.stop()),
    )
    presence.changed.on(() => this.#look())
    view.changed.on(() => {
      if (!this.#moving) this.stop()
      const { x, y } = view.centre
      const { w, h } = view.visible()
      const zoom = Math.round(view.zoom * 1_000) / 1_000
      presence.show({ view: [Math.round(x), Math.round(y), zoom, Math.round(w), Math.round(h)] })
    })
    this.following.watch((id) => {
      const person = id === null ? undefined : presence.others.get(id)
      this.element.hidden = !person
      leave?.()
      leave = person ? attention.enter({ kind: 'following', close: () => this.stop() }) : null
      if (!person) return
      label.textContent = `Following ${person.name}`
      this.element.style.setProperty('--person', person.color)
      this.element.style.setProperty('--person-ink', inkOn(person.color))
    })
  }

  toggle(id: number): void {
    this.following.set(this.following.value === id ? null : id)
    this.#look()
  }

  stop(): void {
    this.following.set(null)
  }

  #look(): void {
    const id = this.following.value
    if (id === null) return
    const person = this.presence.others.get(id)
    if (!person) {
      this.stop()
      return
    }
    if (!person.view) return
    const [x, y, leaders, w, h] = person.view
    // All of what the leader sees, also where this window is smaller.
    const fits = w > 0 && h > 0 ? Math.min(this.view.width / w, this.view.height / h) : leaders
    const zoom = Math.min(leaders, Math.round(fits * 1_000) / 1_000)
    const { centre } = this.view
    if (Math.abs(centre.x - x) < 1 && Math.abs(centre.y - y) < 1 && Math.abs(this.view.zoom - zoom) < 0.001) return
    this.#moving = true
    this.view.lookAt({ x, y }, zoom)
    this.#moving = false
  }
}
