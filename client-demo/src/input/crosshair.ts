/**
 * A pointer for the keyboard: while a drawing tool is chosen, the arrow keys move a crosshair, Enter puts the tool down and
 * lifts it again. Every tool works this way without knowing it.
 */
import type { Point } from '../board/geometry.ts'
import { SURFACE } from '../canvas/palette.ts'
import type { Renderer } from '../canvas/renderer.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Presence } from '../people/presence.ts'
import type { Signal } from '../signal.ts'
import type { Press, Tool, ToolName } from '../tools/tool.ts'
import { ARROWS } from './arrow-keys.ts'
import type { Attention } from './attention.ts'

const STEP_PX = 10
const BIG_STEP_PX = 50
const EDGE_PX = 40

export class Crosshair {
  #at: Point | null = null
  #down: Tool | null = null
  readonly #begins: () => () => void
  #leave: (() => void) | null = null

  constructor(
    attention: Attention,
    stage: HTMLElement,
    private readonly view: Viewport,
    private readonly renderer: Renderer,
    private readonly presence: Presence,
    private readonly tools: Record<string, Tool>,
    private readonly tool: Signal<ToolName>,
    private readonly say: (text: string) => void,
  ) {
    this.#begins = () => attention.enter({ kind: 'gesture', close: () => this.#stop('cancel') })
    tool.watch(() => this.#stop('interrupt'))
    stage.addEventListener('pointermove', () => this.#hide())
    stage.addEventListener('blur', () => this.#hide())
    renderer.addLive((ctx, { zoom }, theme) => {
      if (!this.#at) return false
      const { x, y } = this.#at
      const r = 12 / zoom
      ctx.strokeStyle = SURFACE[theme].accent
      ctx.lineWidth = 2 / zoom
      ctx.beginPath()
      ctx.moveTo(x - r, y)
      ctx.lineTo(x + r, y)
      ctx.moveTo(x, y - r)
      ctx.lineTo(x, y + r)
      ctx.arc(x, y, r / 2, 0, 2 * Math.PI)
      ctx.stroke()
      return true
    })
  }

  /** Is the tool put down? */
  get drawing(): boolean {
    return this.#down !== null
  }

  /** True when the key was for the crosshair. */
  onKey(event: KeyboardEvent): boolean {
    const arrow = ARROWS[event.key]
    if (arrow) {
      this.#move(arrow, event)
      return true
    }
    if (event.key !== 'Enter') return false
    this.#at ??= this.view.centre
    const press = this.#press(event)
    if (this.#down) {
      const tool = this.#down
      this.#down = null
      this.#leave?.()
      tool.up(press)
      this.say('Lifted')
    } else {
      this.#down = this.tools[this.tool.value] ?? null
      this.#leave = this.#begins()
      this.#down?.down(press)
      this.say('Down. Move with the arrow keys, press Enter to lift.')
    }
    this.renderer.requestLive()
    return true
  }

  #stop(how: 'cancel' | 'interrupt'): void {
    const tool = this.#down
    this.#down = null
    this.#leave?.()
    if (how === 'interrupt' && tool?.interrupt) tool.interrupt()
    else tool?.cancel()
  }

  #hide(): void {
    if (!this.#at || this.#down) return
    this.#at = null
    this.renderer.requestLive()
  }

  #move([dx, dy]: readonly [number, number], event: KeyboardEvent): void {
    const step = (event.shiftKey ? BIG_STEP_PX : STEP_PX) / this.view.zoom
    const from = this.#at ?? this.view.centre
    this.#at = { x: from.x + dx * step, y: from.y + dy * step }
    const screen = this.view.toScreen(this.#at)
    if (
      screen.x < EDGE_PX ||
      screen.y < EDGE_PX ||
      screen.x > this.view.width - EDGE_PX ||
      screen.y > this.view.height - EDGE_PX
    ) {
      this.view.panBy(-dx * step * this.view.zoom, -dy * step * this.view.zoom)
    }
    this.presence.show({ cursor: [this.#at.x, this.#at.y] })
    this.#down?.move(this.#press(event))
    this.renderer.requestLive()
  }

  #press(event: KeyboardEvent): Press {
    return {
      ...this.#at!,
      pressure: 0,
      shift: false,
      alt: event.altKey,
      by: 'keys',
      slack: 10 / this.view.zoom,
      twice: false,
    }
  }
}
