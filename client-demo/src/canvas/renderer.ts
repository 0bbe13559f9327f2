/**
 * Three stacked canvases: dots of the grid, the still board (tiles), and the live layer for what moves (selection, previews,
 * shapes being dragged). Each is painted only when something of its own changed, at most once per animation frame.
 */

import type { Rect } from '../board/geometry.ts'
import type { Board } from '../board/model.ts'
import type { Shape } from '../board/shape.ts'
import { boundsOf } from '../kinds/kinds.ts'
import type { Signal } from '../signal.ts'
import { pictureReady } from './images.ts'
import type { Theme } from './palette.ts'
import { SURFACE } from './palette.ts'
import { Tiles } from './tiles.ts'
import type { Viewport } from './viewport.ts'

const GRID_STEP = 24
const ZOOM_SETTLES_MS = 140

/** Answers whether it painted anything: a layer that stays blank is not touched at all. */
export type LivePainter = (ctx: CanvasRenderingContext2D, view: Viewport, theme: Theme) => boolean

export class Renderer {
  readonly #grid: CanvasRenderingContext2D
  readonly #still: CanvasRenderingContext2D
  readonly #live: CanvasRenderingContext2D
  readonly #tiles: Tiles
  readonly #lifted = new Map<string, ReadonlySet<string>>()
  readonly #painters: LivePainter[] = []
  readonly #painted = new Map<string, Rect>()
  /** Device pixels per CSS pixel. */
  scale = 1
  #scheduled = false
  #dirty = { grid: true, still: true, live: true }
  #shown: Rect | null = null
  #liveIsBlank = true
  readonly #sheet = document.createElement('canvas')
  #sheetKey = ''
  #lastZoom = 1
  #zoomedAt = Number.NEGATIVE_INFINITY

