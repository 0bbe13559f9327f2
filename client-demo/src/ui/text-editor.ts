/** The text field over the board in which a note or a text is written; bound to the shared Y.Text letter by letter. */

import type { History } from '../board/history.ts'
import type { Board } from '../board/model.ts'
import { MAX_TEXT_LENGTH } from '../board/shape-validation.ts'
import type { Theme } from '../canvas/palette.ts'
import { SURFACE, tones } from '../canvas/palette.ts'
import type { Renderer } from '../canvas/renderer.ts'
import { LINE_HEIGHT, layoutNote, layoutText, NOTE_PADDING } from '../canvas/text-layout.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Attention } from '../input/attention.ts'
import type { Signal } from '../signal.ts'
import { h } from './dom.ts'

const UNDO_PAUSE_MS = 1_000

export interface TextChange {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

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
}

export function textEditor({ stage, board, history, view, renderer, editing, theme, attention }: Parts): void {
  const field = h('textarea', {
    class: 'text-editor on-stage',
    attrs: { 'aria-label': 'Text of the object', hidden: true, maxlength: MAX_TEXT_LENGTH, spellcheck: 'true' },
  })
  stage.append(field)
  let open: string | null = null
  let lastInput = 0
  let leave = () => {}

  const place = () => {
    const shape = open === null ? undefined : board.shapes.get(open)
    if (!shape) {
      if (open !== null) editing.set(null)
      return
    }
    const [x, y, w, boxHeight, angle] = shape.box
    const note = shape.kind === 'note'
    const layout = note ? layoutNote(shape.text, shape.size, w, boxHeight) : layoutText(shape.text, shape.size, w)
    const height = note ? boxHeight : Math.max(layout.height, shape.size * LINE_HEIGHT)
    const at = view.toScreen({ x, y })
    const { style } = field
    style.transform = `translate(${at.x}px, ${at.y}px) scale(${view.zoom}) rotate(${angle}rad)`
    style.width = `${w}px`
    style.height = `${height}px`
    style.fontSize = `${layout.size}px`
    style.padding = note ? `${NOTE_PADDING}px` : '0'
    style.color = note ? SURFACE[theme.value].text : tones(shape.color, theme.value).stroke
    style.background = note ? tones(shape.color, theme.value).note : 'transparent'
    style.setProperty('--turn-x', `${w / 2}px`)
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
    const { at, remove, insert } = textChange(text.toString(), field.value)
    board.transact(() => {
      if (remove > 0) text.delete(at, remove)
      if (insert) text.insert(at, insert)
    })
    fitHeight(shape.id)
  }

  const fitHeight = (id: string) => {
    const shape = board.shapes.get(id)
    if (shape?.kind !== 'text') return
    const [x, y, w, h0, angle] = shape.box
    const { height } = layoutText(shape.text, shape.size, w)
    if (Math.abs(height - h0) > 0.5) board.setBoxes(new Map([[id, [x, y, w, height, angle]]]))
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
