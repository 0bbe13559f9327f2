/** Presence of others, checked: what does not fit is left out, never trusted. */
import type { Transform } from '../board/geometry.ts'
import {
  checkedBox,
  checkedColor,
  checkedFill,
  checkedKind,
  checkedNumber,
  isFiniteNumber,
  isId,
} from '../board/shape-validation.ts'
import { tidyName } from './identity.ts'
import { MAX_SHARED_SELECTION, type Person, type Preview, type Reaction } from './person.ts'

type Loose = Record<string, unknown>

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function numbers<N extends number>(value: unknown, length: N): (number[] & { length: N }) | null {
  if (!Array.isArray(value) || value.length !== length || !value.every((entry) => isFiniteNumber(entry))) return null
  return value as number[] & { length: N }
}

function readTransform(value: unknown): Transform | null {
  if (!isObject(value)) return null
  const { op, dx, dy, angle, x, y, sx, sy } = value
  if (op === 'move') return isFiniteNumber(dx) && isFiniteNumber(dy) ? { op, dx, dy } : null
  if (!isFiniteNumber(angle) || !isFiniteNumber(x) || !isFiniteNumber(y)) return null
  if (op === 'turn') return { op, angle, x, y }
  if (op !== 'scale' || !isFiniteNumber(sx, 1_000) || !isFiniteNumber(sy, 1_000)) return null
  return { op, sx, sy, x, y, angle }
}

function readPreview(value: unknown): Preview | null {
  if (!isObject(value)) return null
  if (value.is === 'transform') {
    const how = readTransform(value.how)
    return how && { is: 'transform', how }
  }
  const kind = checkedKind(value.kind)
  const box = checkedBox(value.box)
  if (kind === null || box === null || kind === 'image' || kind === 'pen') return null
  return {
    is: 'shape',
    kind,
    box,
    color: checkedColor(value.color),
    fill: checkedFill(value.fill),
    width: checkedNumber(value.width, 1, 64, 3),
  }
}

function readReaction(value: unknown): Reaction | null {
  if (!isObject(value)) return null
  const { glyph, n, x, y } = value
  return isFiniteNumber(glyph) && isFiniteNumber(n) && isFiniteNumber(x) && isFiniteNumber(y)
    ? { glyph, n, x, y }
    : null
}

export function readPerson(value: unknown): Person | null {
  if (!isObject(value)) return null
  const cursor = numbers(value.cursor, 2)
  const view = numbers(value.view, 5) ?? numbers(value.view, 3)
  const rect = numbers(value.selectionRect, 4)
  const selection = Array.isArray(value.selection) ? value.selection.slice(0, MAX_SHARED_SELECTION).filter(isId) : []
  return {
    name: (typeof value.name === 'string' && tidyName(value.name.slice(0, 200))) || 'Guest',
    color: typeof value.color === 'string' && /^#[0-9a-f]{6}$/i.test(value.color) ? value.color : '#5d6472',
    cursor: cursor && [cursor[0]!, cursor[1]!],
    view: view && [view[0]!, view[1]!, view[2]!, view[3] ?? 0, view[4] ?? 0],
    selection,
    selectionRect: rect && [rect[0]!, rect[1]!, rect[2]!, rect[3]!],
    preview: readPreview(value.preview),
    reaction: readReaction(value.reaction),
  }
}

/** Black or white, whichever is readable on the colour. */
export function inkOn(color: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b! > 0.179 ? '#15181c' : '#ffffff'
}
