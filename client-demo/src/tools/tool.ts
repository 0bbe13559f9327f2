import type { Point } from '../board/geometry.ts'
import type { History } from '../board/history.ts'
import type { Board } from '../board/model.ts'
import type { Fill } from '../board/shape.ts'
import type { LivePainter, Renderer } from '../canvas/renderer.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Presence } from '../people/presence.ts'
import type { Signal } from '../signal.ts'

export const TOOL_NAMES = [
  'select',
  'hand',
  'pen',
  'rect',
  'ellipse',
  'line',
  'arrow',
  'text',
  'note',
  'image',
  'eraser',
] as const
export type ToolName = (typeof TOOL_NAMES)[number]

/** A pointer, wherever it comes from (mouse, pen, finger, the keyboard's crosshair), in board coordinates. */
export interface Press extends Point {
  /** 0–1; 0 when the device does not measure it. */
  readonly pressure: number
  readonly shift: boolean
  readonly alt: boolean
  readonly by: 'mouse' | 'pen' | 'touch' | 'keys'
  /** How far beside a thing still hits it, in board units. */
  readonly slack: number
  readonly twice: boolean
}

/** One gesture at a time: `down`, any number of `move`, then `up` or `cancel`. */
export interface Tool {
  readonly cursor: string
  down(press: Press): void
  move(press: Press): void
  up(press: Press): void
  /** The gesture is taken back, as with Escape. */
  cancel(): void
  /** The gesture ends here for a reason of the page's: what is done so far stays. Absent: as `cancel`. */
  interrupt?(): void
  hover?(press: Press): string | null
  readonly paint?: LivePainter
}

/** What a new object looks like. */
export interface Look {
  readonly color: string
  /** The colour of a note. */
  readonly paper: string
  readonly fill: Fill
  readonly width: number
  readonly size: number
}

/** What every tool works with. */
export interface Bench {
  readonly board: Board
  readonly history: History
  readonly view: Viewport
  readonly renderer: Renderer
  readonly presence: Presence
  readonly selection: Signal<ReadonlySet<string>>
  readonly look: Signal<Look>
  readonly tool: Signal<ToolName>
  readonly editing: Signal<string | null>
}
