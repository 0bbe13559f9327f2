/** The typeface that comes with the page, so that a board looks the same everywhere; the rest is for scripts it has no letters of. */
export const FONT_STACK = 'Figtree, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif'
export const LINE_HEIGHT = 1.3
export const NOTE_PADDING = 14
/** Smaller than this is not read any more: a note that is written in becomes longer instead. */
const LEAST_NOTE_FONT = 10
/** Notes of other programs, which cannot be made longer by looking at them. */
const MIN_NOTE_FONT = 2

export interface Layout {
  readonly lines: readonly Line[]
  readonly size: number
  readonly height: number
  readonly width: number
}

export interface Line {
  readonly text: string
  /** Of a paragraph whose first letter is written from right to left. */
  readonly rtl: boolean
}

const RTL_FIRST = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u

let measurer: CanvasRenderingContext2D | null = null

function widthOf(text: string, size: number): number {
  measurer ??= document.createElement('canvas').getContext('2d')!
  measurer.font = `${size}px ${FONT_STACK}`
  return measurer.measureText(text).width
}

function breakWord(word: string, size: number, width: number): string[] {
  const parts: string[] = []
  let part = ''
  for (const char of word) {
    if (part !== '' && widthOf(part + char, size) > width) {
      parts.push(part)
      part = ''
    }
    part += char
  }
  return [...parts, part]
}

/** Breaks like `white-space: pre-wrap; overflow-wrap: anywhere` does in the text field that edits it. */
function wrap(paragraph: string, size: number, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of paragraph.split(/(?<=\s)/)) {
    if (line === '' || widthOf((line + word).trimEnd(), size) <= width) line += word
    else {
      lines.push(line.trimEnd())
      line = word
    }
    if (widthOf(line.trimEnd(), size) > width) {
      const parts = breakWord(line, size, width)
      line = parts.pop()!
      lines.push(...parts)
    }
  }
  lines.push(line.trimEnd())
  return lines
}

export function layoutText(text: string, size: number, boxWidth: number): Layout {
  const width = Math.max(size, boxWidth)
  const lines: Line[] = []
  for (const paragraph of text.split('\n')) {
    const rtl = RTL_FIRST.test(paragraph)
    for (const line of wrap(paragraph, size, width)) lines.push({ text: line, rtl })
  }
  return { lines, size, width, height: lines.length * size * LINE_HEIGHT }
}

/** The largest font size, up to `size`, at which the text fits the note. */
export function layoutNote(text: string, size: number, w: number, h: number): Layout {
  const [width, height] = [w - 2 * NOTE_PADDING, h - 2 * NOTE_PADDING]
  let layout = layoutText(text, size, width)
  for (let next = size; layout.height > height && next > MIN_NOTE_FONT; ) {
    next = Math.max(MIN_NOTE_FONT, next * 0.88)
    layout = layoutText(text, next, width)
  }
  return layout
}

/** The height a note needs for its words to stay readable. */
export function leastNoteHeight(text: string, size: number, w: number): number {
  const least = Math.min(size, LEAST_NOTE_FONT)
  return Math.ceil(layoutText(text, least, w - 2 * NOTE_PADDING).height + 2 * NOTE_PADDING)
}

export const textWidth = (text: string, size: number): number =>
  Math.max(...text.split('\n').map((line) => widthOf(line, size)))
