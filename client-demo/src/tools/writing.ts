import { LINE_HEIGHT } from '../canvas/text-layout.ts'
import type { Bench, Press, Tool } from './tool.ts'

export const NOTE_SIZE = 184
const TEXT_WIDTH = 240

/** Text and sticky note: a click makes one and opens it for writing. */
export function writingTool(kind: 'text' | 'note', { board, history, selection, look, tool, editing }: Bench): Tool {
  let pressed = false
  const place = (press: Press) => {
    history.mark()
    const { color, size } = look.value
    const box =
      kind === 'note'
        ? ([press.x - NOTE_SIZE / 2, press.y - NOTE_SIZE / 2, NOTE_SIZE, NOTE_SIZE, 0] as const)
        : ([press.x, press.y - (size * LINE_HEIGHT) / 2, TEXT_WIDTH, size * LINE_HEIGHT, 0] as const)
    const noteColor = color === 'ink' ? 'yellow' : color
    const [id] = board.create([{ kind, box, size, color: kind === 'note' ? noteColor : color }])
    if (!id) return
    selection.set(new Set([id]))
    tool.set('select')
    editing.set(id)
  }
  return {
    cursor: kind === 'text' ? 'text' : 'crosshair',
    down() {
      pressed = true
    },
    move() {},
    up(press) {
      if (pressed) place(press)
      pressed = false
    },
    cancel() {
      pressed = false
    },
  }
}
