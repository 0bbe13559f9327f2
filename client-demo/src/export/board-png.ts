import { boundsOf, union } from '../board/geometry.ts'
import type { Shape } from '../board/shape.ts'
import { paintShape } from '../canvas/draw-shape.ts'
import type { Theme } from '../canvas/palette.ts'
import { SURFACE } from '../canvas/palette.ts'

const MARGIN = 32
const MAX_SIDE = 8_192
const MAX_PIXELS = 48_000_000

export async function boardToPng(shapes: readonly Shape[], theme: Theme): Promise<Blob | null> {
  const around = union(shapes.map(boundsOf))
  if (!around) return null
  const [w, h] = [around.w + 2 * MARGIN, around.h + 2 * MARGIN]
  const scale = Math.min(2, MAX_SIDE / w, MAX_SIDE / h, Math.sqrt(MAX_PIXELS / (w * h)))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(w * scale))
  canvas.height = Math.max(1, Math.round(h * scale))
  const ctx = canvas.getContext('2d')!
  ctx.fillStyle = SURFACE[theme].board
  ctx.fillRect(0, 0, canvas.width, canvas.height)
  ctx.setTransform(scale, 0, 0, scale, (MARGIN - around.x) * scale, (MARGIN - around.y) * scale)
  for (const shape of shapes) paintShape(ctx, shape, theme)
  return new Promise((done) => canvas.toBlob(done, 'image/png'))
}
