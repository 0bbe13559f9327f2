import type { Point, Rect, Transform } from '../board/geometry.ts'
import { applyTransform, boxOf, centreOf, contains, corners, overlaps, rectOf, turnPoint } from '../board/geometry.ts'
import type { Box, Shape } from '../board/shape.ts'
import { SURFACE } from '../canvas/palette.ts'
import { paintHandle, paintOutline } from '../canvas/selection-paint.ts'
import { boundsOf, hasText, hits, isLine, KINDS, paintShape } from '../kinds/kinds.ts'
import type { Handle } from './handles.ts'
import { cursorFor, frameOf, handleAt, handlesOf, pull } from './handles.ts'
import type { Bench, Press, Tool } from './tool.ts'
import { placeText } from './writing.ts'

const MOVES_AFTER_PX = 3
const HANDLE_REACH_PX = 10
const TOUCH_REACH_PX = 22
const NUDGE_WRITE_MS = 250
/** Taps of an arrow key closer together than this are one step to undo. */
const NUDGE_PAUSE_MS = 600

type Gesture =
  | { is: 'marquee'; from: Press; to: Press; before: ReadonlySet<string> }
  | { is: 'press'; from: Press; clicked: string | null }
  | { is: 'change'; from: Press; handle: Handle | null; frame: Box; how: Transform }
  | { is: 'end-of-line'; which: 'start' | 'end'; id: string; box: Box }
  /** Arrow keys: where the shapes are by now, and the timer that writes it. */
  | { is: 'keys'; boxes: ReadonlyMap<string, Box>; timer: number }

export interface SelectTool extends Tool {
  /** One step of an arrow key; a key held down is one step to undo, and written a few times a second. */
  nudge(how: Transform): void
  /** The key is up. */
  settle(): void
}

