import type { Commands } from '../tools/commands.ts'
import type { Bench } from '../tools/tool.ts'
import { iconButton } from './button.ts'
import { h } from './dom.ts'

/** Undo, redo and the zoom. */
export function viewBar({ view, history, board }: Bench, commands: Commands, extra: HTMLElement): HTMLElement {
  const undo = iconButton({ icon: 'undo', label: 'Undo', shortcut: 'Ctrl+Z', onClick: () => history.undo() })
  const redo = iconButton({ icon: 'redo', label: 'Redo', shortcut: 'Ctrl+Shift+Z', onClick: () => history.redo() })
  const level = h('button', {
    class: 'zoom-level',
    attrs: { type: 'button', title: 'Back to 100 % (0)' },
    on: { click: () => view.zoomTo(1) },
  })
  const showSteps = () => {
    undo.disabled = board.readOnly || history.manager.undoStack.length === 0
    redo.disabled = board.readOnly || history.manager.redoStack.length === 0
  }
  for (const name of ['stack-item-added', 'stack-item-popped', 'stack-cleared'] as const)
    history.manager.on(name, showSteps)
  showSteps()
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
    h('div', { class: 'card bar' }, undo, redo),
    h(
      'div',
      { class: 'card bar zoom-bar' },
      iconButton({
        icon: 'minus',
        label: 'Zoom out',
        shortcut: '-',
        class: 'wide-only',
        onClick: () => view.zoomTo(view.zoom / 1.25),
      }),
      level,
      iconButton({
        icon: 'plus',
        label: 'Zoom in',
        shortcut: '+',
        class: 'wide-only',
        onClick: () => view.zoomTo(view.zoom * 1.25),
      }),
      iconButton({ icon: 'fit', label: 'Show everything', shortcut: '1', onClick: () => commands.fitAll() }),
    ),
    h('div', { class: 'card bar' }, extra),
  )
}
