import * as Y from 'yjs'
import { distanceToSegment, placedPoints, strokeRect } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { checkedPoints } from '../board/shape-validation.ts'
import { tones } from '../canvas/palette.ts'
import { outlineData, strokePath } from '../canvas/stroke-path.ts'
import { insideBox, type Kind, NO_CONTENT, svgNode } from './kind.ts'

/** How the points' own rectangle lies in the box; a box of no size is a stroke still being drawn, its points as they are. */
function placing(shape: Shape, [x, y, w, h]: Box) {
  const natural = strokeRect(shape.points)
  const drawing = w === 0 && h === 0
  return {
    x,
    y,
    sx: drawing || natural.w === 0 ? 1 : w / natural.w,
    sy: drawing || natural.h === 0 ? 1 : h / natural.h,
    left: drawing ? 0 : -natural.x,
    top: drawing ? 0 : -natural.y,
  }
}

export const pen: Kind = {
  label: 'Drawing',
  aspects: ['color', 'width'],
  handles: 'frame',
  keepsRatio: false,
  onPaper: false,
  draw(ctx, shape, box, theme) {
    const { x, y, sx, sy, left, top } = placing(shape, box)
    ctx.save()
    ctx.translate(x, y)
    ctx.scale(sx, sy)
    ctx.translate(left, top)
    ctx.fillStyle = tones(shape.color, theme).stroke
    ctx.fill(strokePath(shape.points, shape.width))
    ctx.restore()
  },
  svg(shape, box, theme) {
    const { x, y, sx, sy, left, top } = placing(shape, box)
    // Exact: hundredths are too coarse for the scale of a large stroke.
    const transform = `translate(${x} ${y}) scale(${sx} ${sy}) translate(${left} ${top})`
    const d = outlineData(shape.points, shape.width, true)
    return svgNode('path', { d, fill: tones(shape.color, theme).stroke, transform })
  },
  hit(shape, box, point, near) {
    if (!insideBox(box, point, near)) return false
    const placed = placedPoints(shape)
    return placed.some((a, i) => distanceToSegment(point, a, placed[i + 1] ?? a) <= near)
  },
  reach: ({ width }) => width + 2,
  read(field) {
    const points = field('points')
    return { ...NO_CONTENT, points: points instanceof Y.Array ? checkedPoints(points) : [] }
  },
}
