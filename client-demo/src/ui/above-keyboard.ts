import type { Viewport } from '../canvas/viewport.ts'

/** A window that is lower than this much is one with a keyboard before it, not one whose address bar came out. */
const KEYBOARD_PX = 120
/** The bars at the top stay clear of what is written; below is the keyboard's own edge. */
const TOP_PX = 64
const BOTTOM_PX = 16

/**
 * A phone's keyboard lies over the window and tells nobody but `visualViewport`. Moves the view until the whole field is in what
 * is left of the window; of a field that is too high for it, the end where the caret is. Back it is not moved: that would come
 * in the middle of the press with which one goes on.
 */
export function keepAboveKeyboard(field: HTMLTextAreaElement, view: Viewport): () => void {
  const keep = () => {
    const window_ = window.visualViewport
    if (!window_ || field.hidden || window.innerHeight - window_.height * window_.scale < KEYBOARD_PX) return
    const { top, bottom } = field.getBoundingClientRect()
    const high = window_.offsetTop + TOP_PX
    const low = window_.offsetTop + window_.height - BOTTOM_PX
    const atEnd = field.selectionStart === field.value.length
    const shift =
      bottom - top > low - high
        ? atEnd
          ? low - bottom
          : high - top
        : Math.min(0, low - bottom) || Math.max(0, high - top)
    if (Math.abs(shift) > 1) view.panBy(0, shift)
  }
  window.visualViewport?.addEventListener('resize', keep)
  return keep
}
