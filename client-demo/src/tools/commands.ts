/** What can be done with the selection without a pointer: by keys, buttons and menus alike. */

import type { Point, Rect } from '../board/geometry.ts'
import { applyTransform, boxOf, contains, type Transform, union } from '../board/geometry.ts'
import { ImageRefused, importImage } from '../board/image-import.ts'
import type { Box, Draft, Shape } from '../board/shape.ts'
import { layoutText, textWidth } from '../canvas/text-layout.ts'
import { boardFromJson, boardToJson } from '../export/board-json.ts'
import { boundsOf, KINDS } from '../kinds/kinds.ts'
import type { Toasts } from '../ui/toast.ts'
import type { Bench, Look } from './tool.ts'

export const CLIPBOARD_TYPE = 'application/x-y-weir+json'
const COPY_OFFSET = 24
const CLIPBOARD_KEY = 'y-weir:clipboard'
const MAX_PASTED_TEXT_WIDTH = 480
const IMAGE_SIDE = 420
/** Larger pastes go in several transactions, so that no single message is huge. */
const SHAPES_PER_WRITE = 200
const BYTES_PER_WRITE = 512 * 1024

const bytesOf = ({ image, points, text }: Draft): number =>
  60 + (image?.length ?? 0) + 3 * (points?.length ?? 0) + 2 * (text?.length ?? 0)

