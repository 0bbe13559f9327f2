/**
 * The still part of the board as square pictures at the present zoom. Panning only moves pictures; an edit repaints the
 * touched rectangle of the tiles it touches; what comes into view is painted a few tiles per frame.
 */

import type { Rect } from '../board/geometry.ts'
import { overlaps, union } from '../board/geometry.ts'
import type { Shape } from '../board/shape.ts'
import { boundsOf, paintShape } from '../kinds/kinds.ts'
import type { Theme } from './palette.ts'
import type { Viewport } from './viewport.ts'

const TILE = 384
/** Painting a tile full of strokes costs software rendering some 20 ms, most of it after the script is done. */
const NEW_TILES_PER_FRAME_STILL = 3
const NEW_TILES_PER_FRAME_MOVING = 1
const REPAINT_MS_PER_FRAME = 8

interface Tile {
  readonly canvas: HTMLCanvasElement
  readonly rect: Rect
  /** Board rectangle to paint again; the whole tile at first, null when up to date. */
  dirty: Rect | null
  fresh: boolean
  lastUsed: number
}

export class Tiles {
  readonly #tiles = new Map<string, Tile>()
  #zoom = 0
  #scale = 1
  #frame = 0
  #lastView = ''
  /** What was last shown, stretched under tiles that are not painted yet. */
  readonly #backdrop = document.createElement('canvas')
  #backdropRect: Rect | null = null
  #bounds = new WeakMap<Shape, Rect>()

  constructor(
    private readonly shapes: () => readonly Shape[],
    private readonly hidden: (id: string) => boolean,
  ) {}

  invalidate(rect: Rect): void {
    for (const tile of this.#tiles.values()) {
      if (overlaps(tile.rect, rect)) tile.dirty = tile.dirty ? union([tile.dirty, rect]) : rect
    }
  }

  /** A theme change: nothing that was painted is right any more. */
  clear(): void {
    this.#tiles.clear()
    this.#backdropRect = null
  }

