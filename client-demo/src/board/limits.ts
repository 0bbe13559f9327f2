/**
 * What may be on a board, checked when it is written. Reading (shape-validation) takes somewhat more than writing gives, so
 * that two people who write at once and meet at a limit both still see everything.
 */
import type { Box, Draft } from './shape.ts'

/** The world: everything lies within this far from the middle, in board units. */
export const WORLD = 1_000_000
export const MAX_SIZE = 100_000
export const MAX_OBJECTS = 20_000
/** UTF-16 units of one text or note. */
export const MAX_TEXT = 5_000
/** Points of one stroke; a longer one goes on as another. */
export const MAX_POINTS = 20_000
/** A stroke reaches this far from its start; beyond, it goes on as another. Points are stored as whole tenths below a million. */
export const MAX_STROKE_REACH = 90_000

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** The box, or where there is no room for it the nearest that lies within the world. */
export function boxInWorld(box: Box): Box {
  const [w, h] = [clamp(box[2], -MAX_SIZE, MAX_SIZE), clamp(box[3], -MAX_SIZE, MAX_SIZE)]
  const x = clamp(box[0], -WORLD - Math.min(0, w), WORLD - Math.max(0, w))
  const y = clamp(box[1], -WORLD - Math.min(0, h), WORLD - Math.max(0, h))
  return x === box[0] && y === box[1] && w === box[2] && h === box[3] ? box : [x, y, w, h, box[4]]
}

/** How far a whole group has to be moved to lie within the world; a group is not pressed flat at its edge. */
export function shiftIntoWorld(boxes: Iterable<Box>): [dx: number, dy: number] {
  let [left, top, right, bottom] = [WORLD, WORLD, -WORLD, -WORLD]
  for (const [x, y, w, h] of boxes) {
    left = Math.min(left, x, x + w)
    right = Math.max(right, x, x + w)
    top = Math.min(top, y, y + h)
    bottom = Math.max(bottom, y, y + h)
  }
  const shift = (low: number, high: number) => (low < -WORLD ? -WORLD - low : high > WORLD ? WORLD - high : 0)
  return [shift(left, right), shift(top, bottom)]
}

export const WORDS = {
  edge: 'The board ends here.',
  objects: (left: number) =>
    left === 1
      ? `This board has its ${MAX_OBJECTS.toLocaleString('en')} objects: one more was not added.`
      : `A board holds ${MAX_OBJECTS.toLocaleString('en')} objects: ${left.toLocaleString('en')} were not added.`,
  text: (left: number) =>
    `A text holds ${MAX_TEXT.toLocaleString('en')} characters: the last ${left.toLocaleString('en')} were not taken.`,
  hidden: (n: number) =>
    `${n === 1 ? '1 object is' : `${n.toLocaleString('en')} objects are`} not shown: this board holds more than this page can.`,
} as const

/** What is kept of a draft, and in words what is not. */
export function keptDraft(draft: Draft): { draft: Draft; lost: string | null } {
  const box = boxInWorld(draft.box)
  const over = (draft.text?.length ?? 0) - MAX_TEXT
  const lost = over > 0 ? WORDS.text(over) : box === draft.box ? null : WORDS.edge
  return { draft: { ...draft, box, ...(over > 0 && { text: textUpTo(draft.text!, MAX_TEXT) }) }, lost }
}

/** The beginning of a text, never through the middle of a surrogate pair. */
export function textUpTo(text: string, length: number): string {
  const cut = text.slice(0, Math.max(0, length))
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut
}
