/** The board as an SVG file, built as a DOM tree, so that no text of anybody is ever taken for markup. */
import { boundsOf, centreOf, strokeRect, union } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { imageType } from '../board/shape-validation.ts'
import { arrowHead, cornerRadius, layoutOf } from '../canvas/draw-shape.ts'
import type { Theme } from '../canvas/palette.ts'
import { SURFACE, tones } from '../canvas/palette.ts'
import { outlineData } from '../canvas/stroke-path.ts'
import { FONT_STACK, LINE_HEIGHT, NOTE_PADDING } from '../canvas/text-layout.ts'

const SVG = 'http://www.w3.org/2000/svg'
const MARGIN = 32

type Attributes = Record<string, string | number>

function node(name: string, attributes: Attributes, ...children: Array<Node | string>): SVGElement {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value)
  }
  element.append(...children)
  return element
}

function textNodes(shape: Shape, x: number, y: number, color: string): SVGElement {
  const layout = layoutOf(shape)
  const lead = layout.size * LINE_HEIGHT
  const lines = layout.lines.map((line, i) =>
    node('tspan', { x, y: y + i * lead + lead * 0.5 + layout.size * 0.35 }, line),
  )
  return node(
    'text',
    { fill: color, 'font-family': FONT_STACK, 'font-size': layout.size, 'xml:space': 'preserve' },
    ...lines,
  )
}

function dataUrl(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8_192) binary += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return `data:${imageType(bytes)};base64,${btoa(binary)}`
}

function pen(shape: Shape, [x, y, w, h]: Box, color: string): SVGElement {
  const natural = strokeRect(shape.points)
  const drawing = w === 0 && h === 0
  const sx = drawing || natural.w === 0 ? 1 : w / natural.w
  const sy = drawing || natural.h === 0 ? 1 : h / natural.h
  const back = drawing ? '' : ` translate(${-natural.x} ${-natural.y})`
  const data = outlineData(shape.points, shape.width, true)
  return node('path', { d: data, fill: color, transform: `translate(${x} ${y}) scale(${sx} ${sy})${back}` })
}

function line(shape: Shape, box: Box, color: string): SVGElement {
  const [x, y, w, h] = box
  const head =
    shape.kind === 'arrow' ? arrowHead(box, shape.width).map((p, i) => `${i === 0 ? 'M' : 'L'}${p.join(' ')}`) : []
  return node('path', {
    d: `M${x} ${y}L${x + w} ${y + h}${head.join('')}`,
    fill: 'none',
    stroke: color,
    'stroke-width': shape.width,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  })
}

function closed(shape: Shape, [x, y, w, h]: Box, theme: Theme): SVGElement {
  const tone = tones(shape.color, theme)
  const fill = shape.fill === 'none' ? 'none' : shape.fill === 'soft' ? tone.soft : tone.stroke
  const paint = { fill, stroke: tone.stroke, 'stroke-width': shape.width }
  if (shape.kind === 'ellipse') {
    return node('ellipse', { cx: x + w / 2, cy: y + h / 2, rx: Math.abs(w / 2), ry: Math.abs(h / 2), ...paint })
  }
  return node('rect', { x, y, width: w, height: h, rx: cornerRadius(w, h), ...paint })
}

function drawn(shape: Shape, theme: Theme): SVGElement {
  const { box } = shape
  const [x, y, w, h] = box
  const tone = tones(shape.color, theme)
  switch (shape.kind) {
    case 'pen':
      return pen(shape, box, tone.stroke)
    case 'line':
    case 'arrow':
      return line(shape, box, tone.stroke)
    case 'text':
      return textNodes(shape, x, y, tone.stroke)
    case 'note': {
      const paper = node('rect', { x, y, width: w, height: h, rx: 4, fill: tone.note })
      return node('g', {}, paper, textNodes(shape, x + NOTE_PADDING, y + NOTE_PADDING, SURFACE[theme].text))
    }
    case 'image':
      return node('image', { x, y, width: w, height: h, href: dataUrl(shape.image!), preserveAspectRatio: 'none' })
    default:
      return closed(shape, box, theme)
  }
}

export function boardToSvg(shapes: readonly Shape[], theme: Theme): string | null {
  const around = union(shapes.map(boundsOf))
  if (!around) return null
  const [x, y, w, h] = [around.x - MARGIN, around.y - MARGIN, around.w + 2 * MARGIN, around.h + 2 * MARGIN]
  const paper = node('rect', { x, y, width: w, height: h, fill: SURFACE[theme].board })
  const children = shapes.map((shape) => {
    const element = drawn(shape, theme)
    const centre = centreOf(shape.box)
    const degrees = (shape.box[4] * 180) / Math.PI
    return degrees === 0 ? element : node('g', { transform: `rotate(${degrees} ${centre.x} ${centre.y})` }, element)
  })
  const root = node('svg', { viewBox: `${x} ${y} ${w} ${h}`, width: w, height: h }, paper, ...children)
  return new XMLSerializer().serializeToString(root)
}
