import { strokeRect } from '../board/geometry.ts'
import { MAX_STROKE_POINTS } from '../board/shape-validation.ts'
import { tones } from '../canvas/palette.ts'
import { outlineData } from '../canvas/stroke-path.ts'
import type { Bench, Press, Tool } from './tool.ts'

/** 20 writes a second; the local stroke is painted from every point at once. */
const BATCH_MS = 50
const NEAREST_POINTS_PX = 1.2

interface Stroke {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly color: string
  readonly width: number
  readonly points: number[]
  written: number
  timer: number
}

export function penTool({ board, history, renderer, look, view }: Bench): Tool {
  let stroke: Stroke | null = null

  const add = (press: Press) => {
    if (!stroke) return
    const { points } = stroke
    const [x, y] = [press.x - stroke.x, press.y - stroke.y]
    const [lastX, lastY] = [points.at(-3)!, points.at(-2)!]
    if (points.length > 3 && Math.hypot(x - lastX, y - lastY) * view.zoom < NEAREST_POINTS_PX) return
    if (points.length >= MAX_STROKE_POINTS * 3) return
    points.push(x, y, press.by === 'pen' ? Math.max(0.01, press.pressure) : 0)
  }

  const write = () => {
    if (!stroke) return
    stroke.timer = 0
    if (stroke.written === stroke.points.length) return
    board.appendPoints(stroke.id, stroke.points.slice(stroke.written))
    stroke.written = stroke.points.length
  }

  const finish = () => {
    if (!stroke) return
    window.clearTimeout(stroke.timer)
    write()
    const { id, x, y } = stroke
    stroke = null
    const stored = board.shapes.get(id)
    if (stored) {
      const rect = strokeRect(stored.points)
      board.setBoxes(new Map([[id, [x + rect.x, y + rect.y, rect.w, rect.h, 0]]]))
    }
    renderer.lift('pen', new Set())
  }

  return {
    cursor: 'crosshair',
    down(press) {
      history.mark()
      const { color, width } = look.value
      const first = [0, 0, press.by === 'pen' ? Math.max(0.01, press.pressure) : 0]
      const [id] = board.create([{ kind: 'pen', box: [press.x, press.y, 0, 0, 0], color, width, points: first }])
      if (!id) return
      stroke = { id, x: press.x, y: press.y, color, width, points: first, written: 3, timer: 0 }
      renderer.lift('pen', new Set([id]))
    },
    move(press) {
      if (!stroke) return
      add(press)
      if (stroke.timer === 0) stroke.timer = window.setTimeout(write, BATCH_MS)
      renderer.requestLive()
    },
    up(press) {
      add(press)
      finish()
    },
    interrupt: finish,
    cancel() {
      const id = stroke?.id
      finish()
      if (id) board.remove([id])
    },
    paint(ctx, _view, theme) {
      if (!stroke) return false
      ctx.translate(stroke.x, stroke.y)
      ctx.fillStyle = tones(stroke.color, theme).stroke
      ctx.fill(new Path2D(outlineData(stroke.points, stroke.width, false)))
      return true
    },
  }
}