  #keepBackdrop(shown: HTMLCanvasElement, rect: Rect): void {
    this.#backdrop.width = shown.width
    this.#backdrop.height = shown.height
    this.#backdrop.getContext('2d')!.drawImage(shown, 0, 0)
    this.#backdropRect = rect
  }

  /**
   * Paints the view; true when tiles are still missing or stale and another frame is needed. While the zoom is moving
   * (`settling`) the last picture is stretched and no tile is painted, since each would be thrown away in the next frame.
   */
  compose(
    ctx: CanvasRenderingContext2D,
    view: Viewport,
    shownBefore: Rect | null,
    scale: number,
    theme: Theme,
    settling: boolean,
  ): boolean {
    if (view.zoom !== this.#zoom || scale !== this.#scale) {
      if (this.#tiles.size > 0 && shownBefore && !this.#backdropRect) this.#keepBackdrop(ctx.canvas, shownBefore)
      this.#tiles.clear()
      this.#zoom = view.zoom
      this.#scale = scale
    }
    this.#frame++
    ctx.setTransform(1, 0, 0, 1, 0, 0)
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height)
    const pending = settling ? true : this.#paintSome(view, theme)
    const missing: Rect[] = []
    for (const { i, j } of this.#around(view, 0)) {
      const tile = this.#tiles.get(`${i},${j}`)
      const [x, y] = this.#corner(view, i, j)
      if (tile && !tile.fresh) ctx.drawImage(tile.canvas, x, y)
      else missing.push({ x, y, w: TILE * scale, h: TILE * scale })
    }
    if (missing.length > 0 && this.#backdropRect) this.#stretchBackdrop(ctx, view, missing)
    if (missing.length === 0) this.#backdropRect = null
    return pending
  }

  #corner(view: Viewport, i: number, j: number): [number, number] {
    return [
      Math.round((i * TILE - view.x * view.zoom) * this.#scale),
      Math.round((j * TILE - view.y * view.zoom) * this.#scale),
    ]
  }

  /** The tiles of the view, or with `ring` 1 those just outside it as well. */
  *#around(view: Viewport, ring: 0 | 1): Generator<{ i: number; j: number }> {
    const [left, top] = [view.x * view.zoom, view.y * view.zoom]
    for (let j = Math.floor(top / TILE) - ring; (j - ring) * TILE < top + view.height; j++) {
      for (let i = Math.floor(left / TILE) - ring; (i - ring) * TILE < left + view.width; i++) yield { i, j }
    }
  }

  #stretchBackdrop(ctx: CanvasRenderingContext2D, view: Viewport, missing: readonly Rect[]): void {
    const from = this.#backdropRect!
    const factor = view.zoom * this.#scale
    ctx.save()
    ctx.beginPath()
    for (const { x, y, w, h } of missing) ctx.rect(x, y, w, h)
    ctx.clip()
    ctx.drawImage(
      this.#backdrop,
      (from.x - view.x) * factor,
      (from.y - view.y) * factor,
      from.w * factor,
      from.h * factor,
    )
    ctx.restore()
  }

  #paintSome(view: Viewport, theme: Theme): boolean {
    const start = performance.now()
    const place = `${view.x} ${view.y}`
    const moving = place !== this.#lastView
    this.#lastView = place
    let created = 0
    let pending = false
    let visible = 0
    for (const { i, j } of this.#around(view, 0)) {
      visible++
      const tile = this.#tileAt(i, j)
      if (!tile.dirty) continue
      const late = performance.now() - start > REPAINT_MS_PER_FRAME
      const limit = moving ? NEW_TILES_PER_FRAME_MOVING : NEW_TILES_PER_FRAME_STILL
      if (late || (tile.fresh && created >= limit)) {
        pending = true
        continue
      }
      if (tile.fresh) created++
      this.#paint(tile, theme)
    }
    this.#evict(visible)
    return pending || moving || (created === 0 && this.#paintAhead(view, theme)) || created > 0
  }

  /** While nothing else is to be done: one tile just outside the view, so that the next pan finds it painted. */
  #paintAhead(view: Viewport, theme: Theme): boolean {
    for (const { i, j } of this.#around(view, 1)) {
      const tile = this.#tileAt(i, j)
      if (!tile.fresh) continue
      this.#paint(tile, theme)
      return true
    }
    return false
  }

  #tileAt(i: number, j: number): Tile {
    const key = `${i},${j}`
    let tile = this.#tiles.get(key)
    if (!tile) this.#tiles.set(key, (tile = this.#newTile(i, j)))
    tile.lastUsed = this.#frame
    return tile
  }

  #newTile(i: number, j: number): Tile {
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = Math.ceil(TILE * this.#scale)
    const size = TILE / this.#zoom
    const rect = { x: i * size, y: j * size, w: size, h: size }
    return { canvas, rect, dirty: rect, fresh: true, lastUsed: this.#frame }
  }

  #paint(tile: Tile, theme: Theme): void {
    const ctx = tile.canvas.getContext('2d')!
    const factor = this.#zoom * this.#scale
    const dirty = tile.fresh ? tile.rect : tile.dirty!
    // Whole device pixels: a clip through the middle of a pixel leaves seams where it was painted twice.
    const x0 = Math.max(0, Math.floor((dirty.x - tile.rect.x) * factor) - 1)
    const y0 = Math.max(0, Math.floor((dirty.y - tile.rect.y) * factor) - 1)
    const x1 = Math.min(tile.canvas.width, Math.ceil((dirty.x + dirty.w - tile.rect.x) * factor) + 1)
    const y1 = Math.min(tile.canvas.height, Math.ceil((dirty.y + dirty.h - tile.rect.y) * factor) + 1)
    tile.dirty = null
    tile.fresh = false
    if (x1 <= x0 || y1 <= y0) return
    ctx.setTransform(1, 0, 0, 1, 0, 0)
    ctx.save()
    ctx.beginPath()
    ctx.rect(x0, y0, x1 - x0, y1 - y0)
    ctx.clip()
    ctx.clearRect(x0, y0, x1 - x0, y1 - y0)
    ctx.setTransform(factor, 0, 0, factor, -tile.rect.x * factor, -tile.rect.y * factor)
    const area = {
      x: tile.rect.x + x0 / factor,
      y: tile.rect.y + y0 / factor,
      w: (x1 - x0) / factor,
      h: (y1 - y0) / factor,
    }
    for (const shape of this.shapes()) {
      if (!this.hidden(shape.id) && overlaps(this.#boundsOf(shape), area)) paintShape(ctx, shape, theme)
    }
    ctx.restore()
  }

  #boundsOf(shape: Shape): Rect {
    let bounds = this.#bounds.get(shape)
    if (!bounds) this.#bounds.set(shape, (bounds = boundsOf(shape)))
    return bounds
  }

  #evict(visible: number): void {
    const keep = visible * 3 + 12
    if (this.#tiles.size <= keep) return
    const oldest = [...this.#tiles].sort(([, a], [, b]) => a.lastUsed - b.lastUsed)
    for (const [key] of oldest.slice(0, this.#tiles.size - keep)) this.#tiles.delete(key)
  }
}
