/** The frame around the selection: where its handles are and what pulling one of them does. */

import { boxOf, centreOf, corners, type Point, rectAround, type Transform, turnPoint } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { isLine } from '../kinds/kinds.ts'

export type HandleName = 'nw' | 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w' | 'turn' | 'start' | 'end'

export interface Handle extends Point {
  readonly name: HandleName
}

const TURN_DISTANCE_PX = 26
const FRAME_PAD_PX = 4
const SIDES: Record<string, readonly [number, number]> = {
  nw: [0, 0],
  n: [0.5, 0],
  ne: [1, 0],
  e: [1, 0.5],
  se: [1, 1],
  s: [0.5, 1],
  sw: [0, 1],
  w: [0, 0.5],
}
const SMALLEST = 4

/** One shape: its own box, turned as it is. Several: the upright rectangle around them. */
export function frameOf(shapes: readonly Shape[]): Box | null {
  if (shapes.length === 0) return null
  if (shapes.length === 1) {
    const [x, y, w, h, angle] = boxOf(shapes[0]!)
    return [Math.min(x, x + w), Math.min(y, y + h), Math.abs(w), Math.abs(h), angle]
  }
  const around = rectAround(shapes.flatMap((shape) => corners(boxOf(shape))))
  return [around.x, around.y, around.w, around.h, 0]
}

export function handlesOf(shapes: readonly Shape[], zoom: number): Handle[] {
  const only = shapes.length === 1 ? shapes[0]! : null
  if (only && isLine(only.kind)) {
    const [from, , to] = corners(only.box)
    return [
      { name: 'start', ...from! },
      { name: 'end', ...to! },
    ]
  }
  const frame = frameOf(shapes)
  if (!frame) return []
  const [x, y, w, h, angle] = frame
  const centre = centreOf(frame)
  const pad = FRAME_PAD_PX / zoom
  const place = (name: HandleName, px: number, py: number): Handle => ({
    name,
    ...turnPoint({ x: px, y: py }, angle, centre),
  })
  const [wide, high] = [w * zoom > 48, h * zoom > 48]
  const handles = Object.entries(SIDES)
    .filter(([name]) => name.length === 2 || (only && (name === 'n' || name === 's' ? wide : high)))
    .map(([name, [fx, fy]]) => place(name as HandleName, x - pad + fx * (w + 2 * pad), y - pad + fy * (h + 2 * pad)))
  return [...handles, place('turn', x + w / 2, y - TURN_DISTANCE_PX / zoom)]
}

export function handleAt(handles: readonly Handle[], point: Point, reach: number): Handle | null {
  let best: Handle | null = null
  let nearest = reach
  for (const handle of handles) {
    const distance = Math.hypot(handle.x - point.x, handle.y - point.y)
    if (distance <= nearest) {
      nearest = distance
      best = handle
    }
  }
  return best
}

export function pull(name: HandleName, frame: Box, from: Point, to: Point, keepRatio: boolean): Transform {
  const centre = centreOf(frame)
  if (name === 'turn') {
    const raw = Math.atan2(to.y - centre.y, to.x - centre.x) - Math.atan2(from.y - centre.y, from.x - centre.x)
    const step = Math.PI / 12
    const angle = keepRatio ? Math.round((raw + frame[4]) / step) * step - frame[4] : raw
    return { op: 'turn', angle, x: centre.x, y: centre.y }
  }
  const [x, y, w, h, angle] = frame
  const [fx, fy] = SIDES[name]!
  const anchor = turnPoint({ x: x + (1 - fx) * w, y: y + (1 - fy) * h }, angle, centre)
  const flatFrom = turnPoint(from, -angle, anchor)
  const flatTo = turnPoint(to, -angle, anchor)
  const factor = (side: number, size: number, moved: number, sign: number): number =>
    side === 0.5 ? 1 : Math.max(SMALLEST / Math.max(size, SMALLEST), (size + moved * sign) / Math.max(size, 1))
  let sx = factor(fx, w, flatTo.x - flatFrom.x, fx === 1 ? 1 : -1)
  let sy = factor(fy, h, flatTo.y - flatFrom.y, fy === 1 ? 1 : -1)
  if (keepRatio) {
    const even = fx === 0.5 ? sy : fy === 0.5 ? sx : Math.max(sx, sy)
    sx = even
    sy = even
  }
  return { op: 'scale', sx, sy, x: anchor.x, y: anchor.y, angle }
}

const CURSORS = ['ns-resize', 'nesw-resize', 'ew-resize', 'nwse-resize']

export function cursorFor(name: HandleName, angle: number): string {
  if (name === 'turn') return 'grab'
  if (name === 'start' || name === 'end') return 'move'
  const base = { n: 0, s: 0, ne: 1, sw: 1, e: 2, w: 2, se: 3, nw: 3 }[name]
  return CURSORS[(base + Math.round(angle / (Math.PI / 4)) + 8) % 4]!
}
