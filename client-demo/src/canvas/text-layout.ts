export const FONT_STACK =
  'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
export const LINE_HEIGHT = 1.3
export const NOTE_PADDING = 14
const MIN_NOTE_FONT = 8

export interface Layout {
  readonly lines: readonly string[]
  readonly size: number
  readonly height: number
}

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
export function wrap(text: string, size: number, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
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
  }
  return lines
}

export function layoutText(text: string, size: number, width: number): Layout {
  const lines = wrap(text, size, Math.max(size, width))
  return { lines, size, height: lines.length * size * LINE_HEIGHT }
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

export const textWidth = (text: string, size: number): number =>
  Math.max(...text.split('\n').map((line) => widthOf(line, size)))
