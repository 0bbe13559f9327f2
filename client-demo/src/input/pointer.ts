/**
 * Mouse, pen and fingers on the stage. One finger, pen or mouse button drives the tool; two fingers, the wheel, the middle
 * button or the space bar move the view.
 */
import type { Point } from '../board/geometry.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Presence } from '../people/presence.ts'
import type { Signal } from '../signal.ts'
import type { Press, Tool, ToolName } from '../tools/tool.ts'

const SLACK_PX = { mouse: 6, pen: 8, touch: 14 } as const
const DOUBLE_MS = 400
const DOUBLE_PX = 10
const WHEEL_ZOOM_SPEED = 0.0022

type Device = 'mouse' | 'pen' | 'touch'

export class Pointer {
  #driving: { id: number; tool: Tool } | null = null
  #panning: { id: number; last: Point } | null = null
  readonly #fingers = new Map<number, Point>()
  #lastDown = { at: 0, x: 0, y: 0 }
  #spaceHeld = false

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: Viewport,
    private readonly presence: Presence,
    private readonly tools: Record<string, Tool>,
    private readonly tool: Signal<ToolName>,
  ) {
    stage.addEventListener('pointerdown', (event) => this.#down(event))
    stage.addEventListener('pointermove', (event) => this.#move(event))
    stage.addEventListener('pointerup', (event) => this.#up(event))
    stage.addEventListener('pointercancel', (event) => this.#cancel(event))
    stage.addEventListener('pointerleave', (event) => {
      if (event.pointerType !== 'touch') presence.show({ cursor: null })
    })
    stage.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
    stage.addEventListener('contextmenu', (event) => event.preventDefault())
    tool.watch(() => {
      if (this.#driving) this.#driving.tool.cancel()
      this.#driving = null
      this.#showCursor()
    })
  }

  holdSpace(held: boolean): void {
    this.#spaceHeld = held
    this.#showCursor()
  }

  cancelGesture(): boolean {
    if (!this.#driving) return false
    this.#driving.tool.cancel()
    this.#driving = null
    return true
  }

  #showCursor(override: string | null = null): void {
    const tool = this.tools[this.tool.value]
    this.stage.style.cursor = this.#panning
      ? 'grabbing'
      : this.#spaceHeld
        ? 'grab'
        : (override ?? tool?.cursor ?? 'default')
  }

  #at(event: MouseEvent): Point {
    const { left, top } = this.stage.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }

  #press(event: PointerEvent, twice = false): Press {
    const by = (event.pointerType || 'mouse') as Device
    return {
      ...this.view.toBoard(this.#at(event)),
      pressure: event.pressure,
      shift: event.shiftKey,
      alt: event.altKey,
      by,
      slack: (SLACK_PX[by] ?? 6) / this.view.zoom,
      twice,
    }
  }

  #down(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest('.on-stage')) return
    const at = this.#at(event)
    this.stage.setPointerCapture(event.pointerId)
    if (event.pointerType === 'touch') {
      // A resting palm while the pen writes is no finger.
      if (this.#driving && !this.#fingers.has(this.#driving.id)) return
      this.#fingers.set(event.pointerId, at)
      if (this.#fingers.size >= 2) {
        this.cancelGesture()
        return
      }
    } else if (event.button === 1 || (event.button === 0 && this.#spaceHeld)) {
      this.#panning = { id: event.pointerId, last: at }
      this.#showCursor()
      return
    } else if (event.button !== 0) return
    const tool = this.tools[this.tool.value]
    if (!tool || this.#driving) return
    const twice =
      event.timeStamp - this.#lastDown.at < DOUBLE_MS &&
      Math.hypot(at.x - this.#lastDown.x, at.y - this.#lastDown.y) < DOUBLE_PX
    this.#lastDown = { at: event.timeStamp, ...at }
    this.#driving = { id: event.pointerId, tool }
    tool.down(this.#press(event, twice))
  }

  #move(event: PointerEvent): void {
    const at = this.#at(event)
    if (this.#panning?.id === event.pointerId) {
      this.view.panBy(at.x - this.#panning.last.x, at.y - this.#panning.last.y)
      this.#panning.last = at
      return
    }
    if (this.#fingers.has(event.pointerId) && this.#fingers.size >= 2) {
      this.#pinch(event.pointerId, at)
      return
    }
    if (this.#fingers.has(event.pointerId)) this.#fingers.set(event.pointerId, at)
    const press = this.#press(event)
    this.presence.show({ cursor: [Math.round(press.x * 10) / 10, Math.round(press.y * 10) / 10] })
    if (this.#driving?.id === event.pointerId) {
      const all = event.getCoalescedEvents?.() ?? []
      for (const part of all.length > 0 ? all : [event]) this.#driving?.tool.move(this.#press(part))
    } else if (event.pointerType !== 'touch') this.#showCursor(this.tools[this.tool.value]?.hover?.(press) ?? null)
  }

  #pinch(id: number, to: Point): void {
    const before = [...this.#fingers.values()].slice(0, 2)
    this.#fingers.set(id, to)
    const after = [...this.#fingers.values()].slice(0, 2)
    const middle = ([a, b]: Point[]): Point => ({ x: (a!.x + b!.x) / 2, y: (a!.y + b!.y) / 2 })
    const spread = ([a, b]: Point[]): number => Math.max(20, Math.hypot(a!.x - b!.x, a!.y - b!.y))
    const [from, now] = [middle(before), middle(after)]
    this.view.panBy(now.x - from.x, now.y - from.y)
    this.view.zoomTo((this.view.zoom * spread(after)) / spread(before), now)
  }

  #up(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId)
    if (event.pointerType === 'touch') this.presence.show({ cursor: null })
    if (this.#panning?.id === event.pointerId) {
      this.#panning = null
      this.#showCursor()
    }
    if (this.#driving?.id !== event.pointerId) return
    const { tool } = this.#driving
    // Cleared first: a tool that switches the tool when it is done must not be cancelled for it.
    this.#driving = null
    tool.up(this.#press(event))
  }

  #cancel(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId)
    if (this.#panning?.id === event.pointerId) this.#panning = null
    if (this.#driving?.id === event.pointerId) this.cancelGesture()
  }

  #wheel(event: WheelEvent): void {
    if (event.target instanceof Element && event.target.closest('.on-stage')) return
    event.preventDefault()
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? this.view.height : 1
    if (event.ctrlKey || event.metaKey) {
      const delta = Math.max(-240, Math.min(240, event.deltaY * unit))
      this.view.zoomTo(
        this.view.zoom * Math.exp(-delta * WHEEL_ZOOM_SPEED * (event.deltaMode === 0 && Math.abs(delta) < 40 ? 4 : 1)),
        this.#at(event),
      )
    } else if (event.shiftKey && event.deltaX === 0) this.view.panBy(-event.deltaY * unit, 0)
    else this.view.panBy(-event.deltaX * unit, -event.deltaY * unit)
  }
}
