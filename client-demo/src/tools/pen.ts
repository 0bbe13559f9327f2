import { strokeRect } from '../board/geometry.ts'
import { MAX_POINTS, MAX_STROKE_REACH } from '../board/limits.ts'
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

const pressureOf = ({ by, pressure }: Press): number => (by === 'pen' ? Math.max(0.01, pressure) : 0)

export function penTool({ board, history, renderer, look, view }: Bench): Tool {
  let stroke: Stroke | null = null

  const add = (press: Press) => {
    if (!stroke) return
    const { points } = stroke
    const [x, y] = [press.x - stroke.x, press.y - stroke.y]
    const [lastX, lastY] = [points.at(-3)!, points.at(-2)!]
    if (points.length > 3 && Math.hypot(x - lastX, y - lastY) * view.zoom < NEAREST_POINTS_PX) return
    points.push(x, y, pressureOf(press))
    // A stroke has an end; the hand that draws it has not: it goes on as another, from the same point.
    if (points.length < MAX_POINTS * 3 && Math.max(Math.abs(x), Math.abs(y)) < MAX_STROKE_REACH) return
    finish()
    begin(press)
  }

  const begin = (press: Press) => {
    const { color, width } = look.value
    const first = [0, 0, pressureOf(press)]
    const [id] = board.create([{ kind: 'pen', box: [press.x, press.y, 0, 0, 0], color, width, points: first }])
    const stored = id === undefined ? undefined : board.shapes.get(id)
    if (!id || !stored) return
    const [x, y] = stored.box
    stroke = { id, x, y, color, width, points: first, written: 3, timer: 0 }
    renderer.lift('pen', new Set([id]))
  }

  const write = () => {
    if (!stroke) return
    stroke.timer = 0
    if (stroke.written === stroke.points.length) return
    board.appendPoints(stroke.id, stroke.points.slice(stroke.written))
    stroke.written = stroke.points.length
  }

  /** Gives the id of what was drawn. */
  const finish = (): string | undefined => {
    if (!stroke) return
    window.clearTimeout(stroke.timer)
    write()
    const { x, y, color, width, points } = stroke
    let id: string | undefined = stroke.id
    stroke = null
    const stored = board.shapes.get(id)
    const rect = strokeRect(stored?.points ?? points)
    const box = [x + rect.x, y + rect.y, rect.w, rect.h, 0] as const
    if (stored) board.setBoxes(new Map([[id, box]]))
    // Somebody deleted it under the pen: whoever drew it has seen the whole of it until now.
    else id = board.create([{ kind: 'pen', box, color, width, points }])[0]
    renderer.lift('pen', new Set())
    return id
  }

  return {
    cursor: 'crosshair',
    down(press) {
      history.mark()
      begin(press)
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
    interrupt() {
      finish()
    },
    cancel() {
      const id = finish()
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
