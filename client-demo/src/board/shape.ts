/** What the rest of the page knows of an object on the board: plain values, already checked (shape-validation). */
export interface Shape {
  readonly id: string
  readonly kind: ShapeKind
  /** Fractional index: objects are painted in ascending `order`, ties by id. */
  readonly order: string
  readonly box: Box
  /** A palette name or `#rrggbb`. */
  readonly color: string
  readonly fill: Fill
  /** Stroke width in board units. */
  readonly width: number
  /** Font size in board units. */
  readonly size: number
  readonly text: string
  /** A pen stroke: x, y, pressure in turn; x and y in board units from the stroke's start, pressure 0–1, 0 = unknown. */
  readonly points: readonly number[]
  readonly image: Uint8Array<ArrayBuffer> | null
}

export const SHAPE_KINDS = ['pen', 'rect', 'ellipse', 'line', 'arrow', 'text', 'note', 'image'] as const
export type ShapeKind = (typeof SHAPE_KINDS)[number]

export const FILLS = ['none', 'soft', 'solid'] as const
export type Fill = (typeof FILLS)[number]

/**
 * x, y, width, height, angle in radians around the centre. One value, so that two people who move and resize at once get one
 * of the two positions, never a mixture. Lines run from (x, y) to (x + w, y + h) and may have negative sizes. A pen
 * stroke of size 0 × 0 is one still being drawn: its points are taken as they are, from (x, y).
 */
export type Box = readonly [x: number, y: number, w: number, h: number, angle: number]

/** What a new object is made of; the board adds id and order. */
export interface Draft {
  kind: ShapeKind
  box: Box
  color: string
  fill?: Fill
  width?: number
  size?: number
  text?: string
  points?: readonly number[]
  image?: Uint8Array<ArrayBuffer>
}
