import type { Box, Shape } from './shape.ts'

export interface Rect {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** How a selection is being changed; small enough to travel as presence, and every client computes the same boxes from it. */
export type Transform =
  | { readonly op: 'move'; readonly dx: number; readonly dy: number }
  | { readonly op: 'turn'; readonly angle: number; readonly x: number; readonly y: number }
  /** From the anchor (x, y), along axes turned by `angle`. */
  | {
      readonly op: 'scale'
      readonly sx: number
      readonly sy: number
      readonly x: number
      readonly y: number
      readonly angle: number
    }

export function turnPoint(point: Point, angle: number, centre: Point): Point {
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  const dx = point.x - centre.x
  const dy = point.y - centre.y
  return { x: centre.x + dx * cos - dy * sin, y: centre.y + dx * sin + dy * cos }
}

export const centreOf = ([x, y, w, h]: Box): Point => ({ x: x + w / 2, y: y + h / 2 })

export function corners(box: Box): Point[] {
  const [x, y, w, h, angle] = box
  const plain = [
    { x, y },
    { x: x + w, y },
    { x: x + w, y: y + h },
    { x, y: y + h },
  ]
  if (angle === 0) return plain
  const centre = centreOf(box)
  return plain.map((corner) => turnPoint(corner, angle, centre))
}

export function applyTransform(box: Box, how: Transform): Box {
  const [x, y, w, h, angle] = box
  if (how.op === 'move') return [x + how.dx, y + how.dy, w, h, angle]
  const centre = centreOf(box)
  if (how.op === 'turn') {
    const next = turnPoint(centre, how.angle, how)
    return [next.x - w / 2, next.y - h / 2, w, h, (angle + how.angle) % (2 * Math.PI)]
  }
  const flat = turnPoint(centre, -how.angle, how)
  const next = turnPoint({ x: how.x + (flat.x - how.x) * how.sx, y: how.y + (flat.y - how.y) * how.sy }, how.angle, how)
  // A box that is turned against the axes of the scaling would be sheared; it is scaled evenly instead.
  const aligned = Math.abs(angle - how.angle) < 0.001
  const even = Math.sqrt(Math.abs(how.sx * how.sy))
  const nextW = w * (aligned ? how.sx : even)
  const nextH = h * (aligned ? how.sy : even)
  return [next.x - nextW / 2, next.y - nextH / 2, nextW, nextH, angle]
}

export function rectAround(points: readonly Point[], pad = 0): Rect {
  let [x0, y0, x1, y1] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const { x, y } of points) {
    x0 = Math.min(x0, x)
    y0 = Math.min(y0, y)
    x1 = Math.max(x1, x)
    y1 = Math.max(y1, y)
  }
  return { x: x0 - pad, y: y0 - pad, w: x1 - x0 + 2 * pad, h: y1 - y0 + 2 * pad }
}

export const rectOf = (a: Point, b: Point): Rect => rectAround([a, b])

export const overlaps = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

export const contains = (outer: Rect, inner: Rect): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.w <= outer.x + outer.w &&
  inner.y + inner.h <= outer.y + outer.h

export function union(rects: readonly Rect[]): Rect | null {
  if (rects.length === 0) return null
  return rectAround(
    rects.flatMap(({ x, y, w, h }) => [
      { x, y },
      { x: x + w, y: y + h },
    ]),
  )
}

/** The rectangle of a stroke's points, relative to its start. */
export function strokeRect(points: readonly number[]): Rect {
  let [x0, y0, x1, y1] = [points[0] ?? 0, points[1] ?? 0, points[0] ?? 0, points[1] ?? 0]
  for (let i = 0; i + 2 < points.length; i += 3) {
    x0 = Math.min(x0, points[i]!)
    x1 = Math.max(x1, points[i]!)
    y0 = Math.min(y0, points[i + 1]!)
    y1 = Math.max(y1, points[i + 1]!)
  }
  return { x: x0, y: y0, w: x1 - x0, h: y1 - y0 }
}

/** The box in which the shape really appears: for a stroke still being drawn, that of its points. */
export function boxOf(shape: Shape): Box {
  const [x, y, w, h, angle] = shape.box
  if (shape.kind !== 'pen' || w !== 0 || h !== 0) return shape.box
  const rect = strokeRect(shape.points)
  return [x + rect.x, y + rect.y, rect.w, rect.h, angle]
}

export function distanceToSegment(p: Point, a: Point, b: Point): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const length = dx * dx + dy * dy
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / length))
  return Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy)
}

/** Stroke points where they are on the board, before turning. */
export function placedPoints(shape: Shape): Point[] {
  const natural = strokeRect(shape.points)
  const [x, y, w, h] = boxOf(shape)
  const sx = natural.w > 0 ? w / natural.w : 1
  const sy = natural.h > 0 ? h / natural.h : 1
  const placed: Point[] = []
  for (let i = 0; i + 2 < shape.points.length; i += 3) {
    placed.push({ x: x + (shape.points[i]! - natural.x) * sx, y: y + (shape.points[i + 1]! - natural.y) * sy })
  }
  return placed
}
