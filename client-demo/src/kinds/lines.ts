/** Line and arrow: from one end to the other; the size of the box may be negative. */
import { distanceToSegment } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { tones } from '../canvas/palette.ts'
import { type Kind, NO_CONTENT, svgNode } from './kind.ts'

type Point = readonly [x: number, y: number]

const HEAD_HALF_ANGLE = 0.42

/** The head is a filled triangle, a little hollow at its back, where the shaft ends: its tip is the very end of the arrow. */
function arrowHead([x, y, w, h]: Box, width: number): { outline: Point[]; back: Point } {
  const whole = Math.hypot(w, h)
  const length = Math.min(width * 3 + 9, whole * 0.7)
  const angle = Math.atan2(h, w)
  const [tipX, tipY] = [x + w, y + h]
  const behind = (distance: number, turn: number): Point => [
    tipX - distance * Math.cos(angle + turn),
    tipY - distance * Math.sin(angle + turn),
  ]
  const flank = length / Math.cos(HEAD_HALF_ANGLE)
  const back = behind(length * 0.78, 0)
  return { outline: [[tipX, tipY], behind(flank, HEAD_HALF_ANGLE), back, behind(flank, -HEAD_HALF_ANGLE)], back }
}

const SAME = {
  aspects: ['color', 'width'],
  handles: 'ends',
  keepsRatio: false,
  onPaper: false,
  read: () => NO_CONTENT,
  hit: (_shape: Shape, [x, y, w, h]: Box, point: { x: number; y: number }, near: number) =>
    distanceToSegment(point, { x, y }, { x: x + w, y: y + h }) <= near,
} as const

export const line: Kind = {
  ...SAME,
  label: 'Line',
  draw(ctx, shape, [x, y, w, h], theme) {
    ctx.strokeStyle = tones(shape.color, theme).stroke
    ctx.lineWidth = shape.width
    ctx.lineCap = 'round'
    ctx.beginPath()
    ctx.moveTo(x, y)
    ctx.lineTo(x + w, y + h)
    ctx.stroke()
  },
  svg: (shape, [x, y, w, h], theme) =>
    svgNode('path', {
      d: `M${x} ${y}L${x + w} ${y + h}`,
      fill: 'none',
      stroke: tones(shape.color, theme).stroke,
      'stroke-width': shape.width,
      'stroke-linecap': 'round',
    }),
  reach: ({ width }) => width + 2,
}

export const arrow: Kind = {
  ...SAME,
  label: 'Arrow',
  draw(ctx, shape, box, theme) {
    const { outline, back } = arrowHead(box, shape.width)
    const color = tones(shape.color, theme).stroke
    ctx.strokeStyle = color
    ctx.fillStyle = color
    ctx.lineCap = 'round'
    ctx.lineJoin = 'round'
    ctx.lineWidth = shape.width
    ctx.beginPath()
    ctx.moveTo(box[0], box[1])
    ctx.lineTo(...back)
    ctx.stroke()
    ctx.beginPath()
    for (const point of outline) ctx.lineTo(...point)
    ctx.closePath()
    ctx.fill()
    // Rounded like the shaft's own end.
    ctx.lineWidth = Math.min(2, shape.width)
    ctx.stroke()
  },
  svg(shape, box, theme) {
    const { outline, back } = arrowHead(box, shape.width)
    const color = tones(shape.color, theme).stroke
    const round = { stroke: color, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }
    const shaft = `M${box[0]} ${box[1]}L${back.join(' ')}`
    const head = `M${outline.map((point) => point.join(' ')).join('L')}Z`
    return svgNode(
      'g',
      {},
      svgNode('path', { d: shaft, fill: 'none', 'stroke-width': shape.width, ...round }),
      svgNode('path', { d: head, fill: color, 'stroke-width': Math.min(2, shape.width), ...round }),
    )
  },
  reach: ({ width }) => width * 2.5 + 9,
}
