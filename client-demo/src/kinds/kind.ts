/** What one kind of object is: everything in which kinds differ is said here, and asked for nowhere by name. */
import type { Point } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import type { Theme } from '../canvas/palette.ts'

export type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D

/** What the style panel offers. */
export type Aspect = 'color' | 'width' | 'fill' | 'size'

/** Where the words of an object are, in board units before turning. */
export interface TextBox {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  /** Within the rectangle. */
  readonly padding: number
  /** Font size at which the words are shown. */
  readonly size: number
  readonly color: string
  /** What lies behind the words while they are written; null: the board. */
  readonly paper: string | null
}

/** The parts of a shape that only some kinds have. */
export type Content = Pick<Shape, 'text' | 'points' | 'image'>

export interface Kind {
  /** For people: in lists and announcements. */
  readonly label: string
  readonly aspects: readonly Aspect[]
  /** `ends`: two handles, one at each end; `frame`: eight around it, and one that turns. */
  readonly handles: 'frame' | 'ends'
  /** A corner that is pulled keeps the proportions. */
  readonly keepsRatio: boolean
  /** Colours are those of paper: the swatches show that tone. */
  readonly onPaper: boolean
  /** Paints it unturned, in board coordinates; the caller has turned the context. */
  draw(ctx: Context, shape: Shape, box: Box, theme: Theme): void
  /** The same as an element of an SVG file. */
  svg(shape: Shape, box: Box, theme: Theme): SVGElement
  /** Is the point, turned back into the unturned box, on it, `near` board units beside it included? */
  hit(shape: Shape, box: Box, point: Point, near: number): boolean
  /** How far its paint goes beyond its box, in board units. */
  reach(shape: Shape): number
  /** Absent: nothing is written in it. */
  textBox?(shape: Shape, box: Box, theme: Theme): TextBox
  /** The box it takes when its words or its width have changed; absent: the box is as it was set. */
  fitted?(shape: Shape, box: Box): Box
  /** Reads what it needs beyond box and look; null: this is no such thing, and is not shown. */
  read(field: (name: string) => unknown): Content | null
}

export const NO_CONTENT: Content = { text: '', points: [], image: null }

export const insideBox = ([x, y, w, h]: Box, point: Point, near: number): boolean =>
  point.x >= Math.min(x, x + w) - near &&
  point.x <= Math.max(x, x + w) + near &&
  point.y >= Math.min(y, y + h) - near &&
  point.y <= Math.max(y, y + h) + near

const SVG = 'http://www.w3.org/2000/svg'

/** An SVG element, built as DOM, so that no text of anybody is ever taken for markup. Numbers to hundredths. */
export function svgNode(
  name: string,
  attributes: Record<string, string | number>,
  ...children: Array<Node | string>
): SVGElement {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value)
  }
  element.append(...children)
  return element
}
