import { h } from './dom.ts'
import { icon } from './icons.ts'

interface Parts {
  readonly room: string
  readonly copyLink: () => void
  readonly people: HTMLElement
  readonly pill: HTMLElement
  readonly weir: HTMLElement | null
  readonly menu: HTMLElement
}

export function topBar({ room, copyLink, people, pill, weir, menu }: Parts): HTMLElement {
  const share = h(
    'button',
    {
      class: 'room-button',
      attrs: { type: 'button', title: 'Copy the link to this board', 'aria-label': `Board ${room}. Copy its link` },
      on: { click: copyLink },
    },
    h('span', { class: 'room-name', text: room }),
    icon('link'),
  )
  return h(
    'header',
    { class: 'top' },
    h(
      'div',
      { class: 'card bar top-left' },
      h('span', { class: 'mark', attrs: { 'aria-hidden': 'true' } }, icon('flood')),
      h('h1', { class: 'visually-hidden', text: 'y-weir whiteboard' }),
      share,
    ),
    h('div', { class: 'card bar top-right' }, people, pill, weir, menu),
  )
}
