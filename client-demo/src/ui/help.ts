import type { CommandTable } from '../commands/command.ts'
import { GROUPS, type Group } from '../commands/command.ts'
import { IS_MAC, keyName } from '../commands/keys.ts'
import type { Attention } from '../input/attention.ts'
import { iconButton } from './button.ts'
import { h } from './dom.ts'
import { type Sheet, sheet } from './sheet.ts'

type Row = readonly [keys: string, what: string]
const ALT = IS_MAC ? '⌥' : 'Alt'

/** What is done by hand, or by keys that mean different things in different places, and so is no command. */
const GESTURES: Record<Group | 'drawing', readonly Row[]> = {
  tools: [],
  objects: [
    ['Double-click', 'Write in a text or note; on the empty board: a new text'],
    ['Right-click, long press', 'What can be done there'],
    ['Arrows', 'Move by 1, with Shift by 10'],
    [`${ALT}+Arrows`, 'Resize, with Shift as well: turn'],
  ],
  board: [],
  view: [
    ['Wheel', `Move; with ${IS_MAC ? '⌘' : 'Ctrl'} zoom`],
    ['Space+drag', 'Move the view, with every tool'],
    ['Two fingers', 'Move and zoom'],
  ],
  drawing: [
    ['Arrows', 'Move the crosshair, with Shift faster'],
    ['Enter', 'Put the tool down, and lift it again'],
    ['Escape', 'Closes what is open, top first; then back to Select'],
  ],
}

function section(title: string, rows: readonly Row[]): HTMLElement {
  return h(
    'section',
    {},
    h('h3', { text: title }),
    h(
      'dl',
      {},
      ...rows.map(([keys, what]) => h('div', {}, h('dt', {}, h('kbd', { text: keys })), h('dd', { text: what }))),
    ),
  )
}

export function helpSheet(attention: Attention, table: CommandTable): Sheet {
  const sections = (Object.keys(GROUPS) as Group[]).map((group) => {
    const keyed = table.all.filter((command) => command.group === group && command.keys)
    const rows = keyed.map(({ keys, label }): Row => [keys!.map((key) => keyName(key)).join(' · '), label])
    return rows.length === 0 ? null : section(GROUPS[group], [...rows, ...GESTURES[group]])
  })
  const made = sheet(
    attention,
    'help',
    'Keys and gestures',
    h(
      'header',
      { class: 'sheet-head' },
      h('h2', { text: 'Keys and gestures' }),
      iconButton({ icon: 'close', label: 'Close', onClick: () => made.close() }),
    ),
    h(
      'div',
      { class: 'sheet-columns' },
      ...sections.filter((part) => part !== null),
      section('Drawing by keyboard', GESTURES.drawing),
    ),
  )
  return made
}
