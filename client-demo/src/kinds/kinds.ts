/** The table of kinds, and what is asked of a shape whatever its kind is. */
import * as Y from 'yjs'
import { boxOf, centreOf, corners, type Point, type Rect, rectAround, turnPoint } from '../board/geometry.ts'
import type { Box, Shape, ShapeKind } from '../board/shape.ts'
import {
  checkedBox,
  checkedColor,
  checkedFill,
  checkedKind,
  checkedNumber,
  checkedOrder,
  isId,
} from '../board/shape-validation.ts'
import type { Theme } from '../canvas/palette.ts'
import { ellipse, rect } from './closed.ts'
import { image } from './image.ts'
import { type Context, type Kind, svgNode } from './kind.ts'
import { arrow, line } from './lines.ts'
import { pen } from './pen.ts'
import { note, text } from './texts.ts'

export const KINDS: Readonly<Record<ShapeKind, Kind>> = { pen, rect, ellipse, line, arrow, text, note, image }

export const hasText = (kind: ShapeKind): boolean => KINDS[kind].textBox !== undefined
export const isLine = (kind: ShapeKind): boolean => KINDS[kind].handles === 'ends'

/** Everything that the shape paints lies within. */
export function boundsOf(shape: Shape): Rect {
  return rectAround(corners(boxOf(shape)), KINDS[shape.kind].reach(shape))
}

/** Is the point on the shape, give or take `slack` board units? Unfilled shapes are hit on their outline only. */
export function hits(shape: Shape, point: Point, slack: number): boolean {
  const box = boxOf(shape)
  const angle = box[4]
  const flat = angle === 0 ? point : turnPoint(point, -angle, centreOf(box))
  return KINDS[shape.kind].hit(shape, box, flat, slack + shape.width / 2)
}

/** In board coordinates, turned; `box` differs from the shape's own while it is being moved. */
export function paintShape(ctx: Context, shape: Shape, theme: Theme, box: Box = shape.box): void {
  const kind = KINDS[shape.kind]
  const angle = box[4]
  if (angle === 0) {
    kind.draw(ctx, shape, box, theme)
    return
  }
  const centre = centreOf(box)
  ctx.save()
  ctx.translate(centre.x, centre.y)
  ctx.rotate(angle)
  ctx.translate(-centre.x, -centre.y)
  kind.draw(ctx, shape, box, theme)
  ctx.restore()
}

export function shapeToSvg(shape: Shape, theme: Theme): SVGElement {
  const element = KINDS[shape.kind].svg(shape, shape.box, theme)
  const centre = centreOf(shape.box)
  const degrees = (shape.box[4] * 180) / Math.PI
  return degrees === 0 ? element : svgNode('g', { transform: `rotate(${degrees} ${centre.x} ${centre.y})` }, element)
}

/** The only way from the shared document to the page: null is not shown. */
export function readShape(id: string, stored: unknown): Shape | null {
  if (!isId(id) || !(stored instanceof Y.Map)) return null
  const kind = checkedKind(stored.get('kind'))
  const box = checkedBox(stored.get('box'))
  if (kind === null || box === null) return null
  const content = KINDS[kind].read((name) => stored.get(name))
  return (
    content && {
      id,
      kind,
      box,
      order: checkedOrder(stored.get('order')) ?? 'a0',
      color: checkedColor(stored.get('color')),
      fill: checkedFill(stored.get('fill')),
      width: checkedNumber(stored.get('width'), 1, 64, 3),
      size: checkedNumber(stored.get('size'), 6, 200, 20),
      ...content,
    }
  )
}
