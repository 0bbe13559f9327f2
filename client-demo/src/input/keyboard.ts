/** Shortcuts. Letters choose tools, the rest follows the habits of drawing programs; help.ts lists them. */
import type { Commands } from '../tools/commands.ts'
import type { Bench, ToolName } from '../tools/tool.ts'
import { TOOL_NAMES } from '../tools/tool.ts'
import { TOOL_LABELS } from '../ui/toolbar.ts'
import type { Crosshair } from './crosshair.ts'
import type { Pointer } from './pointer.ts'

const NUDGE = 1
const BIG_NUDGE = 10
const GROW = 0.1
const TURN = Math.PI / 12
const PAN_PX = 60

interface Parts {
  readonly bench: Bench
  readonly commands: Commands
  readonly pointer: Pointer
  readonly crosshair: Crosshair
  readonly stage: HTMLElement
  readonly pickImage: () => void
  readonly openHelp: () => void
  readonly toggleObjects: () => void
  readonly toggleWeir: () => void
  readonly toggleGrid: () => void
  readonly stopFollowing: () => boolean
}

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog[open]') !== null

export function listenToKeys(parts: Parts): void {
  const { bench, commands, pointer, crosshair, stage } = parts
  const { view, history, tool, selection, board, editing } = bench

  const withModifier: Record<string, () => void> = {
    z: () => board.readOnly || history.undo(),
    y: () => board.readOnly || history.redo(),
    a: () => commands.selectAll(),
    d: () => commands.duplicate(),
    ']': () => commands.restack('front'),
    '[': () => commands.restack('back'),
    '0': () => view.zoomTo(1),
  }
  const plain: Record<string, () => void> = {
    '?': parts.openHelp,
    '+': () => view.zoomTo(view.zoom * 1.25),
    '=': () => view.zoomTo(view.zoom * 1.25),
    '-': () => view.zoomTo(view.zoom / 1.25),
    '0': () => view.zoomTo(1),
    '1': () => commands.fitAll(),
    g: parts.toggleGrid,
    b: parts.toggleObjects,
    w: parts.toggleWeir,
    '.': () => commands.selectNext(1),
    ',': () => commands.selectNext(-1),
    Delete: () => commands.remove(),
    Backspace: () => commands.remove(),
  }
  for (const name of TOOL_NAMES) {
    plain[TOOL_LABELS[name].key.toLowerCase()] = name === 'image' ? parts.pickImage : () => choose(name)
  }

  const choose = (name: ToolName) => {
    if (board.readOnly && name !== 'select' && name !== 'hand') return
    tool.set(name)
    stage.focus({ preventScroll: true })
  }

  const stepBack = () => {
    if (pointer.cancelGesture() || crosshair.cancel() || parts.stopFollowing()) return
    if (selection.value.size > 0) selection.set(new Set())
    else tool.set('select')
  }

  const arrow = ([dx, dy]: readonly [number, number], event: KeyboardEvent) => {
    const bounds = board.readOnly ? null : commands.bounds()
    if (!bounds) view.panBy(-dx * PAN_PX, -dy * PAN_PX)
    else if (event.altKey && event.shiftKey) {
      const centre = { x: bounds.x + bounds.w / 2, y: bounds.y + bounds.h / 2 }
      commands.transform({ op: 'turn', angle: (dx || dy) * TURN, ...centre })
    } else if (event.altKey) {
      commands.transform({ op: 'scale', sx: 1 + dx * GROW, sy: 1 + dy * GROW, x: bounds.x, y: bounds.y, angle: 0 })
    } else {
      const step = event.shiftKey ? BIG_NUDGE : NUDGE
      commands.transform({ op: 'move', dx: dx * step, dy: dy * step })
    }
  }

  const onStage = (event: KeyboardEvent): boolean => {
    const direction = ARROWS[event.key]
    // A click on a tool or a colour leaves the focus there; the arrow keys still mean the board.
    const beside =
      direction && event.target instanceof Element && event.target.closest('.toolbar, .style-panel, .view-bar')
    if (event.target !== stage && event.target !== document.body && !beside) return false
    const drawing = tool.value !== 'select' && tool.value !== 'hand'
    if ((drawing || crosshair.drawing) && !event.ctrlKey && crosshair.onKey(event)) return true
    if (direction) {
      arrow(direction, event)
      return true
    }
    const [only] = selection.value
    if (event.key === 'Enter' && only && selection.value.size === 1 && board.text(only) && !board.readOnly) {
      editing.set(only)
      return true
    }
    if (event.key === ' ' && !event.repeat) pointer.holdSpace(true)
    return event.key === ' '
  }

  // The ring around the whole board is for those who go through the page by Tab, not for every shortcut.
  window.addEventListener('keydown', (event) => {
    if (event.key === 'Tab') document.documentElement.dataset.walking = ''
  })
  window.addEventListener('pointerdown', () => {
    delete document.documentElement.dataset.walking
  })
  window.addEventListener('keydown', (event) => {
    if (isTyping(event.target) || event.defaultPrevented) return
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    const modified = event.ctrlKey || event.metaKey
    let action: (() => void) | undefined
    if (event.key === 'Escape') action = stepBack
    else if (modified) action = key === 'z' && event.shiftKey ? withModifier.y : withModifier[key]
    else if (onStage(event)) action = () => {}
    else if (!event.altKey) action = plain[key]
    if (!action) return
    event.preventDefault()
    action()
  })
  window.addEventListener('keyup', (event) => {
    if (event.key === ' ') pointer.holdSpace(false)
  })
  window.addEventListener('blur', () => pointer.holdSpace(false))

  document.addEventListener('copy', (event) => {
    if (!isTyping(event.target) && commands.copyTo(event.clipboardData)) event.preventDefault()
  })
  document.addEventListener('cut', (event) => {
    if (isTyping(event.target) || board.readOnly || !commands.copyTo(event.clipboardData)) return
    event.preventDefault()
    commands.remove()
  })
  document.addEventListener('paste', (event) => {
    if (isTyping(event.target) || !event.clipboardData) return
    event.preventDefault()
    void commands.pasteFrom(event.clipboardData)
  })
  stage.addEventListener('dragover', (event) => event.preventDefault())
  stage.addEventListener('drop', (event) => {
    event.preventDefault()
    const file = event.dataTransfer?.files[0]
    if (file) void commands.addImage(file)
  })
}
