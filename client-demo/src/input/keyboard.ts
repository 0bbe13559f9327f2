/**
 * Keys that are for the board (input/attention decides): first the crosshair and the arrows, then the table of commands. Copy,
 * cut and paste come as events of their own, with the clipboard.
 */
import type { CommandTable } from '../commands/command.ts'
import { matches } from '../commands/keys.ts'
import type { Commands } from '../tools/commands.ts'
import type { SelectTool } from '../tools/select.ts'
import type { Bench } from '../tools/tool.ts'
import { ARROWS } from './arrow-keys.ts'
import type { Attention } from './attention.ts'
import type { Crosshair } from './crosshair.ts'
import type { Pointer } from './pointer.ts'

const NUDGE = 1
const BIG_NUDGE = 10
const GROW = 0.1
const TURN = Math.PI / 12
const PAN_PX = 60

interface Parts {
  readonly bench: Bench
  readonly table: CommandTable
  readonly ops: Commands
  readonly attention: Attention
  readonly pointer: Pointer
  readonly crosshair: Crosshair
  readonly select: SelectTool
  /** The menu of what can be done with the selection, for those who cannot right-click. */
  readonly openContextMenu: () => void
}

export function listenToKeys(parts: Parts): void {
  const { bench, table, ops, attention, pointer, crosshair, select } = parts
  const { view, tool, selection, board } = bench

  /** Escape with nothing open. */
  const stepBack = () => {
    if (selection.value.size > 0) selection.set(new Set())
    else tool.set('select')
  }

  const arrow = ([dx, dy]: readonly [number, number], event: KeyboardEvent) => {
    const bounds = board.readOnly ? null : ops.bounds()
    if (!bounds) view.panBy(-dx * PAN_PX, -dy * PAN_PX)
    else if (event.altKey && event.shiftKey) {
      const centre = { x: bounds.x + bounds.w / 2, y: bounds.y + bounds.h / 2 }
      select.nudge({ op: 'turn', angle: (dx || dy) * TURN, ...centre })
    } else if (event.altKey) {
      select.nudge({ op: 'scale', sx: 1 + dx * GROW, sy: 1 + dy * GROW, x: bounds.x, y: bounds.y, angle: 0 })
    } else {
      const step = event.shiftKey ? BIG_NUDGE : NUDGE
      select.nudge({ op: 'move', dx: dx * step, dy: dy * step })
    }
  }

  const onBoard = (event: KeyboardEvent): boolean => {
    const direction = ARROWS[event.key]
    const modified = event.ctrlKey || event.metaKey
    const drawing = tool.value !== 'select' && tool.value !== 'hand'
    if ((drawing || crosshair.drawing) && !modified && crosshair.onKey(event)) return true
    if (direction && !modified) {
      arrow(direction, event)
      return true
    }
    if (event.key === ' ' && !modified) {
      if (!event.repeat) pointer.holdSpace(true)
      return true
    }
    if (event.key === 'Escape') stepBack()
    else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) parts.openContextMenu()
    else return false
    return true
  }

  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || attention.ownerOf(event) !== 'board') return
    if (onBoard(event)) {
      event.preventDefault()
      return
    }
    const command = table.all.find(
      ({ keys, keysAreEvents }) => !keysAreEvents && keys?.some((key) => matches(event, key)),
    )
    if (!command) return
    // Not the browser's either: Ctrl+- would shrink the bars, Ctrl+D make a bookmark.
    event.preventDefault()
    if (!event.repeat || command.repeats) table.run(command.id)
  })
  window.addEventListener('keyup', (event) => {
    if (event.key === ' ') pointer.holdSpace(false)
    if (ARROWS[event.key]) select.settle()
  })
  window.addEventListener('blur', () => {
    pointer.holdSpace(false)
    select.settle()
  })

  const forBoard = (event: ClipboardEvent) =>
    attention.ownerOf(event) === 'board' || attention.ownerOf(event) === 'control'
  document.addEventListener('copy', (event) => {
    if (forBoard(event) && ops.copyTo(event.clipboardData)) event.preventDefault()
  })
  document.addEventListener('cut', (event) => {
    if (!forBoard(event) || board.readOnly || !ops.copyTo(event.clipboardData)) return
    event.preventDefault()
    ops.remove()
  })
  document.addEventListener('paste', (event) => {
    if (!forBoard(event) || !event.clipboardData) return
    event.preventDefault()
    void ops.pasteFrom(event.clipboardData)
  })
}
