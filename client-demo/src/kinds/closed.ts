/** Rectangle and ellipse: an outline, filled or not. */
import type { Box, Shape } from '../board/shape.ts'
import { type Theme, tones } from '../canvas/palette.ts'
import { type Context, insideBox, type Kind, NO_CONTENT, svgNode } from './kind.ts'

const cornerRadius = (w: number, h: number): number => Math.min(10, Math.abs(w) / 4, Math.abs(h) / 4)

function paintOutline(ctx: Context, shape: Shape, theme: Theme): void {
  const tone = tones(shape.color, theme)
  if (shape.fill !== 'none') {
    ctx.fillStyle = shape.fill === 'soft' ? tone.soft : tone.stroke
    ctx.fill()
  }
  ctx.strokeStyle = tone.stroke
  ctx.lineWidth = shape.width
  ctx.lineJoin = 'round'
  ctx.stroke()
}

function svgPaint(shape: Shape, theme: Theme): Record<string, string | number> {
  const tone = tones(shape.color, theme)
  const fill = shape.fill === 'none' ? 'none' : shape.fill === 'soft' ? tone.soft : tone.stroke
  return { fill, stroke: tone.stroke, 'stroke-width': shape.width, 'stroke-linejoin': 'round' }
}

const SAME = {
  aspects: ['color', 'width', 'fill'],
  handles: 'frame',
  keepsRatio: false,
  onPaper: false,
  reach: ({ width }: Shape) => width + 2,
  read: () => NO_CONTENT,
} as const

export const rect: Kind = {
  ...SAME,
  label: 'Rectangle',
  draw(ctx, shape, [x, y, w, h], theme) {
    ctx.beginPath()
    ctx.roundRect(x, y, w, h, cornerRadius(w, h))
    paintOutline(ctx, shape, theme)
  },
  svg: (shape, [x, y, w, h], theme) =>
    svgNode('rect', { x, y, width: w, height: h, rx: cornerRadius(w, h), ...svgPaint(shape, theme) }),
  hit(shape, box, point, near) {
    if (!insideBox(box, point, near)) return false
    return shape.fill !== 'none' || !insideBox(box, point, -near)
  },
}

export const ellipse: Kind = {
  ...SAME,
  label: 'Ellipse',
  draw(ctx, shape, [x, y, w, h], theme) {
    ctx.beginPath()
    ctx.ellipse(x + w / 2, y + h / 2, Math.abs(w / 2), Math.abs(h / 2), 0, 0, 2 * Math.PI)
    paintOutline(ctx, shape, theme)
  },
  svg: (shape, [x, y, w, h], theme) =>
    svgNode('ellipse', { cx: x + w / 2, cy: y + h / 2, rx: w / 2, ry: h / 2, ...svgPaint(shape, theme) }),
  hit(shape, [x, y, w, h]: Box, point, near) {
    const [rx, ry] = [Math.max(1, Math.abs(w) / 2), Math.max(1, Math.abs(h) / 2)]
    const r = Math.hypot((point.x - x - w / 2) / rx, (point.y - y - h / 2) / ry)
    const least = Math.min(rx, ry)
    return shape.fill === 'none' ? Math.abs(r - 1) * least <= near : r <= 1 + near / least
  },
}
