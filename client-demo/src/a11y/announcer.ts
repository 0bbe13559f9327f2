import { h } from '../ui/dom.ts'

/** One polite voice for what has no words on the screen. */
export class Announcer {
  readonly element = h('div', { class: 'visually-hidden', attrs: { 'aria-live': 'polite' } })
  #timer = 0

  say(text: string): void {
    window.clearTimeout(this.#timer)
    this.element.textContent = ''
    // The same words twice in a row are read only if the region was empty in between.
    this.#timer = window.setTimeout(() => {
      this.element.textContent = text
    }, 60)
  }
}
