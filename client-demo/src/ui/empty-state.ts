import type { Board } from '../board/model.ts'
import { h } from './dom.ts'

/** What an empty board says; gone with the first object of anybody. */
export function emptyState(board: Board): HTMLElement {
  const element = h(
    'div',
    { class: 'empty', attrs: { hidden: true } },
    h('p', { class: 'empty-title', text: 'A blank board' }),
    h('p', { text: 'Draw anywhere. Everybody with the link draws along.' }),
    h(
      'p',
      { class: 'empty-keys' },
      h('kbd', { text: 'P' }),
      ' pen  ',
      h('kbd', { text: 'N' }),
      ' note  ',
      h('kbd', { text: '?' }),
      ' all keys',
    ),
  )
  const show = () => {
    element.hidden = board.shapes.size > 0
  }
  board.changed.on(show)
  show()
  return element
}
