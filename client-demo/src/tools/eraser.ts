import { boxOf } from '../board/geometry.ts'
import { hits, paintShape } from '../kinds/kinds.ts'
import type { Bench, Press, Tool } from './tool.ts'

/** Touched objects fade at once and go together when the eraser is lifted: one write, one step to undo. */
export function eraserTool({ board, history, renderer, selection, view }: Bench): Tool {
  let touched: Set<string> | null = null
  let last: Press | null = null

  const touch = (press: Press) => {
    if (!touched) return
    const from = last ?? press
    last = press
    // A quick stroke leaves gaps between its points: look along the way, too.
    const steps = Math.max(1, Math.ceil((Math.hypot(press.x - from.x, press.y - from.y) * view.zoom) / 6))
    for (const shape of board.ordered()) {
      if (touched.has(shape.id)) continue
      for (let i = 1; i <= steps; i++) {
        const at = { x: from.x + ((press.x - from.x) * i) / steps, y: from.y + ((press.y - from.y) * i) / steps }
        if (!hits(shape, at, press.slack * 1.5)) continue
        touched.add(shape.id)
        break
      }
    }
    renderer.lift('eraser', new Set(touched))
    renderer.requestLive()
  }

  const end = () => {
    touched = null
    last = null
    renderer.lift('eraser', new Set())
  }

  return {
    cursor: 'cell',
    down(press) {
      touched = new Set()
      touch(press)
    },
    move: touch,
    up(press) {
      touch(press)
      if (touched && touched.size > 0) {
        history.mark()
        board.remove(touched)
        selection.set(new Set([...selection.value].filter((id) => !touched!.has(id))))
      }
      end()
    },
    cancel: end,
    paint(ctx, _view, theme) {
      if (!touched || touched.size === 0) return false
      ctx.globalAlpha = 0.25
      for (const id of touched) {
        const shape = board.shapes.get(id)
        if (shape) paintShape(ctx, shape, theme, boxOf(shape))
      }
      ctx.globalAlpha = 1
      return true
    },
  }
}
