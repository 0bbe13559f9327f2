import { getStroke } from 'perfect-freehand'

/** SVG path data, used by the canvas and by the SVG export alike. */
export function outlineData(points: readonly number[], width: number, finished: boolean): string {
  const input: number[][] = []
  for (let i = 0; i + 2 < points.length; i += 3) input.push([points[i]!, points[i + 1]!, points[i + 2] || 0.5])
  const simulated = !(points[2]! > 0)
  const outline = getStroke(input, {
    size: width * 2,
    thinning: simulated ? 0.45 : 0.7,
    smoothing: 0.55,
    streamline: 0.35,
    simulatePressure: simulated,
    last: finished,
  })
  if (outline.length < 2) return ''
  const at = (value: number) => Math.round(value * 100) / 100
  const first = outline[0]!
  let data = `M${at(first[0]!)} ${at(first[1]!)}Q`
  for (let i = 0; i < outline.length; i++) {
    const [x, y] = outline[i]!
    const [nextX, nextY] = outline[(i + 1) % outline.length]!
    data += `${at(x!)} ${at(y!)} ${at((x! + nextX!) / 2)} ${at((y! + nextY!) / 2)} `
  }
  return `${data}Z`
}

// The board hands out the same points array until a stroke grows, so moving and recolouring never outline again.
const cache = new WeakMap<readonly number[], { width: number; path: Path2D }>()

export function strokePath(points: readonly number[], width: number): Path2D {
  const known = cache.get(points)
  if (known?.width === width) return known.path
  const path = new Path2D(outlineData(points, width, true))
  cache.set(points, { width, path })
  return path
}
