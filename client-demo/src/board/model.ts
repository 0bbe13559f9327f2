/**
 * The board: one Y.Map `shapes`, id → Y.Map. Nothing is written until somebody draws, so that two people who open an empty
 * room at once never make competing copies of it. README.md describes every field.
 *   in   create, patch, setBoxes, appendPoints, remove: each one transaction with this board's origin
 *   out  `changed` with the ids of one transaction; `shapes`, `ordered()` as checked plain values
 */
import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing'
import * as Y from 'yjs'
import { Event } from '../signal.ts'
import type { Box, Draft, Fill, Shape } from './shape.ts'
import { hasText } from './shape.ts'
import { MAX_TEXT_LENGTH, POINT_SCALE, PRESSURE_SCALE, readShape } from './shape-validation.ts'

/** More objects than this are ignored, so that a hostile board cannot take the page's memory. */
const MAX_SHAPES = 20_000

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
  if (hasText(draft.kind)) map.set('text', new Y.Text((draft.text ?? '').slice(0, MAX_TEXT_LENGTH)))
  if (draft.kind === 'pen') map.set('points', Y.Array.from(draft.points?.length ? [packPoints(draft.points)] : []))
  if (draft.image) map.set('image', draft.image)
  return map
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
  /** Undo tracks this origin and nothing else. */
  readonly origin = Symbol('this page')
  readonly root: Y.Map<unknown>
  /** Set when the server says so; every write below is then a no-op. */
  readOnly = false
  #ordered: Shape[] | null = null

  constructor(readonly doc: Y.Doc) {
    this.root = doc.getMap('shapes')
    this.root.observeDeep((events) => {
      const ids = new Set<string>()
      for (const event of events) {
        if (event.target === this.root) for (const key of (event as Y.YMapEvent<unknown>).keysChanged) ids.add(key)
        else ids.add(String(event.path[0]))
      }
      this.#refresh(ids)
    })
    this.#refresh(new Set(this.root.keys()))
  }

  #refresh(ids: Set<string>): void {
    if (ids.size === 0) return
    for (const id of ids) {
      const shape = this.#samePoints(readShape(id, this.root.get(id)))
      if (shape && (this.shapes.has(id) || this.shapes.size < MAX_SHAPES)) this.shapes.set(id, shape)
      else this.shapes.delete(id)
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

  create(drafts: readonly Draft[]): string[] {
    const top = this.ordered().at(-1)?.order ?? null
    const orders = generateNKeysBetween(top, null, drafts.length)
    const ids = drafts.map(newId)
    this.transact(() => {
      for (const [i, draft] of drafts.entries()) this.root.set(ids[i]!, storedShape(draft, orders[i]!))
    })
    return this.readOnly ? [] : ids
  }

  #stored(id: string): Y.Map<unknown> | null {
    const stored = this.root.get(id)
    return stored instanceof Y.Map ? stored : null
  }

  setBoxes(boxes: ReadonlyMap<string, Box>): void {
    this.transact(() => {
      for (const [id, box] of boxes) this.#stored(id)?.set('box', roundBox(box))
    })
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
