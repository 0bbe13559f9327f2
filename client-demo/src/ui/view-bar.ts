import type { CommandTable } from '../commands/command.ts'
import { keyName } from '../commands/keys.ts'
import type { Bench } from '../tools/tool.ts'
import { commandButton } from './button.ts'
import { h } from './dom.ts'

/** Undo, redo and the zoom. */
export function viewBar({ view }: Bench, table: CommandTable, extra: HTMLElement): HTMLElement {
  const level = h('button', {
    class: 'zoom-level',
    attrs: { type: 'button', title: `Back to 100 % (${keyName('0')})` },
    on: { click: () => table.run('zoom-100') },
  })
  const showZoom = () => {
    const percent = `${Math.round(view.zoom * 100)} %`
    if (level.textContent === percent) return
    level.textContent = percent
    level.setAttribute('aria-label', `Zoom ${percent}. Back to 100 %`)
  }
  view.changed.on(showZoom)
  showZoom()
  return h(
    'nav',
    { class: 'view-bar', attrs: { 'aria-label': 'View and history' } },
    h('div', { class: 'card bar' }, commandButton(table, 'undo'), commandButton(table, 'redo')),
    h(
      'div',
      { class: 'card bar zoom-bar' },
      commandButton(table, 'zoom-out', 'wide-only'),
      level,
      commandButton(table, 'zoom-in', 'wide-only'),
      commandButton(table, 'fit-all'),
    ),
    h('div', { class: 'card bar' }, extra),
  )
}
