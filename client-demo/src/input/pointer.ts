/**
 * Mouse, pen and fingers on the stage. One finger, pen or mouse button drives the tool; two fingers, the wheel, the middle
 * button or the space bar move the view. Once a pen was seen, fingers move the view and never draw: most of them are palms.
 */
import type { Point } from '../board/geometry.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Presence } from '../people/presence.ts'
import type { Signal } from '../signal.ts'
import type { Press, Tool, ToolName } from '../tools/tool.ts'
import type { Attention } from './attention.ts'

const SLACK_PX = { mouse: 6, pen: 8, touch: 14 } as const
const DOUBLE_MS = 400
const DOUBLE_PX = 10
const LONG_PRESS_MS = 550
const LONG_PRESS_PX = 10
/** A second finger this soon after the first means both to move the view; later, what the first one drew stays. */
const SECOND_FINGER_MS = 350
const WHEEL_ZOOM_SPEED = 0.0022

type Device = 'mouse' | 'pen' | 'touch'

interface Parts {
  readonly stage: HTMLElement
  readonly view: Viewport
  readonly presence: Presence
  readonly tools: Record<string, Tool>
  readonly tool: Signal<ToolName>
  readonly attention: Attention
  /** Asked for what can be done here, by the right button or a long press. */
  readonly onMenu: (press: Press, at: Point) => void
}

interface Drive {
  readonly id: number
  readonly tool: Tool
  readonly from: Point
  readonly since: number
  readonly twice: boolean
  readonly leave: () => void
}

export class Pointer {
  #driving: Drive | null = null
  #panning: { id: number; last: Point } | null = null
  readonly #fingers = new Map<number, Point>()
  #lastDown = { at: 0, x: 0, y: 0 }
  #spaceHeld = false
  #penSeen = false
  #longPress = 0