  constructor(
    stage: HTMLElement,
    private readonly board: Board,
    private readonly view: Viewport,
    private readonly theme: Signal<Theme>,
    private readonly gridShown: Signal<boolean>,
  ) {
    const layers = ['grid', 'still', 'live'].map((name) => {
      const canvas = document.createElement('canvas')
      canvas.className = `layer layer-${name}`
      canvas.setAttribute('aria-hidden', 'true')
      stage.append(canvas)
      return canvas.getContext('2d')!
    })
    this.#grid = layers[0]!
    this.#still = layers[1]!
    this.#live = layers[2]!
    this.#tiles = new Tiles(
      () => board.ordered(),
      (id) => this.#isLifted(id),
    )
    for (const shape of board.shapes.values()) this.#painted.set(shape.id, boundsOf(shape))
    board.changed.on((ids) => this.#repaintShapes(ids))
    pictureReady.on((bytes) => {
      for (const shape of board.shapes.values()) if (shape.image === bytes) this.#repaintShapes([shape.id])
    })
    view.changed.on(() => this.#request('grid', 'still', 'live'))
    gridShown.watch(() => this.#request('grid'))
    theme.watch(() => {
      this.repaintAll()
    })
    new ResizeObserver(() => this.#resize(stage)).observe(stage)
    this.#resize(stage)
  }

  /** Painters run on the live layer in board coordinates. */
  addLive(painter: LivePainter): void {
    this.#painters.push(painter)
  }

  /** Everything that was painted is of yesterday: another typeface, say. */
  repaintAll(): void {
    this.#tiles.clear()
    this.#request('grid', 'still', 'live')
  }

  requestLive(): void {
    this.#request('live')
  }

  /** Takes shapes out of the still picture, because `owner` paints them on the live layer (or hides them). */
  lift(owner: string, ids: ReadonlySet<string>): void {
    const before = this.#lifted.get(owner) ?? new Set<string>()
    const touched = [...before].filter((id) => !ids.has(id)).concat([...ids].filter((id) => !before.has(id)))
    if (touched.length === 0) return
    this.#lifted.set(owner, ids)
    this.#repaintShapes(touched)
  }

  #isLifted(id: string): boolean {
    for (const ids of this.#lifted.values()) if (ids.has(id)) return true
    return false
  }

  #repaintShapes(ids: Iterable<string>): void {
    for (const id of ids) {
      const before = this.#painted.get(id)
      const shape: Shape | undefined = this.board.shapes.get(id)
      if (before) this.#tiles.invalidate(before)
      if (shape) {
        const bounds = boundsOf(shape)
        this.#tiles.invalidate(bounds)
        this.#painted.set(id, bounds)
      } else this.#painted.delete(id)
    }
    this.#request('still', 'live')
  }

  #resize(stage: HTMLElement): void {
    this.scale = Math.min(2, window.devicePixelRatio || 1)
    const { clientWidth, clientHeight } = stage
    for (const { canvas } of [this.#grid, this.#still, this.#live]) {
      canvas.width = Math.max(1, Math.round(clientWidth * this.scale))
      canvas.height = Math.max(1, Math.round(clientHeight * this.scale))
    }
    this.view.resize(clientWidth, clientHeight)
  }

  #request(...layers: Array<'grid' | 'still' | 'live'>): void {
    for (const layer of layers) this.#dirty[layer] = true
    if (this.#scheduled) return
    this.#scheduled = true
    requestAnimationFrame((now) => this.#frame(now))
  }

  #frame(now: number): void {
    this.#scheduled = false
    const dirty = this.#dirty
    this.#dirty = { grid: false, still: false, live: false }
    if (dirty.grid) this.#paintGrid()
    if (dirty.still) this.#paintStill(now)
    if (dirty.live) this.#paintLive()
  }

  #paintStill(now: number): void {
    if (this.view.zoom !== this.#lastZoom) {
      this.#lastZoom = this.view.zoom
      this.#zoomedAt = now
    }
    const settling = now - this.#zoomedAt < ZOOM_SETTLES_MS
    const more = this.#tiles.compose(this.#still, this.view, this.#shown, this.scale, this.theme.value, settling)
    this.#shown = this.view.visible()
    if (more) this.#request('still')
  }

  #paintGrid(): void {
    const ctx = this.#grid
    const { width, height } = ctx.canvas
    ctx.clearRect(0, 0, width, height)
    if (!this.gridShown.value) return
    let step = GRID_STEP * this.view.zoom * this.scale
    while (step < 14 * this.scale) step *= 4
    const sheet = this.#dots(step, width, height)
    const offset = (at: number) => Math.round(-(((at * this.view.zoom * this.scale) % step) + step) % step)
    ctx.drawImage(sheet, offset(this.view.x), offset(this.view.y))
  }

  /** One step more dots than the window needs, painted once per zoom; panning only shifts them. */
  #dots(step: number, width: number, height: number): HTMLCanvasElement {
    const key = `${step} ${width} ${height} ${this.theme.value}`
    if (key === this.#sheetKey) return this.#sheet
    this.#sheetKey = key
    this.#sheet.width = width + Math.ceil(step)
    this.#sheet.height = height + Math.ceil(step)
    const ctx = this.#sheet.getContext('2d')!
    ctx.fillStyle = SURFACE[this.theme.value].dot
    const size = Math.max(1, Math.round(1.5 * this.scale))
    ctx.beginPath()
    for (let y = 0; y < this.#sheet.height; y += step) {
      for (let x = 0; x < this.#sheet.width; x += step) ctx.rect(Math.round(x), Math.round(y), size, size)
    }
    ctx.fill()
    return this.#sheet
  }

  #paintLive(): void {
    const ctx = this.#live
    ctx.setTransform(1, 0, 0, 1, 0, 0)
    if (!this.#liveIsBlank) ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height)
    this.#liveIsBlank = true
    const factor = this.view.zoom * this.scale
    for (const painter of this.#painters) {
      ctx.setTransform(factor, 0, 0, factor, -this.view.x * factor, -this.view.y * factor)
      if (painter(ctx, this.view, this.theme.value)) this.#liveIsBlank = false
    }
  }
}
