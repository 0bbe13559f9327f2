/** What one person shows to others: all of it in one presence state. */
import type { Transform } from '../board/geometry.ts'
import type { Box, Fill, ShapeKind } from '../board/shape.ts'

/** A state stays far below the server's 16 KiB: 200 ids of 12 characters are 3 KiB. */
export const MAX_SHARED_SELECTION = 200

export type Preview =
  | {
      readonly is: 'shape'
      readonly kind: ShapeKind
      readonly box: Box
      readonly color: string
      readonly fill: Fill
      readonly width: number
    }
  | { readonly is: 'transform'; readonly how: Transform }

export interface Reaction {
  readonly glyph: number
  /** Counts up, so that the same reaction twice in a row is seen twice. */
  readonly n: number
  readonly x: number
  readonly y: number
}

export interface Person {
  readonly name: string
  readonly color: string
  readonly cursor: readonly [x: number, y: number] | null
  /** Centre of the view, zoom, and how much of the board is in it; 0 × 0 is unknown. */
  readonly view: readonly [x: number, y: number, zoom: number, w: number, h: number] | null
  readonly selection: readonly string[]
  /** Everything selected when it is more than can be listed: x, y, w, h. */
  readonly selectionRect: readonly [number, number, number, number] | null
  readonly preview: Preview | null
  readonly reaction: Reaction | null
}
