/** Paints one shape in board coordinates; the caller has set the transform. Used for tiles, previews and the PNG export. */
import { centreOf, strokeRect } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { pictureOf } from './images.ts'
import type { Theme } from './palette.ts'
import { SURFACE, tones } from './palette.ts'
import { strokePath } from './stroke-path.ts'
import type { Layout } from './text-layout.ts'
import { FONT_STACK, LINE_HEIGHT, layoutNote, layoutText, NOTE_PADDING } from './text-layout.ts'

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

const layouts = new WeakMap<Shape, Layout>()

export function layoutOf(shape: Shape): Layout {
  let layout = layouts.get(shape)
  if (!layout) {
    const [, , w, h] = shape.box
    layout = shape.kind === 'note' ? layoutNote(shape.text, shape.size, w, h) : layoutText(shape.text, shape.size, w)
    layouts.set(shape, layout)
  }
  return layout
}

export function cornerRadius(w: number, h: number): number {
  return Math.min(10, Math.abs(w) / 4, Math.abs(h) / 4)
}

/** The two ends and the flanks of an arrow's head. */
export function arrowHead(box: Box, width: number): [number, number][] {
  const [x, y, w, h] = box
  const length = Math.min(width * 3.5 + 8, Math.hypot(w, h) * 0.6)
  const angle = Math.atan2(h, w)
  const flank = (turn: number): [number, number] => [
    x + w - length * Math.cos(angle + turn),
    y + h - length * Math.sin(angle + turn),
  ]
  return [flank(0.45), [x + w, y + h], flank(-0.45)]
}

function paintText(ctx: Context, layout: Layout, x: number, y: number, color: string): void {
  ctx.fillStyle = color
  ctx.font = `${layout.size}px ${FONT_STACK}`
  ctx.textBaseline = 'alphabetic'
  const lead = layout.size * LINE_HEIGHT
  layout.lines.forEach((line, i) => {
    ctx.fillText(line, x, y + i * lead + lead * 0.5 + layout.size * 0.35)
  })
}

function paintNote(ctx: Context, shape: Shape, [x, y, w, h]: Box, theme: Theme): void {
  // Flat layers instead of a blurred shadow: a blur per note costs milliseconds under software rendering.
  ctx.fillStyle = theme === 'light' ? 'rgb(35 41 54 / 4%)' : 'rgb(0 0 0 / 14%)'
  for (const spread of [1, 2, 3]) {
    ctx.beginPath()
    ctx.roundRect(x - spread + 1, y + 2 - spread / 2, w + 2 * spread - 2, h + 2 * spread - 1, 4 + spread)
    ctx.fill()
  }
  ctx.fillStyle = tones(shape.color, theme).note
  ctx.beginPath()
  ctx.roundRect(x, y, w, h, 4)
  ctx.fill()
  const layout = layoutOf(shape)
  paintText(ctx, layout, x + NOTE_PADDING, y + NOTE_PADDING, SURFACE[theme].text)
}

function paintImage(ctx: Context, shape: Shape, [x, y, w, h]: Box, theme: Theme): void {
  const picture = pictureOf(shape.image!)
  if (typeof picture !== 'string') {
    ctx.drawImage(picture, x, y, w, h)
    return
  }
  ctx.fillStyle = tones('grey', theme).soft
  ctx.fillRect(x, y, w, h)
}

function paintPen(ctx: Context, shape: Shape, [x, y, w, h]: Box, theme: Theme): void {
  const natural = strokeRect(shape.points)
  const drawing = w === 0 && h === 0
  const sx = drawing || natural.w === 0 ? 1 : w / natural.w
  const sy = drawing || natural.h === 0 ? 1 : h / natural.h
  ctx.save()
  ctx.translate(x, y)
  ctx.scale(sx, sy)
  if (!drawing) ctx.translate(-natural.x, -natural.y)
  ctx.fillStyle = tones(shape.color, theme).stroke
  ctx.fill(strokePath(shape.points, shape.width))
  ctx.restore()
}

function paintClosed(ctx: Context, shape: Shape, [x, y, w, h]: Box, theme: Theme): void {
  const tone = tones(shape.color, theme)
  ctx.beginPath()
  if (shape.kind === 'ellipse') ctx.ellipse(x + w / 2, y + h / 2, Math.abs(w / 2), Math.abs(h / 2), 0, 0, 2 * Math.PI)
  else ctx.roundRect(x, y, w, h, cornerRadius(w, h))
  if (shape.fill !== 'none') {
    ctx.fillStyle = shape.fill === 'soft' ? tone.soft : tone.stroke
    ctx.fill()
  }
  ctx.strokeStyle = tone.stroke
  ctx.lineWidth = shape.width
  ctx.stroke()
}

function paintLine(ctx: Context, shape: Shape, box: Box, theme: Theme): void {
  const [x, y, w, h] = box
  ctx.strokeStyle = tones(shape.color, theme).stroke
  ctx.lineWidth = shape.width
  ctx.lineCap = 'round'
  ctx.lineJoin = 'round'
  ctx.beginPath()
  ctx.moveTo(x, y)
  ctx.lineTo(x + w, y + h)
  if (shape.kind === 'arrow') {
    const [left, tip, right] = arrowHead(box, shape.width)
    ctx.moveTo(...left!)
    ctx.lineTo(...tip!)
    ctx.lineTo(...right!)
  }
  ctx.stroke()
}

/** `box` differs from the shape's own while it is being moved. */
export function paintShape(ctx: Context, shape: Shape, theme: Theme, box: Box = shape.box): void {
  const angle = box[4]
  if (angle !== 0) {
    const centre = centreOf(box)
    ctx.save()
    ctx.translate(centre.x, centre.y)
    ctx.rotate(angle)
    ctx.translate(-centre.x, -centre.y)
  }
  switch (shape.kind) {
    case 'pen':
      paintPen(ctx, shape, box, theme)
      break
    case 'line':
    case 'arrow':
      paintLine(ctx, shape, box, theme)
      break
    case 'text':
      paintText(ctx, layoutOf(shape), box[0], box[1], tones(shape.color, theme).stroke)
      break
    case 'note':
      paintNote(ctx, shape, box, theme)
      break
    case 'image':
      paintImage(ctx, shape, box, theme)
      break
    default:
      paintClosed(ctx, shape, box, theme)
  }
  if (angle !== 0) ctx.restore()
}
