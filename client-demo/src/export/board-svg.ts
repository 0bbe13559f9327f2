/** The board as an SVG file. */
import { union } from '../board/geometry.ts'
import type { Shape } from '../board/shape.ts'
import type { Theme } from '../canvas/palette.ts'
import { SURFACE } from '../canvas/palette.ts'
import { svgNode } from '../kinds/kind.ts'
import { boundsOf, shapeToSvg } from '../kinds/kinds.ts'

const MARGIN = 32

export function boardToSvg(shapes: readonly Shape[], theme: Theme): string | null {
  const around = union(shapes.map(boundsOf))
  if (!around) return null
  const [x, y, w, h] = [around.x - MARGIN, around.y - MARGIN, around.w + 2 * MARGIN, around.h + 2 * MARGIN]
  const paper = svgNode('rect', { x, y, width: w, height: h, fill: SURFACE[theme].board })
  const children = shapes.map((shape) => shapeToSvg(shape, theme))
  const root = svgNode('svg', { viewBox: `${x} ${y} ${w} ${h}`, width: w, height: h }, paper, ...children)
  return new XMLSerializer().serializeToString(root)
}
