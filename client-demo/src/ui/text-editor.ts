/** The text field over the board in which a note or a text is written; bound to the shared Y.Text letter by letter. */

import type { History } from '../board/history.ts'
import type { Board, TextChange } from '../board/model.ts'
import type { Shape } from '../board/shape.ts'
import type { Theme } from '../canvas/palette.ts'
import type { Renderer } from '../canvas/renderer.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Attention } from '../input/attention.ts'
import { KINDS } from '../kinds/kinds.ts'
import type { Signal } from '../signal.ts'
import { keepAboveKeyboard } from './above-keyboard.ts'
import { h } from './dom.ts'
import type { Toasts } from './toast.ts'

const UNDO_PAUSE_MS = 1_000
/** Phones zoom the whole page into a field of smaller letters; where the words are smaller, the field is scaled down. */
const LEAST_FIELD_FONT_PX = 16
const byFinger = matchMedia('(pointer: coarse)')

/** The one replaced stretch between two texts; never through the middle of a surrogate pair. */
export function textChange(before: string, after: string): TextChange {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  if (start > 0 && /[\ud800-\udbff]/.test(before[start - 1]!)) start--
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++
  }
  if (end > 0 && /[\udc00-\udfff]/.test(before[before.length - end]!)) end--
  return { at: start, remove: before.length - start - end, insert: after.slice(start, after.length - end) }
}

interface Parts {
  readonly stage: HTMLElement
  readonly board: Board
  readonly history: History
  readonly view: Viewport
  readonly renderer: Renderer
  readonly editing: Signal<string | null>
  readonly theme: Signal<Theme>
  readonly attention: Attention
  readonly selection: Signal<ReadonlySet<string>>
  readonly toasts: Toasts
}

export function textEditor({
  stage,
  board,
  history,
  view,
  renderer,
  editing,
  theme,
  attention,
  selection,
  toasts,
}: Parts): void {
  const field = h('textarea', {
    class: 'text-editor on-stage',
    attrs: { 'aria-label': 'Text of the object', hidden: true, dir: 'auto', spellcheck: 'true' },
  })
  stage.append(field)
  const keepInSight = keepAboveKeyboard(field, view)
  let open: string | null = null
  let lastInput = 0
  let leave = () => {}
  let last: Shape | null = null

  const place = () => {
    const shape = open === null ? undefined : board.shapes.get(open)
    if (!shape) {
      if (open !== null) taken()
      return
    }
    last = shape
    const words = KINDS[shape.kind].textBox?.(shape, shape.box, theme.value)
    if (!words) return
    // Turned around its own middle, where the field's transform has its origin too.
    const middle = view.toScreen({ x: words.x + words.w / 2, y: words.y + words.h / 2 })
    const { style } = field
    const larger = byFinger.matches ? Math.max(1, LEAST_FIELD_FONT_PX / words.size) : 1
    const [w, h] = [words.w * larger, words.h * larger]
    style.transform = `translate(${middle.x - w / 2}px, ${middle.y - h / 2}px) scale(${view.zoom / larger}) rotate(${shape.box[4]}rad)`
    style.width = `${w}px`
    style.height = `${h}px`
    style.fontSize = `${words.size * larger}px`
    style.padding = `${words.padding * larger}px`
    style.color = words.color
    style.background = words.paper ?? 'transparent'
  }

  /** Somebody deleted it under the hands of who writes in it: the words go on in a new one, at the same place. */
  const taken = () => {
    const words = field.value
    const before = last
    editing.set(null)
    // Undo, or the button that deletes: the person knows.
    if (board.changedHere) return
    if (!before || words.trim() === '' || board.readOnly) {
      toasts.say('This was deleted by somebody else just now.', 'warning')
      return
    }
    // Not inside the transaction that brought the deletion: what is written there counts as the other person's.
    window.setTimeout(() => writeAgain(before, words))
  }

  const writeAgain = ({ kind, box, color, size }: Shape, words: string) => {
    history.mark()
    const [id] = board.create([{ kind, box, color, size, text: words }])
    if (!id) return
    toasts.say('Somebody deleted this while you were writing. Your words are kept in a new one.', 'warning')
    selection.set(new Set([id]))
    editing.set(id)
  }

  const pull = () => {
    const text = open === null ? null : board.text(open)?.toString()
    if (text === null || text === undefined || text === field.value) return
    const { at, remove, insert } = textChange(field.value, text)
    const shift = (caret: number) => (caret <= at ? caret : Math.max(at, caret - remove) + insert.length)
    const [start, end] = [shift(field.selectionStart), shift(field.selectionEnd)]
    field.value = text
    field.setSelectionRange(start, end)
  }

  const push = () => {
    const text = open === null ? null : board.text(open)
    const shape = open === null ? undefined : board.shapes.get(open)
    if (!text || !shape) return
    const now = performance.now()
    if (now - lastInput > UNDO_PAUSE_MS) history.mark()
    lastInput = now
    const change = textChange(text.toString(), field.value)
    board.writeText(shape.id, change)
    // What there was no room for is not in the field either.
    if (field.value !== text.toString()) pull()
    fitHeight(shape.id)
    keepInSight()
  }

  const fitHeight = (id: string) => {
    const shape = board.shapes.get(id)
    const box = shape && KINDS[shape.kind].fitted?.(shape, shape.box)
    if (box && Math.abs(box[3] - shape.box[3]) > 0.5) board.setBoxes(new Map([[id, box]]))
  }

  const close = () => {
    const id = open
    open = null
    leave()
    field.hidden = true
    renderer.lift('writing', new Set())
    const shape = id === null ? undefined : board.shapes.get(id)
    if (shape?.kind === 'text' && shape.text.trim() === '') board.remove([shape.id])
  }

  editing.watch((id) => {
    if (open !== null && open !== id) close()
    if (id === null || !board.text(id) || board.readOnly) return
    open = id
    // The note that was just made and its first words are one step to undo.
    lastInput = performance.now()
    field.value = board.text(id)!.toString()
    field.hidden = false
    renderer.lift('writing', new Set([id]))
    place()
    leave = attention.enter({ kind: 'writing', element: field, close: () => editing.set(null) })
    field.focus({ preventScroll: true })
    field.setSelectionRange(field.value.length, field.value.length)
    keepInSight()
  })
  board.changed.on((ids) => {
    if (open === null || !ids.has(open)) return
    pull()
    place()
  })
  view.changed.on(place)
  theme.watch(place)
  field.addEventListener('input', push)
  // The window may lose the focus and get it back; the text stays open.
  field.addEventListener('blur', () => {
    if (document.hasFocus()) editing.set(null)
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.stopPropagation()
    editing.set(null)
  })
}
