import type { Board } from '../board/model.ts'
import { keyName } from '../commands/keys.ts'
import type { Connection } from '../line/connection.ts'
import { h } from './dom.ts'

/** What a board without objects says; "blank" only once the server has said so. Gone with the first object of anybody. */
export function emptyState(board: Board, { reached, state }: Connection): HTMLElement {
  const title = h('p', { class: 'empty-title' })
  const words = h('p')
  const keys = h(
    'p',
    { class: 'empty-keys' },
    ...[
      ['P', ' pen  '],
      ['N', ' note  '],
      ['?', ' all keys'],
    ].flatMap(([key, what]) => [h('kbd', { text: keyName(key!) }), what!]),
  )
  const element = h('div', { class: 'empty', attrs: { hidden: true } }, title, words, keys)
  const say = (first: string, second: string) => {
    title.textContent = first
    words.textContent = second
  }
  const show = () => {
    const { is } = state.value
    element.hidden = board.shapes.size > 0 || is === 'refused'
    keys.hidden = board.readOnly
    if (board.readOnly) say('A blank board', 'Nothing has been drawn on it yet.')
    else if (reached.value) say('A blank board', 'Draw anywhere. Everybody with the link draws along.')
    else if (is === 'connecting') say('Opening the board…', 'You can draw already.')
    else
      say(
        'The board is not here yet',
        'You can draw already: what others have drawn appears when the server is reached.',
      )
  }
  board.changed.on(show)
  reached.watch(show)
  state.watch(show)
  return element
}
