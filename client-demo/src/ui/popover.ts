import type { Attention } from '../input/attention.ts'
import { h } from './dom.ts'

export interface Popover {
  readonly element: HTMLElement
  readonly isOpen: boolean
  /** `at`: where a pointer asked for it, in window coordinates. `quiet`: the focus stays where it is. */
  open(options?: { at?: { x: number; y: number }; quiet?: boolean }): void
  close(): void
  toggle(): void
}

const MARGIN_PX = 8

/** Something that opens over the board and goes again with the next press elsewhere, or with Escape (input/attention). */
export function popover(
  attention: Attention,
  { id, label, look, opener }: { id: string; label: string; look: string; opener?: HTMLElement },
  ...children: ReadonlyArray<Node>
): Popover {
  const element = h(
    'div',
    { class: `popover card ${look}`, attrs: { id, popover: 'manual', role: 'dialog', 'aria-label': label } },
    ...children,
  )
  let leave: (() => void) | null = null
  const mark = () => opener?.setAttribute('aria-expanded', String(leave !== null))
  const made: Popover = {
    element,
    get isOpen() {
      return leave !== null
    },
    open({ at, quiet = false } = {}) {
      if (!leave) {
        leave = attention.enter({ kind: 'menu', element, ...(opener && { opener }), close: () => made.close() })
        element.showPopover()
      }
      mark()
      if (at) {
        const { width, height } = element.getBoundingClientRect()
        element.style.left = `${Math.max(MARGIN_PX, Math.min(at.x, innerWidth - width - MARGIN_PX))}px`
        element.style.top = `${Math.max(MARGIN_PX, Math.min(at.y, innerHeight - height - MARGIN_PX))}px`
      }
      if (!quiet) element.querySelector<HTMLElement>('input, button:not(:disabled)')?.focus({ preventScroll: true })
    },
    close() {
      const gone = leave
      leave = null
      // The focus is given back while it is still inside: hidden elements lose it to nobody.
      gone?.()
      if (element.matches(':popover-open')) element.hidePopover()
      mark()
    },
    toggle() {
      if (leave) made.close()
      else made.open()
    },
  }
  opener?.setAttribute('aria-haspopup', 'dialog')
  opener?.addEventListener('click', () => made.toggle())
  mark()
  return made
}
