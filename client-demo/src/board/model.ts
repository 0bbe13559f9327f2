/**
 * The board: one Y.Map `shapes`, id → Y.Map. Nothing is written until somebody draws, so that two people who open an empty
 * room at once never make competing copies of it. README.md describes every field.
 *   in   create, patch, setBoxes, appendPoints, remove: each one transaction with this board's origin
 *   out  `changed` with the ids of one transaction; `shapes`, `ordered()` as checked plain values; `lost`: in words, what of
 *        a write the board could not keep (limits.ts)
 */

import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import * as Y from 'yjs'
import { hasText, readShape } from '../kinds/kinds.ts'
import { Event } from '../signal.ts'
import { boxInWorld, keptDraft, MAX_OBJECTS, MAX_TEXT, shiftIntoWorld, textUpTo, WORDS } from './limits.ts'
import type { Box, Draft, Fill, Shape } from './shape.ts'
import { POINT_SCALE, PRESSURE_SCALE } from './shape-validation.ts'

/** More objects than this are not shown, so that a hostile board cannot take the page's memory. Somewhat more than are written. */
const MAX_SHOWN = MAX_OBJECTS + 4_000

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'

export function newId(): string {
  let id = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(9))) id += ID_ALPHABET[byte & 63]
  return id
}

const round = (value: number): number => Math.round(value * 100) / 100
const roundBox = ([x, y, w, h, angle]: Box): number[] => [
  round(x),
  round(y),
  round(w),
  round(h),
  Math.round(angle * 10_000) / 10_000,
]

/** Points in board units to what is stored: whole numbers, which Yjs encodes in two or three bytes. */
export const packPoints = (points: readonly number[]): number[] =>
  points.map((value, i) => Math.round(value * (i % 3 === 2 ? PRESSURE_SCALE : POINT_SCALE)))

/** A new object as it is stored; the same for people, bots and imports. */
export function storedShape(draft: Draft, order: string): Y.Map<unknown> {
  const map = new Y.Map<unknown>()
  map.set('kind', draft.kind)
  map.set('order', order)
  map.set('box', roundBox(draft.box))
  map.set('color', draft.color)
  if (draft.fill && draft.fill !== 'none') map.set('fill', draft.fill)
  if (draft.width) map.set('width', draft.width)
  if (draft.size) map.set('size', draft.size)
  if (hasText(draft.kind)) map.set('text', new Y.Text(draft.text ?? ''))
  if (draft.kind === 'pen') map.set('points', Y.Array.from(draft.points?.length ? [packPoints(draft.points)] : []))
  if (draft.image) map.set('image', draft.image)
  return map
}

/** One replaced stretch of a text. */
export interface TextChange {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

export interface Look {
  color?: string
  fill?: Fill
  width?: number
  size?: number
}

export class Board {
  readonly shapes = new Map<string, Shape>()
  readonly changed = new Event<ReadonlySet<string>>()
  readonly lost = new Event<string>()
  /** Objects beyond what is shown; they come in when others go. */
  readonly #hidden = new Set<string>()
  /** Undo tracks this origin and nothing else. */
  readonly origin = Symbol('this page')
  readonly root: Y.Map<unknown>
  /** Set when the server says so; every write below is then a no-op. */
  readOnly = false
  /** While `changed` tells of it: was it done by this page itself (its undo included)? */
  changedHere = false
  #ordered: Shape[] | null = null

  constructor(readonly doc: Y.Doc) {
    this.root = doc.getMap('shapes')
    this.root.observeDeep((events, { local }) => {
      const ids = new Set<string>()
      for (const event of events) {
        if (event.target === this.root) for (const key of (event as Y.YMapEvent<unknown>).keysChanged) ids.add(key)
        else ids.add(String(event.path[0]))
      }
      this.changedHere = local
      this.#refresh(ids)
      this.changedHere = false
    })
    this.#refresh(new Set(this.root.keys()))
  }

  #refresh(ids: Set<string>): void {
    if (ids.size === 0) return
    for (const id of ids) {
      const shape = this.#samePoints(readShape(id, this.root.get(id)))
      this.#hidden.delete(id)
      if (shape && (this.shapes.has(id) || this.shapes.size < MAX_SHOWN)) this.shapes.set(id, shape)
      else {
        this.shapes.delete(id)
        if (shape) this.#hidden.add(id)
      }
    }
    for (const id of this.#hidden) {
      if (this.shapes.size >= MAX_SHOWN) break
      const shape = readShape(id, this.root.get(id))
      this.#hidden.delete(id)
      if (!shape) continue
      this.shapes.set(id, shape)
      ids.add(id)
    }
    this.#ordered = null
    this.changed.emit(ids)
  }

