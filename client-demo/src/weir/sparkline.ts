import { h } from '../ui/dom.ts'

const POINTS = 120
const WIDTH = 132
const HEIGHT = 28

/** A minute of one number, at two values a second. */
export class Sparkline {
  readonly element: HTMLElement
  readonly #values: number[] = []
  readonly #canvas = h('canvas', { class: 'spark', attrs: { 'aria-hidden': 'true' } })
  readonly #value = h('output', { class: 'chart-value' })

  constructor(
    label: string,
    private readonly format: (value: number) => string,
  ) {
    this.element = h(
      'div',
      { class: 'chart' },
      h('span', { class: 'chart-label', text: label }),
      this.#value,
      this.#canvas,
    )
    this.#canvas.width = WIDTH * 2
    this.#canvas.height = HEIGHT * 2
  }

  push(value: number | null): void {
    this.#values.push(value ?? 0)
    if (this.#values.length > POINTS) this.#values.shift()
    this.#value.textContent = value === null ? '–' : this.format(value)
  }

  paint(): void {
    const ctx = this.#canvas.getContext('2d')!
    const color = getComputedStyle(this.#canvas).color
    const [w, hgt] = [this.#canvas.width, this.#canvas.height]
    ctx.clearRect(0, 0, w, hgt)
    const top = Math.max(1, ...this.#values)
    const x = (i: number) => w - ((this.#values.length - 1 - i) / (POINTS - 1)) * w
    const y = (value: number) => hgt - 3 - (value / top) * (hgt - 6)
    ctx.beginPath()
    for (const [i, value] of this.#values.entries()) ctx.lineTo(x(i), y(value))
    ctx.strokeStyle = color
    ctx.lineWidth = 2.5
    ctx.lineJoin = 'round'
    ctx.stroke()
    ctx.lineTo(w, hgt)
    ctx.lineTo(x(0), hgt)
    ctx.globalAlpha = 0.12
    ctx.fillStyle = color
    ctx.fill()
    ctx.globalAlpha = 1
  }
}