  constructor(private readonly parts: Parts) {
    const { stage, presence, tool } = parts
    stage.addEventListener('pointerdown', (event) => this.#down(event))
    stage.addEventListener('pointermove', (event) => this.#move(event))
    stage.addEventListener('pointerup', (event) => this.#up(event))
    stage.addEventListener('pointercancel', (event) => this.#cancel(event))
    // A pointer whose end never came (a dialog of the browser's, say) must not hold the tool for ever.
    stage.addEventListener('lostpointercapture', (event) => this.#cancel(event))
    stage.addEventListener('pointerleave', (event) => {
      if (event.pointerType !== 'touch') presence.show({ cursor: null })
    })
    stage.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
    stage.addEventListener('contextmenu', (event) => {
      if (event.target instanceof Element && event.target.closest('.on-stage')) return
      event.preventDefault()
      // Fingers and pens have their long press below; keys their own command.
      // Some browsers make a plain mouse event of it.
      const by = (event as Partial<PointerEvent>).pointerType || 'mouse'
      if (by === 'mouse' && event.button === 2) this.#menu(event as PointerEvent)
    })
    tool.watch(() => {
      this.#stop('interrupt')
      // Two clicks with different tools are no double-click.
      this.#lastDown.at = 0
      this.#showCursor()
    })
  }

  holdSpace(held: boolean): void {
    this.#spaceHeld = held
    this.#showCursor()
  }

  #stop(how: 'cancel' | 'interrupt'): void {
    window.clearTimeout(this.#longPress)
    const done = this.#driving
    if (!done) return
    this.#driving = null
    done.leave()
    if (how === 'interrupt' && done.tool.interrupt) done.tool.interrupt()
    else done.tool.cancel()
  }

  #menu(event: PointerEvent): void {
    this.#stop('cancel')
    this.parts.onMenu(this.#press(event), { x: event.clientX, y: event.clientY })
  }

  #showCursor(override: string | null = null): void {
    const { stage, tools, tool } = this.parts
    stage.style.cursor = this.#panning
      ? 'grabbing'
      : this.#spaceHeld
        ? 'grab'
        : (override ?? tools[tool.value]?.cursor ?? 'default')
  }

  #at(event: MouseEvent): Point {
    const { left, top } = this.parts.stage.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }

  #press(event: PointerEvent, twice = false): Press {
    const { view } = this.parts
    const by = (event.pointerType || 'mouse') as Device
    return {
      ...view.toBoard(this.#at(event)),
      pressure: event.pressure,
      shift: event.shiftKey,
      alt: event.altKey,
      by,
      slack: (SLACK_PX[by] ?? 6) / view.zoom,
      twice,
    }
  }

  #down(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest('.on-stage')) return
    const { stage, tools, tool, attention } = this.parts
    const at = this.#at(event)
    attention.focusBoard()
    stage.setPointerCapture(event.pointerId)
    if (event.pointerType === 'pen') {
      this.#penSeen = true
      // Whatever lies on the glass already is the hand that holds the pen.
      if (this.#driving && this.#fingers.has(this.#driving.id)) this.#stop('cancel')
      this.#fingers.clear()
    }
    if (event.pointerType === 'touch') {
      // A resting palm while the pen writes is no finger.
      if (this.#driving && !this.#fingers.has(this.#driving.id)) return
      this.#fingers.set(event.pointerId, at)
      if (this.#fingers.size >= 2) {
        const late = this.#driving && event.timeStamp - this.#driving.since > SECOND_FINGER_MS
        this.#stop(late ? 'interrupt' : 'cancel')
        return
      }
      if (this.#penSeen) return
    } else if (event.button === 1 || (event.button === 0 && this.#spaceHeld)) {
      event.preventDefault()
      this.#panning = { id: event.pointerId, last: at }
      this.#showCursor()
      return
    } else if (event.button !== 0) return
    const driven = tools[tool.value]
    if (!driven || this.#driving) return
    const twice =
      event.timeStamp - this.#lastDown.at < DOUBLE_MS &&
      Math.hypot(at.x - this.#lastDown.x, at.y - this.#lastDown.y) < DOUBLE_PX
    this.#lastDown = { at: twice ? 0 : event.timeStamp, ...at }
    const leave = attention.enter({ kind: 'gesture', close: () => this.#stop('cancel') })
    this.#driving = { id: event.pointerId, tool: driven, from: at, since: event.timeStamp, twice, leave }
    if (event.pointerType !== 'mouse') this.#longPress = window.setTimeout(() => this.#menu(event), LONG_PRESS_MS)
    driven.down(this.#press(event, twice))
  }

  #move(event: PointerEvent): void {
    const { view, presence, tools, tool } = this.parts
    const at = this.#at(event)
    if (this.#panning?.id === event.pointerId) {
      view.panBy(at.x - this.#panning.last.x, at.y - this.#panning.last.y)
      this.#panning.last = at
      return
    }
    const finger = this.#fingers.get(event.pointerId)
    if (finger && this.#fingers.size >= 2) {
      this.#pinch(event.pointerId, at)
      return
    }
    if (finger) {
      this.#fingers.set(event.pointerId, at)
      if (this.#penSeen) {
        view.panBy(at.x - finger.x, at.y - finger.y)
        return
      }
    }
    const press = this.#press(event)
    presence.show({ cursor: [Math.round(press.x * 10) / 10, Math.round(press.y * 10) / 10] })
    const driving = this.#driving
    if (driving?.id === event.pointerId) {
      if (Math.hypot(at.x - driving.from.x, at.y - driving.from.y) > LONG_PRESS_PX) window.clearTimeout(this.#longPress)
      const all = event.getCoalescedEvents?.() ?? []
      for (const part of all.length > 0 ? all : [event]) driving.tool.move(this.#press(part))
    } else if (event.pointerType !== 'touch') this.#showCursor(tools[tool.value]?.hover?.(press) ?? null)
  }

  #pinch(id: number, to: Point): void {
    const { view } = this.parts
    const before = [...this.#fingers.values()].slice(0, 2)
    this.#fingers.set(id, to)
    const after = [...this.#fingers.values()].slice(0, 2)
    const middle = ([a, b]: Point[]): Point => ({ x: (a!.x + b!.x) / 2, y: (a!.y + b!.y) / 2 })
    const spread = ([a, b]: Point[]): number => Math.max(20, Math.hypot(a!.x - b!.x, a!.y - b!.y))
    const [from, now] = [middle(before), middle(after)]
    view.panBy(now.x - from.x, now.y - from.y)
    view.zoomTo((view.zoom * spread(after)) / spread(before), now)
  }

  #lift(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId)
    if (event.pointerType === 'touch') this.parts.presence.show({ cursor: null })
    if (this.#panning?.id !== event.pointerId) return
    this.#panning = null
    this.#showCursor()
  }

  #up(event: PointerEvent): void {
    this.#lift(event)
    window.clearTimeout(this.#longPress)
    const done = this.#driving
    if (done?.id !== event.pointerId) return
    // Cleared first: a tool that switches the tool when it is done must not be stopped for it.
    this.#driving = null
    done.leave()
    done.tool.up(this.#press(event, done.twice))
  }

  /** The system took the pointer away (a call, a gesture of its own): what was drawn so far stays. */
  #cancel(event: PointerEvent): void {
    this.#lift(event)
    if (this.#driving?.id === event.pointerId) this.#stop('interrupt')
  }

  #wheel(event: WheelEvent): void {
    if (event.target instanceof Element && event.target.closest('.on-stage')) return
    const { view } = this.parts
    event.preventDefault()
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? view.height : 1
    if (event.ctrlKey || event.metaKey) {
      const delta = Math.max(-240, Math.min(240, event.deltaY * unit))
      view.zoomTo(
        view.zoom * Math.exp(-delta * WHEEL_ZOOM_SPEED * (event.deltaMode === 0 && Math.abs(delta) < 40 ? 4 : 1)),
        this.#at(event),
      )
    } else if (event.shiftKey && event.deltaX === 0) view.panBy(-event.deltaY * unit, 0)
    else view.panBy(-event.deltaX * unit, -event.deltaY * unit)
  }
}
