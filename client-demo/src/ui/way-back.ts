/**
 * For whoever is lost on an endless board: a button that leads back to what was drawn when nothing of it is in view, and at
 * the edge of the window arrows to other people's cursors that are beyond it.
 */

import { overlaps, type Point, type Rect } from '../board/geometry.ts'
import type { Board } from '../board/model.ts'
import type { Renderer } from '../canvas/renderer.ts'
import { FONT_STACK } from '../canvas/text-layout.ts'
import type { Viewport } from '../canvas/viewport.ts'
import { boundsOf } from '../kinds/kinds.ts'
import type { Presence } from '../people/presence.ts'
import { inkOn } from '../people/presence-validation.ts'
import { textButton } from './button.ts'

const LOOK_MS = 250
/** The bars are at the edges; arrows stay clear of them, and of the tools at the side of a wide window. */
const EDGE_PX = 96
const SIDE_PX = { narrow: 36, wide: 136 } as const
const WIDE_PX = 760
const MAX_ARROWS = 12

const middleOf = ({ x, y, w, h }: Rect): Point => ({ x: x + w / 2, y: y + h / 2 })

export function wayBack(board: Board, view: Viewport, showAll: () => void): HTMLElement {
  let nearest: Rect | null = null
  const button = textButton('Back to the drawing', () => (nearest ? view.fit(nearest) : showAll()), 'next', 'way-back')
  button.hidden = true
  let waiting = false
  const look = () => {
    waiting = false
    const visible = view.visible()
    const centre = view.centre
    let distance = Number.POSITIVE_INFINITY
    nearest = null
    for (const shape of board.shapes.values()) {
      const bounds = boundsOf(shape)
      if (overlaps(bounds, visible)) {
        button.hidden = true
        return
      }
      const middle = middleOf(bounds)
      const away = Math.hypot(middle.x - centre.x, middle.y - centre.y)
      if (away < distance) {
        distance = away
        nearest = bounds
      }
    }
    button.hidden = nearest === null
    if (!nearest) return
    const to = middleOf(nearest)
    button.style.setProperty('--way', `${Math.atan2(to.y - centre.y, to.x - centre.x)}rad`)
  }
  const lookSoon = () => {
    if (waiting) return
    waiting = true
    window.setTimeout(look, LOOK_MS)
  }
  view.changed.on(lookSoon)
  board.changed.on(lookSoon)
  lookSoon()
  return button
}

export function showWayToPeople(renderer: Renderer, presence: Presence): void {
  renderer.addLive((ctx, view) => {
    let shown = 0
    const { width, height } = view
    const middle = { x: width / 2, y: height / 2 }
    const side = width < WIDE_PX ? SIDE_PX.narrow : SIDE_PX.wide
    ctx.setTransform(renderer.scale, 0, 0, renderer.scale, 0, 0)
    for (const { cursor, color, name } of presence.others.values()) {
      if (!cursor || shown >= MAX_ARROWS) continue
      const at = view.toScreen({ x: cursor[0], y: cursor[1] })
      if (at.x >= 0 && at.y >= 0 && at.x <= width && at.y <= height) continue
      shown++
      const [dx, dy] = [at.x - middle.x, at.y - middle.y]
      const [roomX, roomY] = [Math.max(20, middle.x - side), Math.max(20, middle.y - EDGE_PX)]
      const share = Math.min(roomX / Math.max(1, Math.abs(dx)), roomY / Math.max(1, Math.abs(dy)))
      ctx.save()
      ctx.translate(middle.x + dx * share, middle.y + dy * share)
      ctx.fillStyle = color
      ctx.beginPath()
      ctx.arc(0, 0, 13, 0, 2 * Math.PI)
      ctx.fill()
      ctx.save()
      ctx.rotate(Math.atan2(dy, dx))
      ctx.fill(new Path2D('M14 -7L23 0L14 7Z'))
      ctx.restore()
      ctx.fillStyle = inkOn(color)
      ctx.font = `600 12px ${FONT_STACK}`
      ctx.textAlign = 'center'
      ctx.textBaseline = 'middle'
      ctx.fillText([...name][0]?.toUpperCase() ?? '', 0, 0.5)
      ctx.restore()
    }
    return shown > 0
  })
}
