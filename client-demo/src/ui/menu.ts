/** Lists of commands: behind the menu button, and where the board is right-clicked or pressed long. */
import type { Command, CommandTable } from '../commands/command.ts'
import { keyName } from '../commands/keys.ts'
import type { Attention } from '../input/attention.ts'
import { iconButton } from './button.ts'
import { h } from './dom.ts'
import { icon } from './icons.ts'
import { type Popover, popover } from './popover.ts'

export type MenuGroups = ReadonlyArray<ReadonlyArray<string>>

function menuItem(table: CommandTable, command: Command, close: () => void): HTMLElement {
  const choose = () => {
    close()
    table.run(command.id)
  }
  const [key] = command.keys ?? []
  const pressed = command.pressed?.()
  return h(
    'li',
    {},
    h(
      'button',
      {
        class: 'menu-item',
        attrs: {
          type: 'button',
          disabled: !table.isEnabled(command),
          'aria-pressed': pressed === undefined ? null : String(pressed),
          'data-command': command.id,
        },
        on: { click: choose },
      },
      icon(command.icon),
      h('span', { text: command.label }),
      key ? h('kbd', { text: keyName(key), attrs: { 'aria-hidden': 'true' } }) : null,
    ),
  )
}

const fill = (table: CommandTable, groups: MenuGroups, close: () => void): HTMLElement[] =>
  groups.map((ids) => h('ul', { class: 'menu-group' }, ...ids.map((id) => menuItem(table, table.get(id), close))))

/** Arrow keys walk through the buttons of a list. */
export function walkByArrows(list: HTMLElement, selector: string): void {
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: 0 }[event.key]
    const all = [...list.querySelectorAll<HTMLElement>(`${selector}:not(:disabled)`)]
    if (step === undefined || all.length === 0) return
    event.preventDefault()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? all.length - 1 : (at + step + all.length) % all.length
    all[next]?.focus()
  })
}

export function mainMenu(attention: Attention, table: CommandTable, groups: MenuGroups): HTMLElement {
  const opener = iconButton({ icon: 'menu', label: 'Menu', onClick: () => refill() })
  const made = popover(attention, { id: 'menu', label: 'Menu', look: 'menu', opener })
  // Filled by the listener that was there first, so that what opens is up to date.
  const refill = () => made.element.replaceChildren(...fill(table, groups, () => made.close()))
  walkByArrows(made.element, '.menu-item')
  return h('div', { class: 'menu-holder' }, opener, made.element)
}

/** Opens at a point with what can be done there. */
export function contextMenu(
  attention: Attention,
  table: CommandTable,
): Popover & { show(at: { x: number; y: number }, groups: MenuGroups): void } {
  const made = popover(attention, { id: 'context-menu', label: 'What can be done here', look: 'menu context-menu' })
  walkByArrows(made.element, '.menu-item')
  return Object.assign(made, {
    show(at: { x: number; y: number }, groups: MenuGroups) {
      made.element.replaceChildren(...fill(table, groups, () => made.close()))
      made.open({ at })
    },
  })
}