export function selectTool(bench: Bench): SelectTool {
  const { board, history, renderer, presence, selection, view, editing } = bench
  let gesture: Gesture | null = null
  let nudgedAt = Number.NEGATIVE_INFINITY

  const selected = (): Shape[] => [...selection.value].flatMap((id) => board.shapes.get(id) ?? [])
  const topAt = (point: Press): Shape | undefined =>
    board.ordered().findLast((shape) => hits(shape, point, point.slack))
  const reach = (press: Press) => (press.by === 'touch' ? TOUCH_REACH_PX : HANDLE_REACH_PX) / view.zoom

  const insideFrame = (press: Press, shapes: readonly Shape[]): boolean => {
    const frame = frameOf(shapes)
    if (!frame) return false
    const at = turnPoint(press, -frame[4], centreOf(frame))
    return at.x >= frame[0] && at.x <= frame[0] + frame[2] && at.y >= frame[1] && at.y <= frame[1] + frame[3]
  }

  const boxAfter = (shape: Shape): Box => {
    if (gesture?.is === 'end-of-line' && gesture.id === shape.id) return gesture.box
    if (gesture?.is === 'keys') return gesture.boxes.get(shape.id) ?? boxOf(shape)
    return gesture?.is === 'change' ? changed(shape, boxOf(shape), gesture.how) : boxOf(shape)
  }

  const changed = (shape: Shape, box: Box, how: Transform): Box => {
    const next = applyTransform(box, how)
    return (how.op === 'scale' && KINDS[shape.kind].fitted?.(shape, next)) || next
  }

  const begin = (next: Gesture) => {
    gesture = next
    const moves = next.is === 'change' || next.is === 'end-of-line' || next.is === 'keys'
    renderer.lift('select', moves ? new Set(selection.value) : new Set())
    renderer.requestLive()
  }

  const end = () => {
    gesture = null
    presence.show({ preview: null })
    renderer.lift('select', new Set())
    renderer.requestLive()
  }

  const marqueeRect = (g: Gesture & { is: 'marquee' }): Rect => rectOf(g.from, g.to)

  const selectInside = (g: Gesture & { is: 'marquee' }) => {
    const rect = marqueeRect(g)
    const inside = board.ordered().filter((shape) => {
      const bounds = boundsOf(shape)
      return (
        contains(rect, bounds) ||
        (overlaps(rect, bounds) && corners(boxOf(shape)).every((c) => contains(rect, { ...c, w: 0, h: 0 })))
      )
    })
    selection.set(new Set([...g.before, ...inside.map((shape) => shape.id)]))
  }

  const isStill = (from: Press, to: Press) => Math.hypot(to.x - from.x, to.y - from.y) * view.zoom <= MOVES_AFTER_PX

  /** A double-click: on a text or note its words, on nothing at all a new text. */
  const openText = (press: Press) => {
    const top = topAt(press)
    if (top && !hasText(top.kind)) return
    if (top) {
      selection.set(new Set([top.id]))
      editing.set(top.id)
    } else placeText('text', press, bench)
  }

  const lineBox = (shape: Shape, which: 'start' | 'end', to: Point): Box => {
    const [from, , till] = corners(shape.box)
    const [a, b] = which === 'start' ? [to, till!] : [from!, to]
    return [a.x, a.y, b.x - a.x, b.y - a.y, 0]
  }

  const write = () => board.setBoxes(new Map(selected().map((shape) => [shape.id, boxAfter(shape)])))

  const settle = () => {
    if (gesture?.is !== 'keys') return
    window.clearTimeout(gesture.timer)
    write()
    nudgedAt = performance.now()
    end()
  }

  const nudge = (how: Transform) => {
    if (gesture && gesture.is !== 'keys') return
    const boxes = new Map(selected().map((shape) => [shape.id, changed(shape, boxAfter(shape), how)]))
    if (boxes.size === 0) return
    if (gesture) {
      gesture.boxes = boxes
      gesture.timer ||= window.setTimeout(writeNudge, NUDGE_WRITE_MS)
      renderer.requestLive()
      return
    }
    if (performance.now() - nudgedAt > NUDGE_PAUSE_MS) history.mark()
    begin({ is: 'keys', boxes, timer: window.setTimeout(writeNudge, NUDGE_WRITE_MS) })
  }

  const writeNudge = () => {
    if (gesture?.is !== 'keys') return
    gesture.timer = 0
    write()
  }

  const finish = () => {
    if (gesture?.is === 'change' || gesture?.is === 'end-of-line') {
      history.mark()
      write()
    }
    end()
  }

  return {
    cursor: 'default',
    nudge,
    settle,
    down(press) {
      settle()
      const shapes = selected()
      const handle = board.readOnly ? null : handleAt(handlesOf(shapes, view.zoom), press, reach(press))
      const frame = frameOf(shapes)
      if (handle && (handle.name === 'start' || handle.name === 'end')) {
        begin({ is: 'end-of-line', which: handle.name, id: shapes[0]!.id, box: shapes[0]!.box })
      } else if (handle && frame) {
        begin({ is: 'change', from: press, handle, frame, how: { op: 'move', dx: 0, dy: 0 } })
      } else {
        const top = topAt(press)
        if (!top && !insideFrame(press, shapes)) {
          const before = press.shift ? selection.value : new Set<string>()
          selection.set(before)
          begin({ is: 'marquee', from: press, to: press, before })
          return
        }
        if (top && press.shift) {
          const next = new Set(selection.value)
          if (!next.delete(top.id)) next.add(top.id)
          selection.set(next)
        } else if (top && !selection.value.has(top.id)) selection.set(new Set([top.id]))
        begin({ is: 'press', from: press, clicked: top?.id ?? null })
      }
    },
    move(press) {
      if (gesture?.is === 'press' && !board.readOnly) {
        const { from } = gesture
        const frame = frameOf(selected())
        if (frame && Math.hypot(press.x - from.x, press.y - from.y) * view.zoom > MOVES_AFTER_PX) {
          begin({ is: 'change', from, handle: null, frame, how: { op: 'move', dx: 0, dy: 0 } })
        }
      }
      if (gesture?.is === 'marquee') {
        gesture.to = press
        selectInside(gesture)
      } else if (gesture?.is === 'change') {
        const { from, handle, frame } = gesture
        const straight = press.shift && !handle
        const [dx, dy] = [press.x - from.x, press.y - from.y]
        const sideways = Math.abs(dx) > Math.abs(dy)
        const [only] = selected()
        const itself = only !== undefined && selection.value.size === 1 && KINDS[only.kind].keepsRatio
        const keepRatio = press.shift || (itself && handle?.name.length === 2)
        gesture.how = handle
          ? pull(handle.name, frame, from, press, keepRatio)
          : { op: 'move', dx: straight && !sideways ? 0 : dx, dy: straight && sideways ? 0 : dy }
        presence.show({ preview: { is: 'transform', how: gesture.how } })
      } else if (gesture?.is === 'end-of-line') {
        const shape = board.shapes.get(gesture.id)
        if (shape) gesture.box = lineBox(shape, gesture.which, press)
      }
      renderer.requestLive()
    },
    up(press) {
      const done = gesture
      const still = done?.is === 'press' || (done?.is === 'marquee' && isStill(done.from, press))
      if (press.twice && still && !board.readOnly) {
        end()
        openText(press)
        return
      }
      if (done?.is === 'press' && done.clicked && !press.shift && selection.value.size > 1) {
        selection.set(new Set([done.clicked]))
      }
      finish()
    },
    cancel: end,
    interrupt: finish,
    hover(press) {
      const shapes = selected()
      const handle = board.readOnly ? null : handleAt(handlesOf(shapes, view.zoom), press, reach(press))
      if (handle) return cursorFor(handle.name, frameOf(shapes)?.[4] ?? 0)
      return topAt(press) || insideFrame(press, shapes) ? 'move' : null
    },
    paint(ctx, _view, theme) {
      const { accent, board: surface } = SURFACE[theme]
      const shapes = selected()
      const moving = gesture?.is === 'change' || gesture?.is === 'end-of-line' || gesture?.is === 'keys'
      const shown = moving ? shapes.map((shape) => ({ ...shape, box: boxAfter(shape) })) : shapes
      if (moving) for (const [i, shape] of shapes.entries()) paintShape(ctx, shape, theme, shown[i]!.box)
      for (const shape of shown) {
        // The text field has a frame of its own.
        if (editing.value === shape.id) continue
        if (!isLine(shape.kind) || shown.length > 1)
          paintOutline(ctx, boxOf(shape), accent, view.zoom, shown.length > 1 ? 1 : 1.5)
      }
      const frame = shown.length > 1 ? frameOf(shown) : null
      if (frame) paintOutline(ctx, frame, accent, view.zoom)
      if (!moving && !board.readOnly && editing.value === null) {
        for (const { name, x, y } of handlesOf(shapes, view.zoom)) {
          paintHandle(ctx, x, y, view.zoom, accent, surface, name === 'turn' || name === 'start' || name === 'end')
        }
      }
      if (gesture?.is === 'marquee') {
        const { x, y, w, h } = marqueeRect(gesture)
        ctx.fillStyle = `${accent}1a`
        ctx.fillRect(x, y, w, h)
        ctx.strokeStyle = accent
        ctx.lineWidth = 1 / view.zoom
        ctx.strokeRect(x, y, w, h)
      }
      return shapes.length > 0 || gesture?.is === 'marquee'
    },
  }
}
