/** Ctrl+K: every command by its name. */
import type { Command, CommandTable } from '../commands/command.ts'
import { GROUPS } from '../commands/command.ts'
import { keyName } from '../commands/keys.ts'
import type { Attention } from '../input/attention.ts'
import { h } from './dom.ts'
import { icon } from './icons.ts'
import { type Sheet, sheet } from './sheet.ts'

const wordsOf = ({ label, also = '', group }: Command): string => `${label} ${also} ${GROUPS[group]}`.toLowerCase()

/** Every word typed is the beginning of a word of the command; names come before other words. */
export function findCommands(all: readonly Command[], typed: string): Command[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (text: string) => wanted.every((word) => ` ${text}`.includes(` ${word}`))
  const found = all.filter((command) => fits(wordsOf(command)))
  return found.sort((a, b) => Number(fits(b.label.toLowerCase())) - Number(fits(a.label.toLowerCase())))
}

export function commandPalette(attention: Attention, table: CommandTable): Sheet {
  const list = h('ul', {
    class: 'palette-list',
    attrs: { id: 'palette-list', role: 'listbox', 'aria-label': 'Commands' },
  })
  const field = h('input', {
    class: 'field',
    attrs: {
      type: 'text',
      role: 'combobox',
      placeholder: 'What would you like to do?',
      'aria-label': 'Find a command',
      'aria-controls': 'palette-list',
      'aria-expanded': 'true',
      autocomplete: 'off',
      spellcheck: 'false',
    },
  })
  let found: Command[] = []
  let at = 0

  const mark = () => {
    for (const [i, item] of [...list.children].entries()) {
      item.setAttribute('aria-selected', String(i === at))
      if (i === at) item.scrollIntoView({ block: 'nearest' })
    }
    field.setAttribute('aria-activedescendant', found[at] === undefined ? '' : `palette-${found[at]!.id}`)
  }
  const choose = (command: Command | undefined) => {
    if (!command) return
    made.close()
    table.run(command.id)
  }
  const show = () => {
    at = 0
    const possible = table.all.filter((command) => command.id !== 'palette' && table.isEnabled(command))
    found = findCommands(possible, field.value)
    list.replaceChildren(
      ...found.map((command) => {
        const [key] = command.keys ?? []
        return h(
          'li',
          {
            class: 'menu-item',
            attrs: { id: `palette-${command.id}`, role: 'option', 'data-command': command.id },
            on: { click: () => choose(command) },
          },
          icon(command.icon),
          h('span', { text: command.label }),
          key ? h('kbd', { text: keyName(key) }) : null,
        )
      }),
    )
    if (found.length === 0) list.append(h('li', { class: 'palette-none', text: 'Nothing of that name.' }))
    mark()
  }
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter' && !event.isComposing) choose(found[at])
    else if (step) at = (at + step + found.length) % Math.max(1, found.length)
    else return
    event.preventDefault()
    mark()
  })
  const made = sheet(attention, 'palette', 'All commands', field, list)
  return {
    ...made,
    open() {
      field.value = ''
      show()
      made.open()
      field.focus()
    },
  }
}
