import { h } from './dom.ts'
import type { IconName } from './icons.ts'
import { icon } from './icons.ts'

interface Options {
  readonly icon: IconName
  /** What a screen reader says and the tooltip shows. */
  readonly label: string
  readonly shortcut?: string
  readonly class?: string
  readonly onClick: () => void
}

export function iconButton({ icon: name, label, shortcut, class: extra = '', onClick }: Options): HTMLButtonElement {
  const button = h(
    'button',
    {
      class: `icon-button ${extra}`,
      attrs: {
        type: 'button',
        'aria-label': label,
        title: shortcut ? `${label} (${shortcut})` : label,
        'aria-keyshortcuts': shortcut?.replace('Ctrl', 'Control').replaceAll(' ', '') ?? null,
      },
      on: { click: onClick },
    },
    icon(name),
  )
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
