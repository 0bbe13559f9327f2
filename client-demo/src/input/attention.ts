/**
 * The one owner of focus, and of the question who gets a key or a press.
 *   in   layers that lie over the board, in the order in which they opened; every key and press, before anybody else sees it
 *   out  `ownerOf` for keys · Escape closes the top layer and nothing else · a press beside a menu closes it and does nothing
 *        else · a press on a bar leaves the focus where it was · a layer that goes gives the focus back to where it came from
 */

/**
 * `gesture` a pointer or the crosshair is down · `writing` the text field on the board · `menu` goes with a press beside it ·
 * `dialog` nothing behind it can be reached · `drawer` stays open beside the work · `following` somebody else's view is shown
 */
type LayerKind = 'gesture' | 'writing' | 'menu' | 'dialog' | 'drawer' | 'following'

export interface Layer {
  readonly kind: LayerKind
  /** Keys and presses within are the layer's own. */
  readonly element?: HTMLElement
  /** The button that opens and closes it: a press there is not beside it. */
  readonly opener?: HTMLElement
  close(): void
}

/** `board` tools and commands · `field` letters are typed · `control` Enter and Space press a button · `layer` a menu or dialog. */
export type KeyOwner = 'board' | 'field' | 'control' | 'layer'

const FIELDS = 'input, textarea, select, [contenteditable]'
/** Buttons here act on the board and never need the focus, unless one walks to them by Tab. */
const BARS = '.toolbar, .style-panel, .view-bar, .top'

const within = (target: EventTarget | null, place: Element | undefined): boolean =>
  target instanceof Node && place !== undefined && place.contains(target)

export class Attention {
  readonly #layers: Layer[] = []
  #swallowing = false

  constructor(readonly board: HTMLElement) {
    window.addEventListener('keydown', (event) => this.#onKey(event), true)
    window.addEventListener('pointerdown', (event) => this.#onPress(event), true)
    window.addEventListener('mousedown', (event) => this.#onMouse(event), true)
    window.addEventListener('click', (event) => this.#onClick(event), true)
  }

  get top(): Layer | undefined {
    return this.#layers.at(-1)
  }

  has(kind: LayerKind): boolean {
    return this.#layers.some((layer) => layer.kind === kind)
  }

  /** A layer has opened; calling what this gives back, any number of times, says that it is gone. */
  enter(layer: Layer): () => void {
    const before = document.activeElement
    this.#layers.push(layer)
    return () => {
      const at = this.#layers.indexOf(layer)
      if (at < 0) return
      this.#layers.splice(at, 1)
      this.#giveBack(layer, before)
    }
  }

  #giveBack({ element }: Layer, before: Element | null): void {
    const now = document.activeElement
    if (!element || (now !== document.body && !within(now, element))) return
    if (before instanceof HTMLElement && before !== document.body && before.checkVisibility()) {
      before.focus({ preventScroll: true })
      if (document.activeElement === before) return
    }
    this.focusBoard()
  }

  focusBoard(): void {
    this.board.focus({ preventScroll: true })
  }

  ownerOf(event: KeyboardEvent | ClipboardEvent): KeyOwner {
    const { target } = event
    if (this.has('dialog')) return 'layer'
    if (target instanceof Element && target.closest(FIELDS)) return 'field'
    for (const { kind, element } of this.#layers) if (kind === 'menu' && within(target, element)) return 'layer'
    const key = event instanceof KeyboardEvent ? event.key : ''
    if ((key === 'Enter' || key === ' ') && target instanceof Element && target.closest('button, a, summary')) {
      return 'control'
    }
    return 'board'
  }

  #onKey(event: KeyboardEvent): void {
    // The ring around the whole board is for those who go through the page by Tab, not for every shortcut.
    if (event.key === 'Tab') document.documentElement.dataset.walking = ''
    if (event.key !== 'Escape' || event.isComposing || !this.top) return
    event.preventDefault()
    event.stopImmediatePropagation()
    this.top.close()
  }

  #onPress(event: PointerEvent): void {
    delete document.documentElement.dataset.walking
    this.#swallowing = false
    // Something may have opened since (following, a drawer): the menu is still the one that is in the way.
    const at = this.#layers.findLastIndex(({ kind }) => kind === 'menu')
    const menu = this.#layers[at]
    const isIn = ({ element, opener }: Layer) => within(event.target, element) || within(event.target, opener)
    if (!menu || this.#layers.slice(at).some(isIn)) return
    this.#swallowing = true
    event.preventDefault()
    event.stopImmediatePropagation()
    menu.close()
  }

  #onMouse(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null
    const field = target?.closest(FIELDS)
    const onBoard = within(target, this.board) && !target?.closest('.on-stage')
    // Focus on the board is moved by the press itself: a finger's mouse events come late, when a text is open already.
    if (this.#swallowing || onBoard || (target?.closest(BARS) && !field)) event.preventDefault()
  }

  #onClick(event: MouseEvent): void {
    // Clicks made by keys have no detail and are nobody's press.
    if (!this.#swallowing || event.detail === 0) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
}
