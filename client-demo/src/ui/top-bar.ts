import { linkToRoom } from '../room-name.ts'
import { iconButton } from './button.ts'
import { h } from './dom.ts'
import { icon } from './icons.ts'
import type { Toasts } from './toast.ts'

interface Parts {
  readonly room: string
  readonly people: HTMLElement
  readonly pill: HTMLElement
  readonly menu: HTMLElement
  readonly toggleWeir: () => void
  readonly toasts: Toasts
}

async function copyLink(room: string, toasts: Toasts): Promise<void> {
  const link = linkToRoom(room)
  try {
    await navigator.clipboard.writeText(link)
    toasts.say('Link copied. Whoever opens it is on this board.')
  } catch {
    toasts.say(`The link: ${link}`)
  }
}

export function topBar({ room, people, pill, menu, toggleWeir, toasts }: Parts): HTMLElement {
  const share = h(
    'button',
    {
      class: 'room-button',
      attrs: { type: 'button', title: 'Copy the link to this board', 'aria-label': `Board ${room}. Copy its link` },
      on: { click: () => void copyLink(room, toasts) },
    },
    h('span', { class: 'room-name', text: room }),
    icon('link'),
  )
  const weir = iconButton({ icon: 'weir', label: 'The weir', shortcut: 'W', class: 'wide-only', onClick: toggleWeir })
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
