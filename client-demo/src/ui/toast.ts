import { h } from './dom.ts'

/** Long sentences and warnings stay longer. */
const SHOWN_MS = 4_500
const MS_PER_LETTER = 60

/** Short messages at the edge of the board; read out by screen readers. */
export class Toasts {
  readonly element = h('div', { class: 'toasts', attrs: { role: 'status', 'aria-live': 'polite' } })

  say(text: string, kind: 'plain' | 'warning' = 'plain'): void {
    const toast = h('div', { class: `toast toast-${kind}`, text })
    this.element.append(toast)
    while (this.element.childElementCount > 3) this.element.firstElementChild?.remove()
    window.setTimeout(
      () => toast.remove(),
      Math.max(kind === 'warning' ? 1.5 * SHOWN_MS : SHOWN_MS, text.length * MS_PER_LETTER),
    )
  }
}
