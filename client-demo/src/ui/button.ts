import type { CommandTable } from '../commands/command.ts'
import { ariaKey, keyName } from '../commands/keys.ts'
import { h } from './dom.ts'
import type { IconName } from './icons.ts'
import { icon } from './icons.ts'

interface Options {
  readonly icon: IconName
  /** What a screen reader says and the tooltip shows. */
  readonly label: string
  readonly class?: string
  readonly onClick: () => void
}

export function iconButton({ icon: name, label, class: extra = '', onClick }: Options): HTMLButtonElement {
  return h(
    'button',
    {
      class: `icon-button ${extra}`,
      attrs: { type: 'button', 'aria-label': label, title: label },
      on: { click: onClick },
    },
    icon(name),
  )
}

/** A button that is a command: name, key, enabled and pressed are what the table says. */
export function commandButton(table: CommandTable, id: string, extra = ''): HTMLButtonElement {
  const command = table.get(id)
  const [key] = command.keys ?? []
  const button = iconButton({ icon: command.icon, label: command.label, class: extra, onClick: () => table.run(id) })
  button.dataset.command = id
  if (key) {
    button.title = `${command.label} (${keyName(key)})`
    button.setAttribute('aria-keyshortcuts', ariaKey(key))
  }
  const show = () => {
    const enabled = table.isEnabled(command)
    if (button.disabled === enabled) button.disabled = !enabled
    const pressed = command.pressed?.()
    if (pressed !== undefined) button.setAttribute('aria-pressed', String(pressed))
  }
  table.changed.on(show)
  show()
  return button
}

export function textButton(
  label: string,
  onClick: () => void,
  name: IconName | null = null,
  extra = '',
): HTMLButtonElement {
  return h(
    'button',
    { class: `text-button ${extra}`, attrs: { type: 'button' }, on: { click: onClick } },
    name ? icon(name) : null,
    h('span', { text: label }),
  )
}
