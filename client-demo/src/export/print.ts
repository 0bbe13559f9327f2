import type { Board } from '../board/model.ts'
import { h } from '../ui/dom.ts'
import { boardToCanvas } from './board-png.ts'

/** Prints the whole board on one sheet, light, without the bars (style/print.css shows nothing else). */
export function printBoard(board: Board): void {
  let sheet: HTMLElement | null = null
  window.addEventListener('beforeprint', () => {
    sheet?.remove()
    const picture = boardToCanvas(board.ordered(), 'light', '#ffffff')
    sheet = h('div', { class: 'print-sheet', attrs: { 'aria-hidden': 'true' } }, picture)
    document.body.append(sheet)
  })
  window.addEventListener('afterprint', () => {
    sheet?.remove()
    sheet = null
  })
}
