import { LINE_HEIGHT } from '../canvas/text-layout.ts'
import { hits } from '../kinds/kinds.ts'
import type { Bench, Press, Tool } from './tool.ts'

export const NOTE_SIZE = 184
const TEXT_WIDTH = 240

/** Makes a text or a note at a place and opens it for writing. */
export function placeText(kind: 'text' | 'note', press: Press, bench: Bench): void {
  const { board, history, selection, look, tool, editing } = bench
  history.mark()
  const { color, paper, size } = look.value
  const box =
    kind === 'note'
      ? ([press.x - NOTE_SIZE / 2, press.y - NOTE_SIZE / 2, NOTE_SIZE, NOTE_SIZE, 0] as const)
      : ([press.x, press.y - (size * LINE_HEIGHT) / 2, TEXT_WIDTH, size * LINE_HEIGHT, 0] as const)
  const [id] = board.create([{ kind, box, size, color: kind === 'note' ? paper : color }])
  if (!id) return
  tool.set('select')
  selection.set(new Set([id]))
  editing.set(id)
}

/** Text and sticky note: a click makes one and opens it for writing; a click on a text that is there opens that one. */
export function writingTool(kind: 'text' | 'note', bench: Bench): Tool {
  const { board, selection, tool, editing } = bench
  let pressed = false
  return {
    cursor: kind === 'text' ? 'text' : 'crosshair',
    down() {
      pressed = true
    },
    move() {},
    up(press) {
      if (!pressed) return
      pressed = false
      const there = kind === 'text' && board.ordered().findLast((shape) => hits(shape, press, press.slack))
      if (there && there.kind === 'text' && !board.readOnly) {
        tool.set('select')
        selection.set(new Set([there.id]))
        editing.set(there.id)
      } else placeText(kind, press, bench)
    },
    cancel() {
      pressed = false
    },
  }
}
