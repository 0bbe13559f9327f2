/** The board as JSON: for files, and for copying between boards. Reading is as strict as reading the shared document. */

import { packPoints } from '../board/model.ts'
import type { Draft, Shape } from '../board/shape.ts'
import {
  checkedBox,
  checkedColor,
  checkedFill,
  checkedImage,
  checkedKind,
  checkedNumber,
  checkedPoints,
} from '../board/shape-validation.ts'

const FORMAT = 'y-weir board'
const VERSION = 1
/** A board of the server's 16 MiB is 22 MB of JSON when it is all pictures; more than this is no board. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8_192) binary += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return btoa(binary)
}

function fromBase64(value: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof value !== 'string') return null
  try {
    return Uint8Array.from(atob(value), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

/** Back to front; points are whole tenths of a board unit, as they are stored. */
export function boardToJson(shapes: readonly Shape[]): string {
  return JSON.stringify({
    format: FORMAT,
    version: VERSION,
    shapes: shapes.map(({ kind, box, color, fill, width, size, text, points, image }) => ({
      kind,
      box,
      color,
      fill,
      width,
      size,
      ...(text && { text }),
      ...(points.length > 0 && { points: packPoints(points) }),
      ...(image && { image: toBase64(image) }),
    })),
  })
}

/** A draft, or in words why there is none. */
function draftFrom(value: unknown): Draft | string {
  if (typeof value !== 'object' || value === null) return 'unreadable'
  const raw = value as Record<string, unknown>
  const kind = checkedKind(raw.kind)
  const box = checkedBox(raw.box)
  if (kind === null) return 'of a kind this page does not know'
  if (box === null) return 'without a place on the board'
  const draft: Draft = {
    kind,
    box,
    color: checkedColor(raw.color),
    fill: checkedFill(raw.fill),
    width: checkedNumber(raw.width, 1, 64, 3),
    size: checkedNumber(raw.size, 6, 200, 20),
    // Whole: what is too long is cut where it is written, and counted there.
    text: typeof raw.text === 'string' ? raw.text : '',
    points: kind === 'pen' ? checkedPoints([raw.points]) : [],
  }
  if (kind === 'image') {
    const image = checkedImage(fromBase64(raw.image))
    if (image === null) return 'images that are damaged or too large'
    draft.image = image
  }
  return kind === 'pen' && draft.points!.length === 0 ? 'strokes without a point' : draft
}

export interface ReadBoard {
  readonly drafts: Draft[]
  /** Why things of the file are not among them, in words, and how many each. */
  readonly leftOut: ReadonlyMap<string, number>
  /** Strokes that are among them with fewer points than the file has. */
  readonly shortened: number
}

/** Null when the text is no board of ours. */
export function boardFromJson(text: string): ReadBoard | null {
  if (text.length > MAX_IMPORT_BYTES || !text.includes(FORMAT)) return null
  let parsed: { format?: unknown; version?: unknown; shapes?: unknown }
  try {
    parsed = JSON.parse(text) as typeof parsed
  } catch {
    return null
  }
  if (parsed.format !== FORMAT || parsed.version !== VERSION || !Array.isArray(parsed.shapes)) return null
  const drafts: Draft[] = []
  const leftOut = new Map<string, number>()
  let shortened = 0
  for (const shape of parsed.shapes as unknown[]) {
    const read = draftFrom(shape)
    if (typeof read === 'string') leftOut.set(read, (leftOut.get(read) ?? 0) + 1)
    else {
      drafts.push(read)
      const { points } = shape as { points?: unknown }
      if (read.kind === 'pen' && Array.isArray(points) && points.length > read.points!.length) shortened++
    }
  }
  return { drafts, leftOut, shortened }
}

/** `3 were left out: 2 without a place, 1 of a kind this page does not know.`; empty when everything was taken whole. */
export function leftOutWords({ leftOut, shortened }: ReadBoard): string {
  const words: string[] = []
  const all = [...leftOut.values()].reduce((sum, n) => sum + n, 0)
  if (all > 0) {
    const parts = [...leftOut].map(([why, n]) => `${n.toLocaleString('en')} ${why}`)
    words.push(`${all === 1 ? '1 was' : `${all.toLocaleString('en')} were`} left out: ${parts.join(', ')}.`)
  }
  if (shortened > 0) {
    const strokes = shortened === 1 ? '1 stroke has' : `${shortened.toLocaleString('en')} strokes have`
    words.push(`${strokes} points that could not be taken.`)
  }
  return words.join(' ')
}
