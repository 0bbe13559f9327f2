/** Text and sticky note: words that two people can write at once. */
import * as Y from 'yjs'
import type { Box, Shape } from '../board/shape.ts'
import { checkedText } from '../board/shape-validation.ts'
import { SURFACE, type Theme, tones } from '../canvas/palette.ts'
import type { Layout } from '../canvas/text-layout.ts'
import {
  FONT_STACK,
  LINE_HEIGHT,
  layoutNote,
  layoutText,
  leastNoteHeight,
  NOTE_PADDING,
} from '../canvas/text-layout.ts'
import { type Context, insideBox, type Kind, NO_CONTENT, svgNode } from './kind.ts'

let layouts = new WeakMap<Shape, Layout>()

/** The typeface has arrived: every line may be of another width. */
export function forgetLayouts(): void {
  layouts = new WeakMap()
}

function layoutOf(shape: Shape): Layout {
  let layout = layouts.get(shape)
  if (!layout) {
    const [, , w, h] = shape.box
    layout = shape.kind === 'note' ? layoutNote(shape.text, shape.size, w, h) : layoutText(shape.text, shape.size, w)
    layouts.set(shape, layout)
  }
  return layout
}

const baseline = (layout: Layout, i: number): number => layout.size * (LINE_HEIGHT * (i + 0.5) + 0.35)

function paintLines(ctx: Context, layout: Layout, x: number, y: number, color: string): void {
  ctx.fillStyle = color
  ctx.font = `${layout.size}px ${FONT_STACK}`
  ctx.textBaseline = 'alphabetic'
  for (const [i, { text, rtl }] of layout.lines.entries()) {
    if (rtl) {
      ctx.direction = 'rtl'
      ctx.textAlign = 'right'
    }
    ctx.fillText(text, rtl ? x + layout.width : x, y + baseline(layout, i))
    if (!rtl) continue
    ctx.direction = 'ltr'
    ctx.textAlign = 'left'
  }
}

function svgLines(layout: Layout, x: number, y: number, color: string): SVGElement {
  const lines = layout.lines.map(({ text, rtl }, i) =>
    svgNode(
      'tspan',
      { x: rtl ? x + layout.width : x, y: y + baseline(layout, i), ...(rtl && { direction: 'rtl' }) },
      text,
    ),
  )
  const style = { fill: color, 'font-family': FONT_STACK, 'font-size': layout.size, 'xml:space': 'preserve' }
  return svgNode('text', style, ...lines)
}

function readText(field: (name: string) => unknown) {
  const text = field('text')
  return { ...NO_CONTENT, text: text instanceof Y.Text ? checkedText(text.toString()) : '' }
}

const SAME = {
  aspects: ['color', 'size'],
  handles: 'frame',
  keepsRatio: false,
  read: readText,
  hit: (_shape: Shape, box: Box, point: { x: number; y: number }, near: number) => insideBox(box, point, near),
} as const

export const text: Kind = {
  ...SAME,
  label: 'Text',
  onPaper: false,
  draw(ctx, shape, box, theme) {
    paintLines(ctx, layoutOf(shape), box[0], box[1], tones(shape.color, theme).stroke)
  },
  svg: (shape, box, theme) => svgLines(layoutOf(shape), box[0], box[1], tones(shape.color, theme).stroke),
  reach: ({ size }) => size / 4 + 2,
  textBox(shape, [x, y, w], theme) {
    const { height, size } = layoutText(shape.text, shape.size, w)
    const h = Math.max(height, shape.size * LINE_HEIGHT)
    return { x, y, w, h, padding: 0, size, color: tones(shape.color, theme).stroke, paper: null }
  },
  /** Its height follows from its words, their size and its width. */
  fitted: (shape, [x, y, w, , angle]) => [x, y, w, layoutText(shape.text, shape.size, w).height, angle],
}

function paintPaper(ctx: Context, shape: Shape, [x, y, w, h]: Box, theme: Theme): void {
  // Flat layers instead of a blurred shadow: a blur per note costs milliseconds under software rendering.
  ctx.fillStyle = theme === 'light' ? 'rgb(35 41 54 / 4%)' : 'rgb(0 0 0 / 14%)'
  for (const spread of [1, 2, 3]) {
    ctx.beginPath()
    ctx.roundRect(x - spread + 1, y + 2 - spread / 2, w + 2 * spread - 2, h + 2 * spread - 1, 4 + spread)
    ctx.fill()
  }
  ctx.fillStyle = tones(shape.color, theme).note
  ctx.beginPath()
  ctx.roundRect(x, y, w, h, 4)
  ctx.fill()
}

export const note: Kind = {
  ...SAME,
  label: 'Sticky note',
  onPaper: true,
  draw(ctx, shape, box, theme) {
    paintPaper(ctx, shape, box, theme)
    paintLines(ctx, layoutOf(shape), box[0] + NOTE_PADDING, box[1] + NOTE_PADDING, SURFACE[theme].text)
  },
  svg(shape, [x, y, w, h], theme) {
    const paper = svgNode('rect', { x, y, width: w, height: h, rx: 4, fill: tones(shape.color, theme).note })
    const words = svgLines(layoutOf(shape), x + NOTE_PADDING, y + NOTE_PADDING, SURFACE[theme].text)
    return svgNode('g', {}, paper, words)
  },
  reach: ({ width }) => width + 14,
  textBox(shape, [x, y, w, h], theme) {
    const { size } = layoutNote(shape.text, shape.size, w, h)
    const [color, paper] = [SURFACE[theme].text, tones(shape.color, theme).note]
    return { x, y, w, h, padding: NOTE_PADDING, size, color, paper }
  },
  /** The words shrink first; when they would be too small to read, the paper becomes longer. */
  fitted: (shape, [x, y, w, h, angle]) => [x, y, w, Math.max(h, leastNoteHeight(shape.text, shape.size, w)), angle],
}
