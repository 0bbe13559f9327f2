import type { Attention } from '../input/attention.ts'

/** A panel at the side, beside the work; it shows itself up to date when it is opened. */
export interface Drawer {
  readonly element: HTMLElement
  opened(): void
}

/** One drawer is open at a time. */
export class Drawers {
  #open: { drawer: Drawer; leave: () => void } | null = null

  constructor(private readonly attention: Attention) {}

  toggle(drawer: Drawer): void {
    const was = this.#open?.drawer
    if (was) this.close(was)
    if (was === drawer) return
    const leave = this.attention.enter({ kind: 'drawer', element: drawer.element, close: () => this.close(drawer) })
    this.#open = { drawer, leave }
    drawer.element.hidden = false
    drawer.opened()
  }

  close(drawer: Drawer): void {
    if (this.#open?.drawer !== drawer) return
    const { leave } = this.#open
    this.#open = null
    leave()
    drawer.element.hidden = true
  }
}
