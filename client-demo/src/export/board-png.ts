import { union } from '../board/geometry.ts'
import type { Shape } from '../board/shape.ts'
import type { Theme } from '../canvas/palette.ts'
import { SURFACE } from '../canvas/palette.ts'
import { boundsOf, paintShape } from '../kinds/kinds.ts'

const MARGIN = 32
const MAX_SIDE = 8_192
const MAX_PIXELS = 48_000_000

/** The whole board with a margin; an empty one is an empty sheet. */
export function boardToCanvas(
  shapes: readonly Shape[],
  theme: Theme,
  paper: string = SURFACE[theme].board,
): HTMLCanvasElement {
  const around = union(shapes.map(boundsOf)) ?? { x: 0, y: 0, w: 1, h: 1 }
  const [w, h] = [around.w + 2 * MARGIN, around.h + 2 * MARGIN]
  const scale = Math.min(2, MAX_SIDE / w, MAX_SIDE / h, Math.sqrt(MAX_PIXELS / (w * h)))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(w * scale))
  canvas.height = Math.max(1, Math.round(h * scale))
  const ctx = canvas.getContext('2d')!
  ctx.fillStyle = paper
  ctx.fillRect(0, 0, canvas.width, canvas.height)
  ctx.setTransform(scale, 0, 0, scale, (MARGIN - around.x) * scale, (MARGIN - around.y) * scale)
  for (const shape of shapes) paintShape(ctx, shape, theme)
  return canvas
}

export async function boardToPng(shapes: readonly Shape[], theme: Theme): Promise<Blob | null> {
  if (shapes.length === 0) return null
  return new Promise((done) => boardToCanvas(shapes, theme).toBlob(done, 'image/png'))
}
