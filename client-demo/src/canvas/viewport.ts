import type { Point, Rect } from '../board/geometry.ts'
import { Event } from '../signal.ts'

export const MIN_ZOOM = 0.05
export const MAX_ZOOM = 8

/** Which part of the endless board the window shows: (x, y) is the board point in the top left corner. */
export class Viewport {
  x = 0
  y = 0
  zoom = 1
  width = 1
  height = 1
  readonly changed = new Event<void>()

  toBoard(screen: Point): Point {
    return { x: this.x + screen.x / this.zoom, y: this.y + screen.y / this.zoom }
  }

  toScreen(board: Point): Point {
    return { x: (board.x - this.x) * this.zoom, y: (board.y - this.y) * this.zoom }
  }

  visible(): Rect {
    return { x: this.x, y: this.y, w: this.width / this.zoom, h: this.height / this.zoom }
  }

  get centre(): Point {
    return this.toBoard({ x: this.width / 2, y: this.height / 2 })
  }

  resize(width: number, height: number): void {
    this.width = Math.max(1, width)
    this.height = Math.max(1, height)
    this.changed.emit()
  }

  panBy(screenDx: number, screenDy: number): void {
    this.x -= screenDx / this.zoom
    this.y -= screenDy / this.zoom
    this.changed.emit()
  }

  /** Zooms and keeps the board point under `screen` where it is. */
  zoomTo(zoom: number, screen: Point = { x: this.width / 2, y: this.height / 2 }): void {
    const fixed = this.toBoard(screen)
    this.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom))
    this.x = fixed.x - screen.x / this.zoom
    this.y = fixed.y - screen.y / this.zoom
    this.changed.emit()
  }

  lookAt(centre: Point, zoom = this.zoom): void {
    this.zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom))
    this.x = centre.x - this.width / 2 / this.zoom
    this.y = centre.y - this.height / 2 / this.zoom
    this.changed.emit()
  }

  /** Shows the whole rectangle with some air around it, never larger than life. */
  fit(rect: Rect): void {
    const air = Math.min(80, this.width * 0.12)
    const zoom = Math.min(
      (this.width - 2 * air) / Math.max(1, rect.w),
      (this.height - 2 * air) / Math.max(1, rect.h),
      1,
    )
    this.lookAt({ x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 }, zoom)
  }
}
