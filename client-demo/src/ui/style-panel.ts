import type { Fill, Shape, ShapeKind } from '../board/shape.ts'
import { PALETTE_NAMES } from '../board/shape-validation.ts'
import type { Theme } from '../canvas/palette.ts'
import { tones } from '../canvas/palette.ts'
import type { CommandTable } from '../commands/command.ts'
import type { Aspect } from '../kinds/kind.ts'
import { KINDS } from '../kinds/kinds.ts'
import { type Signal, signal } from '../signal.ts'
import type { Commands } from '../tools/commands.ts'
import type { Bench, Look, ToolName } from '../tools/tool.ts'
import { commandButton } from './button.ts'
import { h } from './dom.ts'

const COLOR_LABELS: Record<string, string> = {
  ink: 'Ink',
  grey: 'Grey',
  red: 'Red',
  orange: 'Orange',
  yellow: 'Yellow',
  green: 'Green',
  blue: 'Blue',
  violet: 'Violet',
}
const WIDTHS = [
  { value: 2, label: 'Thin' },
  { value: 4, label: 'Medium' },
  { value: 8, label: 'Thick' },
]
const SIZES = [
  { value: 16, label: 'Small text' },
  { value: 24, label: 'Medium text' },
  { value: 40, label: 'Large text' },
]
const FILL_LABELS: Record<Fill, string> = { none: 'No fill', soft: 'Light fill', solid: 'Solid fill' }

/** What the next thing drawn with a tool looks like; tools that draw nothing have no look. */
const aspectsOf = (name: ShapeKind | ToolName): readonly Aspect[] =>
  name in KINDS ? KINDS[name as ShapeKind].aspects : []
const onPaper = (name: ShapeKind | ToolName): boolean => name in KINDS && KINDS[name as ShapeKind].onPaper

function group(name: string, aspect: Aspect, ...children: Node[]): HTMLElement {
  return h('div', { class: `style-group style-${aspect}`, attrs: { role: 'group', 'aria-label': name } }, ...children)
}

/** Colour, stroke, fill and text size: of the selection when there is one, else of what is drawn next. */
export function stylePanel(
  bench: Bench,
  commands: Commands,
  table: CommandTable,
  theme: Signal<Theme>,
  readOnly: Signal<boolean>,
): HTMLElement {
  const { board, selection, look, tool } = bench
  const marks: Array<(look: Look) => void> = []

  /** Notes have a colour of their own for the next one: their swatches are those of paper. */
  const paper = signal(false)
  const apply = (part: Partial<Look>) => {
    const { color, ...rest } = part
    const next = color === undefined ? part : paper.value ? { ...rest, paper: color } : part
    look.set({ ...look.value, ...next })
    commands.restyle(part)
  }
  const choice = (label: string, part: Partial<Look>, content: Node) => {
    const button = h(
      'button',
      {
        class: 'choice',
        attrs: { type: 'button', 'aria-label': label, title: label },
        on: { click: () => apply(part) },
      },
      content,
    )
    const [key, value] = Object.entries(part)[0]!
    marks.push((now) => button.setAttribute('aria-pressed', String(now[key as keyof Look] === value)))
    return button
  }

  const colors = PALETTE_NAMES.map((name) => {
    const dot = h('span', { class: 'color-dot' })
    const show = () => {
      const tone = tones(name, theme.value)
      dot.style.setProperty('--swatch', paper.value ? tone.note : tone.stroke)
      dot.classList.toggle('paper', paper.value)
    }
    theme.watch(show)
    paper.watch(show)
    return choice(COLOR_LABELS[name]!, { color: name }, dot)
  })
  const widths = WIDTHS.map(({ value, label }) =>
    choice(label, { width: value }, h('span', { class: `width-bar width-${value}` })),
  )
  const fills = (Object.keys(FILL_LABELS) as Fill[]).map((fill) =>
    choice(FILL_LABELS[fill], { fill }, h('span', { class: `fill-box fill-${fill}` })),
  )
  const sizes = SIZES.map(({ value, label }) =>
    choice(label, { size: value }, h('span', { class: `size-letter size-${value}`, text: 'A' })),
  )
  const groups: Record<Aspect, HTMLElement> = {
    color: group('Colour', 'color', ...colors),
    width: group('Stroke', 'width', ...widths),
    fill: group('Fill', 'fill', ...fills),
    size: group('Text size', 'size', ...sizes),
  }
  const actions = h(
    'div',
    { class: 'style-group style-actions', attrs: { role: 'group', 'aria-label': 'Selection' } },
    commandButton(table, 'duplicate'),
    commandButton(table, 'front'),
    commandButton(table, 'back'),
    commandButton(table, 'delete', 'danger'),
  )
  const panel = h(
    'section',
    { class: 'card style-panel', attrs: { 'aria-label': 'Style' } },
    groups.color,
    groups.width,
    groups.fill,
    groups.size,
    actions,
  )

  const show = () => {
    const shapes: Shape[] = commands.selected()
    const kinds: Array<ShapeKind | ToolName> = shapes.length > 0 ? shapes.map(({ kind }) => kind) : [tool.value]
    const aspects = new Set(kinds.flatMap(aspectsOf))
    for (const [aspect, element] of Object.entries(groups)) element.hidden = !aspects.has(aspect as Aspect)
    actions.hidden = shapes.length === 0
    panel.hidden = readOnly.value || (aspects.size === 0 && shapes.length === 0)
    paper.set(kinds.every(onPaper))
    const [first] = shapes
    const next = paper.value ? { ...look.value, color: look.value.paper } : look.value
    for (const mark of marks) mark(first ? { ...first, paper: first.color } : next)
  }
  // A selection of thousands is looked through once per frame at most, not once per change.
  let scheduled = false
  const showSoon = () => {
    if (scheduled) return
    scheduled = true
    requestAnimationFrame(() => {
      scheduled = false
      show()
    })
  }
  for (const each of [selection, tool, look, readOnly] as Array<Signal<unknown>>) each.watch(showSoon)
  board.changed.on((ids) => {
    for (const id of ids) if (selection.value.has(id)) return showSoon()
  })
  return panel
}
