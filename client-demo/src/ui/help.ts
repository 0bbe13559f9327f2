import { iconButton } from './button.ts'
import { h } from './dom.ts'
import { TOOL_LABELS } from './toolbar.ts'

const SECTIONS: ReadonlyArray<{ title: string; rows: ReadonlyArray<readonly [keys: string, what: string]> }> = [
  { title: 'Tools', rows: Object.values(TOOL_LABELS).map(({ label, key }) => [key, label] as const) },
  {
    title: 'Objects',
    rows: [
      ['Ctrl+C · X · V', 'Copy, cut, paste (also between boards)'],
      ['Ctrl+D', 'Duplicate'],
      ['Delete', 'Delete'],
      ['Ctrl+] · [', 'To the front, to the back'],
      ['Ctrl+A', 'Select everything'],
      ['. · ,', 'Select the next, the previous object'],
      ['Arrows', 'Move by 1, with Shift by 10'],
      ['Alt+Arrows', 'Resize, with Shift as well: turn'],
      ['Enter', 'Write in the selected note or text'],
      ['Ctrl+Z · Ctrl+Shift+Z', 'Undo, redo what you did'],
    ],
  },
  {
    title: 'View',
    rows: [
      ['Wheel', 'Move; with Ctrl zoom'],
      ['Space+drag', 'Move the view'],
      ['Two fingers', 'Move and zoom'],
      ['+ · - · 0', 'Zoom in, out, 100 %'],
      ['1', 'Show everything'],
      ['G', 'Grid'],
      ['B', 'List of objects'],
      ['W', 'The weir: what the line does'],
    ],
  },
  {
    title: 'Drawing by keyboard',
    rows: [
      ['Arrows', 'Move the crosshair, with Shift faster'],
      ['Enter', 'Put the tool down, and lift it again'],
      ['Escape', 'Cancel, then back to Select'],
    ],
  },
]

export function helpSheet(): HTMLDialogElement {
  const close = () => dialog.close()
  const sections = SECTIONS.map(({ title, rows }) =>
    h(
      'section',
      {},
      h('h3', { text: title }),
      h(
        'dl',
        {},
        ...rows.map(([keys, what]) => h('div', {}, h('dt', {}, h('kbd', { text: keys })), h('dd', { text: what }))),
      ),
    ),
  )
  const dialog = h(
    'dialog',
    { class: 'card sheet', attrs: { 'aria-labelledby': 'help-title' } },
    h(
      'header',
      { class: 'sheet-head' },
      h('h2', { text: 'Keys and gestures', attrs: { id: 'help-title' } }),
      iconButton({ icon: 'close', label: 'Close', onClick: close }),
    ),
    h('div', { class: 'sheet-columns' }, ...sections),
  )
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close()
  })
  return dialog
}