  /** Strokes only grow: with as many points as before they are the same points, and what was computed from them stays valid. */
  #samePoints(shape: Shape | null): Shape | null {
    const before = shape && this.shapes.get(shape.id)
    if (!before || shape.points.length !== before.points.length) return shape
    return { ...shape, points: before.points }
  }

  /** Back to front. */
  ordered(): readonly Shape[] {
    this.#ordered ??= [...this.shapes.values()].sort((a, b) =>
      a.order < b.order ? -1 : a.order > b.order ? 1 : a.id < b.id ? -1 : 1,
    )
    return this.#ordered
  }

  transact(work: () => void): void {
    if (!this.readOnly) this.doc.transact(work, this.origin)
  }

  /** How many objects are on the board but not on the page. */
  get hidden(): number {
    return this.#hidden.size
  }

  /** Gives the ids of what was made: fewer than asked for when the board is full. */
  create(drafts: readonly Draft[]): string[] {
    if (this.readOnly) return []
    const room = Math.max(0, MAX_OBJECTS - this.root.size)
    const words = new Set<string>()
    const kept = drafts.slice(0, room).map((wanted) => {
      const { draft, lost } = keptDraft(wanted)
      if (lost) words.add(lost)
      return draft
    })
    if (kept.length < drafts.length) words.add(WORDS.objects(drafts.length - kept.length))
    const top = this.ordered().at(-1)?.order ?? null
    const orders = generateNKeysBetween(top, null, kept.length)
    const ids = kept.map(newId)
    this.transact(() => {
      for (const [i, draft] of kept.entries()) this.root.set(ids[i]!, storedShape(draft, orders[i]!))
    })
    for (const each of words) this.lost.emit(each)
    return ids
  }

  #stored(id: string): Y.Map<unknown> | null {
    const stored = this.root.get(id)
    return stored instanceof Y.Map ? stored : null
  }

  setBoxes(boxes: ReadonlyMap<string, Box>): void {
    const [dx, dy] = shiftIntoWorld(boxes.values())
    let atEdge = dx !== 0 || dy !== 0
    this.transact(() => {
      for (const [id, [x, y, w, h, angle]] of boxes) {
        const wanted: Box = [x + dx, y + dy, w, h, angle]
        const box = boxInWorld(wanted)
        atEdge ||= box !== wanted
        this.#stored(id)?.set('box', roundBox(box))
      }
    })
    if (atEdge && !this.readOnly) this.lost.emit(WORDS.edge)
  }

  /** Replaces a stretch of a text; what there is no room for is left out, and said. */
  writeText(id: string, { at, remove, insert }: TextChange): void {
    const text = this.text(id)
    if (!text || this.readOnly) return
    const kept = textUpTo(insert, MAX_TEXT - (text.length - remove))
    this.transact(() => {
      if (remove > 0) text.delete(at, remove)
      if (kept) text.insert(at, kept)
    })
    if (kept.length < insert.length) this.lost.emit(WORDS.text(insert.length - kept.length))
  }

  patch(ids: Iterable<string>, look: Look): void {
    this.transact(() => {
      for (const id of ids) {
        const stored = this.#stored(id)
        for (const [key, value] of Object.entries(look)) {
          if (stored && stored.get(key) !== value) stored.set(key, value)
        }
      }
    })
  }

  /** One batch of a stroke that is being drawn; relative to its start. */
  appendPoints(id: string, points: readonly number[]): void {
    this.transact(() => {
      const stored = this.#stored(id)?.get('points')
      if (stored instanceof Y.Array) stored.push([packPoints(points)])
    })
  }

  remove(ids: Iterable<string>): void {
    this.transact(() => {
      for (const id of ids) this.root.delete(id)
    })
  }

  /** Brings objects to the front or the back, keeping their order among themselves. */
  restack(ids: ReadonlySet<string>, where: 'front' | 'back'): void {
    const moving = this.ordered().filter((shape) => ids.has(shape.id))
    const resting = this.ordered().filter((shape) => !ids.has(shape.id))
    const edge = (where === 'front' ? resting.at(-1) : resting[0])?.order ?? null
    const orders =
      where === 'front'
        ? generateNKeysBetween(edge, null, moving.length)
        : generateNKeysBetween(null, edge, moving.length)
    this.transact(() => {
      for (const [i, shape] of moving.entries()) this.#stored(shape.id)?.set('order', orders[i])
    })
  }

  text(id: string): Y.Text | null {
    const text = this.#stored(id)?.get('text')
    return text instanceof Y.Text ? text : null
  }

  /** An order in front of everything, for previews. */
  nextOrder(): string {
    return generateKeyBetween(this.ordered().at(-1)?.order ?? null, null)
  }
}
