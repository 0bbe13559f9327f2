/** What others are drawing or dragging right now, painted over the still board. */

import { applyTransform, boxOf } from '../board/geometry.ts'
import type { Board } from '../board/model.ts'
import type { Shape } from '../board/shape.ts'
import type { Theme } from '../canvas/palette.ts'
import type { LivePainter, Renderer } from '../canvas/renderer.ts'
import { paintOutline } from '../canvas/selection-paint.ts'
import { paintShape } from '../kinds/kinds.ts'
import type { Person, Preview } from './person.ts'
import type { Presence } from './presence.ts'

/** Together with everybody's selections; beyond it others' drags are shown where they end. */
const MAX_MOVED_SHAPES = 600

export function paintPreview(ctx: CanvasRenderingContext2D, preview: Preview & { is: 'shape' }, theme: Theme): void {
  const { kind, box, color, fill, width } = preview
  const shape: Shape = {
    id: 'preview',
    kind,
    order: 'a0',
    box,
    color,
    fill,
    width,
    size: 20,
    text: '',
    points: [],
    image: null,
  }
  paintShape(ctx, shape, theme)
}

const movedBy = (person: Person): readonly string[] => (person.preview?.is === 'transform' ? person.selection : [])

export function showPreviews(board: Board, presence: Presence, renderer: Renderer): void {
  presence.changed.on(() => {
    const moved = [...presence.others.values()].flatMap(movedBy).slice(0, MAX_MOVED_SHAPES)
    renderer.lift('others', new Set(moved.filter((id) => board.shapes.has(id))))
    renderer.requestLive()
  })
  const paint: LivePainter = (ctx, view, theme) => {
    let budget = MAX_MOVED_SHAPES
    let painted = false
    for (const person of presence.others.values()) {
      painted ||= person.preview !== null || person.selection.length > 0 || person.selectionRect !== null
      const how = person.preview?.is === 'transform' ? person.preview.how : null
      if (person.preview?.is === 'shape') paintPreview(ctx, person.preview, theme)
      for (const id of person.selection) {
        const shape = board.shapes.get(id)
        if (!shape || budget-- <= 0) continue
        const box = how ? applyTransform(boxOf(shape), how) : boxOf(shape)
        if (how) paintShape(ctx, shape, theme, box)
        paintOutline(ctx, box, person.color, view.zoom)
      }
      if (person.selectionRect) {
        const [x, y, w, h] = person.selectionRect
        const box = [x, y, w, h, 0] as const
        paintOutline(ctx, how ? applyTransform(box, how) : box, person.color, view.zoom)
      }
    }
    return painted
  }
  renderer.addLive(paint)
}
