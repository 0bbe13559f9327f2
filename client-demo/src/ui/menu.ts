import { iconButton } from './button.ts'
import { h } from './dom.ts'
import type { IconName } from './icons.ts'
import { icon } from './icons.ts'

export interface MenuItem {
  readonly icon: IconName
  readonly label: string
  readonly shortcut?: string
  readonly run: () => void
}

/** A list of commands that opens from a button; the browser closes it on Escape and on a click elsewhere. */
export function menu(groups: ReadonlyArray<readonly MenuItem[]>): HTMLElement {
  const panel = h('div', { class: 'popover card menu', attrs: { id: 'menu', popover: 'auto', 'aria-label': 'Menu' } })
  for (const items of groups) {
    const list = h('ul', { class: 'menu-group' })
    for (const item of items) {
      const choose = () => {
        panel.hidePopover()
        item.run()
      }
      const button = h(
        'button',
        { class: 'menu-item', attrs: { type: 'button' }, on: { click: choose } },
        icon(item.icon),
        h('span', { text: item.label }),
        item.shortcut ? h('kbd', { text: item.shortcut, attrs: { 'aria-hidden': 'true' } }) : null,
      )
      list.append(h('li', {}, button))
    }
    panel.append(list)
  }
  const opener = iconButton({ icon: 'menu', label: 'Menu', onClick: () => {} })
  opener.setAttribute('popovertarget', 'menu')
  return h('div', { class: 'menu-holder' }, opener, panel)
}
