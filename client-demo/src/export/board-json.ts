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
  checkedText,
} from '../board/shape-validation.ts'

const FORMAT = 'y-weir board'
const VERSION = 1
export const MAX_IMPORT_BYTES = 16 * 1024 * 1024
export const MAX_IMPORT_SHAPES = 5_000

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

function draftFrom(value: unknown): Draft | null {
  if (typeof value !== 'object' || value === null) return null
  const raw = value as Record<string, unknown>
  const kind = checkedKind(raw.kind)
  const box = checkedBox(raw.box)
  if (kind === null || box === null) return null
  const draft: Draft = {
    kind,
    box,
    color: checkedColor(raw.color),
    fill: checkedFill(raw.fill),
    width: checkedNumber(raw.width, 1, 64, 3),
    size: checkedNumber(raw.size, 6, 200, 20),
    text: checkedText(raw.text),
    points: kind === 'pen' ? checkedPoints([raw.points]) : [],
  }
  if (kind === 'image') {
    const image = checkedImage(fromBase64(raw.image))
    if (image === null) return null
    draft.image = image
  }
  return kind === 'pen' && draft.points!.length === 0 ? null : draft
}

/** Null when the text is no board of ours. */
export function boardFromJson(text: string): Draft[] | null {
  if (text.length > MAX_IMPORT_BYTES || !text.includes(FORMAT)) return null
  try {
    const parsed = JSON.parse(text) as { format?: unknown; version?: unknown; shapes?: unknown }
    if (parsed.format !== FORMAT || parsed.version !== VERSION || !Array.isArray(parsed.shapes)) return null
    return parsed.shapes.slice(0, MAX_IMPORT_SHAPES).flatMap((shape) => draftFrom(shape) ?? [])
  } catch {
    return null
  }
}
