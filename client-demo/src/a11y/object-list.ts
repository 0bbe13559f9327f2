/** The board as a list: for screen readers, and for finding things. Choosing an entry selects the object and shows it. */

import type { Rect } from '../board/geometry.ts'
import type { Shape } from '../board/shape.ts'
import { boundsOf, KINDS } from '../kinds/kinds.ts'
import type { Bench } from '../tools/tool.ts'
import { iconButton } from '../ui/button.ts'
import { h } from '../ui/dom.ts'
import type { IconName } from '../ui/icons.ts'
import { icon } from '../ui/icons.ts'

const MAX_LISTED = 300
const REFRESH_MS = 300
export function describe(shape: Shape): string {
  const text = shape.text.replace(/\s+/g, ' ').trim()
  const color = shape.kind === 'image' || shape.color.startsWith('#') ? '' : `, ${shape.color}`
  return `${KINDS[shape.kind].label}${color}${text ? `: ${text.slice(0, 80)}` : ''}`
}

/** What a screen reader hears: one object itself, several by their kinds. */
export function describeSelection(shapes: readonly Shape[]): string {
  const [only] = shapes
  if (only && shapes.length === 1) return `Selected: ${describe(only)}`
  const counts = new Map<string, number>()
  for (const { kind } of shapes) counts.set(KINDS[kind].label, (counts.get(KINDS[kind].label) ?? 0) + 1)
  const parts = [...counts].map(([label, n]) => `${n} ${label.toLowerCase()}`)
  return `${shapes.length.toLocaleString('en')} objects selected: ${parts.join(', ')}`
}

const kindIcon = (kind: Shape['kind']): IconName => kind

export class ObjectList {
  readonly element: HTMLElement
  readonly #list = h('ul', { class: 'objects', attrs: { 'aria-label': 'Objects on the board' } })
  readonly #count = h('p', { class: 'drawer-note' })
  readonly #filter = h('input', {
    class: 'field',
    attrs: { type: 'search', placeholder: 'Find…', 'aria-label': 'Find objects' },
  })
  #timer = 0

  constructor(
    private readonly bench: Bench,
    onClose: () => void,
  ) {
    this.element = h(
      'aside',
      { class: 'card drawer object-drawer', attrs: { 'aria-label': 'Objects', hidden: true } },
      h(
        'header',
        { class: 'drawer-head' },
        h('h2', { text: 'Objects' }),
        iconButton({ icon: 'close', label: 'Close the list', onClick: onClose }),
      ),
      this.#filter,
      this.#count,
      this.#list,
    )
    this.#filter.addEventListener('input', () => this.#refreshSoon())
    bench.board.changed.on(() => this.#refreshSoon())
    bench.selection.watch(() => this.#refreshSoon())
  }

  opened(): void {
    this.#refresh()
    this.#filter.focus()
  }

  #refreshSoon(): void {
    if (this.element.hidden || this.#timer !== 0) return
    this.#timer = window.setTimeout(() => {
      this.#timer = 0
      this.#refresh()
    }, REFRESH_MS)
  }

  #refresh(): void {
    const { board, selection } = this.bench
    const wanted = this.#filter.value.trim().toLowerCase()
    const found = board.ordered().filter((shape) => wanted === '' || describe(shape).toLowerCase().includes(wanted))
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.id : undefined
    this.#list.replaceChildren(
      ...found
        .slice(-MAX_LISTED)
        .reverse()
        .map((shape) => this.#entry(shape, selection.value.has(shape.id))),
    )
    if (focused) this.#list.querySelector<HTMLElement>(`[data-id="${focused}"]`)?.focus()
    const total = found.length === 1 ? '1 object' : `${found.length} objects`
    this.#count.textContent = found.length > MAX_LISTED ? `${total}, the front ${MAX_LISTED} listed` : total
  }

  #entry(shape: Shape, selected: boolean): HTMLElement {
    const button = h(
      'button',
      {
        class: 'object',
        attrs: { type: 'button', 'aria-pressed': selected, 'data-id': shape.id },
        on: { click: (event) => this.#choose(shape, event.shiftKey) },
      },
      icon(kindIcon(shape.kind)),
      h('span', { text: describe(shape) }),
    )
    button.setAttribute('aria-pressed', String(selected))
    return h('li', {}, button)
  }

  #choose(shape: Shape, add: boolean): void {
    const { selection, view, tool } = this.bench
    tool.set('select')
    selection.set(new Set(add ? [...selection.value, shape.id] : [shape.id]))
    const { x, y, w, h: height }: Rect = boundsOf(shape)
    view.lookAt({ x: x + w / 2, y: y + height / 2 })
  }
}