function* inWrites(drafts: readonly Draft[]): Generator<Draft[]> {
  let part: Draft[] = []
  let bytes = 0
  for (const draft of drafts) {
    if (part.length > 0 && (part.length >= SHAPES_PER_WRITE || bytes + bytesOf(draft) > BYTES_PER_WRITE)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(draft)
    bytes += bytesOf(draft)
  }
  if (part.length > 0) yield part
}

const draftOf = (shape: Shape): Draft => ({
  kind: shape.kind,
  box: shape.box,
  color: shape.color,
  fill: shape.fill,
  width: shape.width,
  size: shape.size,
  text: shape.text,
  points: shape.points,
  ...(shape.image && { image: shape.image }),
})

export class Commands {
  constructor(
    private readonly bench: Bench,
    private readonly toasts: Toasts,
  ) {}

  selected(): Shape[] {
    const { selection, board } = this.bench
    return board.ordered().filter((shape) => selection.value.has(shape.id))
  }

  selectAll(): void {
    this.bench.tool.set('select')
    this.bench.selection.set(new Set(this.bench.board.shapes.keys()))
  }

  remove(): void {
    const { history, board, selection } = this.bench
    if (selection.value.size === 0) return
    history.mark()
    board.remove(selection.value)
    selection.set(new Set())
  }

  restack(where: 'front' | 'back'): void {
    const { history, board, selection } = this.bench
    if (selection.value.size === 0) return
    history.mark()
    board.restack(selection.value, where)
  }

  transform(how: Transform): void {
    const { history, board } = this.bench
    const shapes = this.selected()
    if (shapes.length === 0) return
    history.mark()
    board.setBoxes(new Map(shapes.map((shape) => [shape.id, applyTransform(boxOf(shape), how)])))
  }

  bounds(): Rect | null {
    return union(this.selected().map(boundsOf))
  }

  restyle(part: Partial<Look>): void {
    const { history, board } = this.bench
    const shapes = this.selected()
    if (shapes.length === 0) return
    history.mark()
    board.patch(
      shapes.map(({ id }) => id),
      part,
    )
    const { size } = part
    if (size === undefined) return
    board.setBoxes(
      new Map(
        shapes.flatMap((shape) => {
          const box = KINDS[shape.kind].fitted?.({ ...shape, size }, shape.box)
          return box ? [[shape.id, box] as const] : []
        }),
      ),
    )
  }

  duplicate(): void {
    this.insert(this.selected().map(draftOf), COPY_OFFSET, COPY_OFFSET)
  }

  /** Says so when nothing can be added. */
  #isClosed(): boolean {
    const { readOnly } = this.bench.board
    if (readOnly) this.toasts.say('Nothing can be added to this board.')
    return readOnly
  }

  /** Puts drafts on the board, moved, and selects them; gives how many there was room for. */
  insert(drafts: readonly Draft[], dx = 0, dy = 0): number {
    if (drafts.length === 0 || this.#isClosed()) return 0
    const { history, board, selection, tool } = this.bench
    history.mark()
    const ids: string[] = []
    for (const part of inWrites(drafts)) {
      ids.push(...board.create(part.map((draft) => ({ ...draft, box: moved(draft.box, dx, dy) }))))
    }
    tool.set('select')
    selection.set(new Set(ids))
    return ids.length
  }

  copyTo(clipboard: DataTransfer | null): boolean {
    const shapes = this.selected()
    if (shapes.length === 0) return false
    const json = boardToJson(shapes)
    clipboard?.setData(CLIPBOARD_TYPE, json)
    clipboard?.setData(
      'text/plain',
      shapes
        .map((shape) => shape.text)
        .filter(Boolean)
        .join('\n') || json,
    )
    try {
      localStorage.setItem(CLIPBOARD_KEY, json)
    } catch {
      // Too large for this store, or switched off: the system's clipboard still has it.
    }
    return true
  }

  /** From a button: the browser's own copy event, which ends in `copyTo`; where it is refused, this browser's store. */
  copy(): void {
    if (document.execCommand('copy') || this.copyTo(null)) this.toasts.say('Copied. Paste it here or on another board.')
  }

  cut(): void {
    this.copy()
    this.remove()
  }

  pasteStored(): void {
    const json = localStorage.getItem(CLIPBOARD_KEY)
    const read = json ? boardFromJson(json) : null
    if (read) this.#insertInView(read.drafts)
    else this.toasts.say('Nothing to paste yet.')
  }

  async pasteFrom(clipboard: DataTransfer): Promise<void> {
    const images = [...clipboard.files].filter((file) => file.type.startsWith('image/'))
    if (images.length > 0) return this.addImages(images)
    const read = boardFromJson(clipboard.getData(CLIPBOARD_TYPE)) ?? boardFromJson(clipboard.getData('text/plain'))
    if (read) this.#insertInView(read.drafts)
    else this.#addText(clipboard.getData('text/plain'))
  }

  /** Near where they were when that is in view (a little aside, so that they are seen), else into the middle. */
  #insertInView(drafts: readonly Draft[]): void {
    const around = union(
      drafts.map(({ box: [x, y, w, h] }) => ({
        x: Math.min(x, x + w),
        y: Math.min(y, y + h),
        w: Math.abs(w),
        h: Math.abs(h),
      })),
    )
    if (!around) return
    const { centre, width, height, zoom } = this.bench.view
    const [cx, cy] = [around.x + around.w / 2, around.y + around.h / 2]
    const near = Math.abs(cx - centre.x) * zoom < width / 2 && Math.abs(cy - centre.y) * zoom < height / 2
    if (near) this.insert(drafts, COPY_OFFSET, COPY_OFFSET)
    else this.insert(drafts, centre.x - cx, centre.y - cy)
  }

  #addText(text: string): void {
    const trimmed = text.trim()
    if (trimmed === '') return
    const { look, view } = this.bench
    const { size, color } = look.value
    const w = Math.min(MAX_PASTED_TEXT_WIDTH, textWidth(trimmed, size) + size)
    const { height } = layoutText(trimmed, size, w)
    this.insert([
      {
        kind: 'text',
        box: [view.centre.x - w / 2, view.centre.y - height / 2, w, height, 0],
        color,
        size,
        text: trimmed,
      },
    ])
  }

  /** Pictures side by side, in rows as wide as they are high, around a place on the board. */
  async addImages(files: readonly File[], at: Point = this.bench.view.centre): Promise<void> {
    if (files.length === 0 || this.#isClosed()) return
    const columns = Math.ceil(Math.sqrt(files.length))
    const drafts: Draft[] = []
    for (const file of files) {
      try {
        const { bytes, w, h } = await importImage(file)
        const factor = Math.min(1, IMAGE_SIDE / Math.max(w, h))
        const [shownW, shownH] = [w * factor, h * factor]
        const [column, row] = [drafts.length % columns, Math.floor(drafts.length / columns)]
        const step = IMAGE_SIDE + COPY_OFFSET
        const box: Box = [at.x + column * step - shownW / 2, at.y + row * step - shownH / 2, shownW, shownH, 0]
        drafts.push({ kind: 'image', box, color: 'ink', image: bytes })
      } catch (error) {
        if (!(error instanceof ImageRefused)) throw error
        this.toasts.say(files.length > 1 ? `${file.name}: ${error.message}` : error.message, 'warning')
      }
    }
    this.insert(drafts)
  }

  /** Selects the next object in painting order, for those who cannot point. */
  selectNext(step: 1 | -1): void {
    const { board, selection, view, tool } = this.bench
    const all = board.ordered()
    if (all.length === 0) return
    const at = all.findIndex((shape) => selection.value.has(shape.id))
    const next = all[(at + step + all.length + (at < 0 && step < 0 ? 1 : 0)) % all.length]!
    tool.set('select')
    selection.set(new Set([next.id]))
    const bounds = boundsOf(next)
    const visible = view.visible()
    const outside =
      bounds.x < visible.x ||
      bounds.y < visible.y ||
      bounds.x + bounds.w > visible.x + visible.w ||
      bounds.y + bounds.h > visible.y + visible.h
    if (outside) view.lookAt({ x: bounds.x + bounds.w / 2, y: bounds.y + bounds.h / 2 })
  }

  /** For a newcomer: moves the view only when something would be missed. */
  showContents(): void {
    const { board, view } = this.bench
    const around = union([...board.shapes.values()].map(boundsOf))
    if (around && !contains(view.visible(), around)) view.fit(around)
  }

  fitAll(): void {
    const around = union([...this.bench.board.shapes.values()].map(boundsOf))
    if (around) this.bench.view.fit(around)
    else this.bench.view.lookAt({ x: 0, y: 0 }, 1)
  }
}

const moved = ([x, y, w, h, angle]: Box, dx: number, dy: number): Box => [x + dx, y + dy, w, h, angle]
