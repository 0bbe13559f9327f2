import type { Attention } from '../input/attention.ts'
import { h } from './dom.ts'

export interface Sheet {
  readonly element: HTMLDialogElement
  open(): void
  close(): void
}

/** A dialog over everything; closes on Escape, on a press beside it, and with the phone's back button. */
export function sheet(attention: Attention, look: string, label: string, ...children: ReadonlyArray<Node>): Sheet {
  const element = h('dialog', { class: `card sheet ${look}`, attrs: { 'aria-label': label } }, ...children)
  let leave: (() => void) | null = null
  const close = () => element.close()
  element.addEventListener('close', () => {
    leave?.()
    leave = null
  })
  element.addEventListener('click', (event) => {
    if (event.target === element) close()
  })
  return {
    element,
    open() {
      leave ??= attention.enter({ kind: 'dialog', element, close })
      if (!element.open) element.showModal()
    },
    close,
  }
}
