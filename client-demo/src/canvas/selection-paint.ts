import { corners } from '../board/geometry.ts'
import type { Box } from '../board/shape.ts'

/** A thin frame around a box, of the same thickness at every zoom. */
export function paintOutline(ctx: CanvasRenderingContext2D, box: Box, color: string, zoom: number, width = 1.5): void {
  const pad = 4 / zoom
  const [x, y, w, h, angle] = box
  const padded: Box = [
    Math.min(x, x + w) - pad,
    Math.min(y, y + h) - pad,
    Math.abs(w) + 2 * pad,
    Math.abs(h) + 2 * pad,
    angle,
  ]
  ctx.strokeStyle = color
  ctx.lineWidth = width / zoom
  ctx.lineJoin = 'miter'
  ctx.beginPath()
  for (const { x, y } of corners(padded)) ctx.lineTo(x, y)
  ctx.closePath()
  ctx.stroke()
}

export function paintHandle(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  zoom: number,
  color: string,
  surface: string,
  round: boolean,
): void {
  const r = 5 / zoom
  ctx.beginPath()
  if (round) ctx.arc(x, y, r, 0, 2 * Math.PI)
  else ctx.roundRect(x - r, y - r, 2 * r, 2 * r, 2 / zoom)
  ctx.fillStyle = surface
  ctx.fill()
  ctx.strokeStyle = color
  ctx.lineWidth = 1.5 / zoom
  ctx.stroke()
}
