import type { CommandTable } from '../commands/command.ts'
import type { Signal } from '../signal.ts'
import type { ToolName } from '../tools/tool.ts'
import { TOOL_NAMES } from '../tools/tool.ts'
import { commandButton } from './button.ts'
import { h } from './dom.ts'

export function toolbar(table: CommandTable, tool: Signal<ToolName>): HTMLElement {
  const buttons = TOOL_NAMES.map((name) => {
    const button = commandButton(table, `tool-${name}`, 'tool')
    button.dataset.tool = name
    return button
  })
  tool.watch((now) => {
    buttons.find((button) => button.dataset.tool === now)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  return h('nav', { class: 'card toolbar', attrs: { 'aria-label': 'Tools' } }, ...buttons)
}
