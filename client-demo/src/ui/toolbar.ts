import type { Signal } from '../signal.ts'
import type { ToolName } from '../tools/tool.ts'
import { TOOL_NAMES } from '../tools/tool.ts'
import { iconButton } from './button.ts'
import { h } from './dom.ts'

export const TOOL_LABELS: Record<ToolName, { label: string; key: string }> = {
  select: { label: 'Select', key: 'V' },
  hand: { label: 'Move the view', key: 'H' },
  pen: { label: 'Pen', key: 'P' },
  rect: { label: 'Rectangle', key: 'R' },
  ellipse: { label: 'Ellipse', key: 'O' },
  line: { label: 'Line', key: 'L' },
  arrow: { label: 'Arrow', key: 'A' },
  text: { label: 'Text', key: 'T' },
  note: { label: 'Sticky note', key: 'N' },
  image: { label: 'Image', key: 'I' },
  eraser: { label: 'Eraser', key: 'E' },
}

/** Reading is all that is left of the tools on a read-only board. */
const READING: ReadonlySet<ToolName> = new Set(['select', 'hand'])

export function toolbar(tool: Signal<ToolName>, readOnly: Signal<boolean>, pickImage: () => void): HTMLElement {
  const buttons = TOOL_NAMES.map((name) => {
    const { label, key } = TOOL_LABELS[name]
    const choose = name === 'image' ? pickImage : () => tool.set(name)
    const button = iconButton({ icon: name, label, shortcut: key, class: 'tool', onClick: choose })
    button.dataset.tool = name
    if (name !== 'image') tool.watch((now) => button.setAttribute('aria-pressed', String(now === name)))
    readOnly.watch((locked) => {
      button.disabled = locked && !READING.has(name)
    })
    return button
  })
  tool.watch((now) => {
    buttons.find((button) => button.dataset.tool === now)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  return h('nav', { class: 'card toolbar', attrs: { 'aria-label': 'Tools' } }, ...buttons)
}
