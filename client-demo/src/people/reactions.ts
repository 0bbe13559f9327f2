/** A picture that floats up from where somebody is, for everybody, without a trace in the document. */
import { contains } from '../board/geometry.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Attention } from '../input/attention.ts'
import { iconButton } from '../ui/button.ts'
import { h, reducedMotion } from '../ui/dom.ts'
import { popover } from '../ui/popover.ts'
import type { Presence } from './presence.ts'

const SVG = 'http://www.w3.org/2000/svg'
const SHOWN_MS = 2_400

type Part = readonly [path: string, fill: string, stroke?: string]

const FACE: Part = ['M16 3a13 13 0 110 26 13 13 0 010-26z', '#f7c948']
const INK = '#4a3200'
const EYES: Part = ['M11 11.5a1.6 2.2 0 110 4.4 1.6 2.2 0 010-4.4zM21 11.5a1.6 2.2 0 110 4.4 1.6 2.2 0 010-4.4z', INK]

/** Drawn here rather than taken from a font: not every system has one with pictures. Others send only the number. */
const GLYPHS: ReadonlyArray<{ label: string; parts: readonly Part[] }> = [
  {
    label: 'Thumbs up',
    parts: [
      ['M5 14h5v14H5a1.5 1.5 0 01-1.5-1.5v-11A1.5 1.5 0 015 14z', '#5b8def'],
      ['M11.5 14.5L16 4c2.5 0 4 2 3.5 4.5L18.5 13h7a2.5 2.5 0 012.4 3.1l-2.4 9.5A3 3 0 0122.6 28H11.5z', '#f7c948'],
    ],
  },
  {
    label: 'Heart',
    parts: [['M16 28C9 22.5 3.5 18 3.5 11.8A6.8 6.8 0 0116 8a6.8 6.8 0 0112.5 3.8C28.5 18 23 22.5 16 28z', '#e5484d']],
  },
  {
    label: 'Laughing',
    parts: [
      FACE,
      ['M8.5 17h15a7.5 7.5 0 01-15 0z', INK],
      ['M9 13.5l2.2-2.5 2.3 2.5M18.5 13.5l2.3-2.5 2.2 2.5', 'none', INK],
    ],
  },
  { label: 'Surprised', parts: [FACE, EYES, ['M16 18.5a3 3.5 0 110 7 3 3.5 0 010-7z', INK]] },
  {
    label: 'Thinking',
    parts: [FACE, EYES, ['M11 22.5c3-2 6.5-2 9.5-.5M8.5 8.5c1.5-1.2 3-1.4 4.5-.8', 'none', INK]],
  },
  {
    label: 'Celebrate',
    parts: [
      ['M4 28l6.5-16 9.5 9.5z', '#f7c948'],
      ['M17 4v5M24 6l-3 4M28 14h-5M25 21l-3-1.5M12.5 6.5l2 3', 'none', '#7d4fc4'],
      ['M8 20l5 5M6.5 24l3 3', 'none', '#d9730d'],
    ],
  },
]

function picture(glyph: number): SVGSVGElement | null {
  const known = GLYPHS[glyph]
  if (!known) return null
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 32 32')
  svg.setAttribute('class', 'glyph')
  svg.setAttribute('aria-hidden', 'true')
  for (const [data, fill, stroke] of known.parts) {
    const path = document.createElementNS(SVG, 'path')
    path.setAttribute('d', data)
    path.setAttribute('fill', fill)
    if (stroke) path.setAttribute('stroke', stroke)
    svg.append(path)
  }
  return svg
}

export function reactions(
  attention: Attention,
  stage: HTMLElement,
  presence: Presence,
  view: Viewport,
  say: (text: string) => void,
): HTMLElement {
  const layer = h('div', { class: 'reactions', attrs: { 'aria-hidden': 'true' } })
  stage.append(layer)
  const seen = new Map<number, number>()

  const float = (glyph: number, x: number, y: number) => {
    const drawn = picture(glyph)
    if (!drawn || layer.childElementCount > 40) return
    const at = view.toScreen({ x, y })
    const holder = h('div', { class: reducedMotion() ? 'reaction still' : 'reaction' })
    holder.append(drawn)
    holder.style.left = `${Math.min(view.width - 30, Math.max(30, at.x))}px`
    holder.style.top = `${Math.min(view.height - 30, Math.max(60, at.y))}px`
    layer.append(holder)
    window.setTimeout(() => holder.remove(), SHOWN_MS)
  }

  presence.changed.on(() => {
    for (const [id, person] of presence.others) {
      const before = seen.get(id)
      const n = person.reaction?.n ?? 0
      seen.set(id, n)
      // What was already there when this page came is history.
      if (!person.reaction || before === undefined || n === before) continue
      float(person.reaction.glyph, person.reaction.x, person.reaction.y)
      say(`${person.name}: ${GLYPHS[person.reaction.glyph]?.label ?? 'reaction'}`)
    }
    for (const id of seen.keys()) if (!presence.others.has(id)) seen.delete(id)
  })

  const react = (glyph: number) => {
    // Where the person is at work: the pointer is over this button now.
    const visible = view.visible()
    const last = presence.lastCursor
    const inView = last && contains(visible, { x: last[0], y: last[1], w: 0, h: 0 })
    const [x, y] = inView ? last : [view.centre.x, view.centre.y]
    presence.show({ reaction: { glyph, n: Date.now() % 1_000_000, x: Math.round(x), y: Math.round(y) } })
    float(glyph, x, y)
  }
  const buttons = GLYPHS.map(({ label }, glyph) => {
    const button = h('button', {
      class: 'icon-button',
      attrs: { type: 'button', 'aria-label': label, title: label },
      on: { click: () => react(glyph) },
    })
    button.append(picture(glyph)!)
    return button
  })
  const opener = iconButton({ icon: 'smile', label: 'React', onClick: () => {} })
  const panel = popover(attention, { id: 'reactions', label: 'Reactions', look: 'reaction-panel', opener }, ...buttons)
  return h('div', { class: 'reaction-holder' }, opener, panel.element)
}
