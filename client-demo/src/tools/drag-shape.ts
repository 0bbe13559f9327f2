import type { Box, ShapeKind } from '../board/shape.ts'
import { isLine } from '../kinds/kinds.ts'
import type { Preview } from '../people/person.ts'
import { paintPreview } from '../people/previews.ts'
import type { Bench, Press, Tool } from './tool.ts'

const SMALLEST_PX = 4
const DEFAULT_SIZE = [160, 100] as const

const square = (w: number, h: number): [number, number] => {
  const side = Math.max(Math.abs(w), Math.abs(h))
  return [Math.sign(w || 1) * side, Math.sign(h || 1) * side]
}

function snapped(w: number, h: number): [number, number] {
  const step = Math.PI / 12
  const angle = Math.round(Math.atan2(h, w) / step) * step
  const length = Math.hypot(w, h)
  return [length * Math.cos(angle), length * Math.sin(angle)]
}

/** Rectangle, ellipse, line and arrow: others see the preview through presence; the board is written once, at the end. */
export function dragShapeTool(
  kind: ShapeKind,
  { board, history, renderer, presence, selection, look, tool, view }: Bench,
): Tool {
  let start: Press | null = null
  let last: Press | null = null
  let preview: (Preview & { is: 'shape' }) | null = null

  const boxTo = (press: Press): Box => {
    let [w, h] = [press.x - start!.x, press.y - start!.y]
    if (press.shift) [w, h] = isLine(kind) ? snapped(w, h) : square(w, h)
    if (isLine(kind)) return [start!.x, start!.y, w, h, 0]
    return [Math.min(start!.x, start!.x + w), Math.min(start!.y, start!.y + h), Math.abs(w), Math.abs(h), 0]
  }

  const end = () => {
    start = null
    preview = null
    presence.show({ preview: null })
    renderer.requestLive()
  }

  const place = (press: Press) => {
    if (!start) return
    let box = boxTo(press)
    const tiny = Math.hypot(box[2], box[3]) * view.zoom < SMALLEST_PX
    const { color, fill, width } = look.value
    if (tiny && !isLine(kind)) {
      const [w, h] = DEFAULT_SIZE
      box = [start.x - w / 2, start.y - h / 2, w, h, 0]
    }
    end()
    if (tiny && isLine(kind)) return
    history.mark()
    const ids = board.create([{ kind, box, color, fill: isLine(kind) ? 'none' : fill, width }])
    selection.set(new Set(ids))
  }

  return {
    cursor: 'crosshair',
    down(press) {
      start = last = press
    },
    move(press) {
      if (!start) return
      last = press
      const { color, fill, width } = look.value
      preview = { is: 'shape', kind, box: boxTo(press), color, fill: isLine(kind) ? 'none' : fill, width }
      presence.show({ preview })
      renderer.requestLive()
    },
    up(press) {
      if (!start) return
      tool.set('select')
      place(press)
    },
    cancel: end,
    interrupt() {
      if (preview && last) place(last)
      else end()
    },
    paint(ctx, _view, theme) {
      if (preview) paintPreview(ctx, preview, theme)
      return preview !== null
    },
  }
}
