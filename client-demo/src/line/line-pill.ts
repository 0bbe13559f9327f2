import type { Signal } from '../signal.ts'
import { iconButton, textButton } from '../ui/button.ts'
import { h } from '../ui/dom.ts'
import { type IconName, icon } from '../ui/icons.ts'
import { refusalWords } from './close-words.ts'
import type { Connection, LineState } from './connection.ts'
import type { Kept } from './device-store.ts'

interface Words {
  readonly icon: IconName
  readonly tone: 'good' | 'wait' | 'bad'
  readonly label: string
  readonly detail: string
}

const WORDS: Record<Exclude<LineState['is'], 'refused'>, Words> = {
  connected: {
    icon: 'check',
    tone: 'good',
    label: 'Connected',
    detail: 'Everything has reached the server and is shared.',
  },
  connecting: { icon: 'wait', tone: 'wait', label: 'Connecting', detail: 'Looking for the server.' },
  behind: {
    icon: 'wait',
    tone: 'wait',
    label: 'Catching up',
    detail: 'Your line is slow: you see others a little late, nothing is lost.',
  },
  limited: {
    icon: 'wait',
    tone: 'wait',
    label: 'Slowed down',
    detail: 'You send more than the server takes at once. It all arrives, a little later.',
  },
  slowed: {
    icon: 'wait',
    tone: 'wait',
    label: 'Slow line',
    detail: 'The server sends you fewer, larger updates, because your line could not keep up.',
  },
  offline: {
    icon: 'offline',
    tone: 'bad',
    label: 'Offline',
    detail: 'Keep drawing: your changes are kept on this device and sent on return.',
  },
  restarting: { icon: 'wait', tone: 'wait', label: 'Server restarting', detail: 'Back in a moment. Keep drawing.' },
  full: {
    icon: 'wait',
    tone: 'bad',
    label: 'Reconnecting',
    detail: 'The server could not keep this line open. Trying again.',
  },
  'read-only': {
    icon: 'lock',
    tone: 'wait',
    label: 'View only',
    detail: 'You can look around, not change this board.',
  },
}

/** Where the browser stores nothing for this page. */
const NOT_KEPT =
  'Keep this tab open: this browser stores nothing here. Your changes are in this tab only, and are sent on return.'

const REFUSED: Words = {
  icon: 'warning',
  tone: 'bad',
  label: 'Not connected',
  detail: 'The server refused this board.',
}

/** The words are left to the tooltip and to screen readers where the window is narrow. */
const changes = (n: number): HTMLElement =>
  h('span', { class: 'wide-words', text: n === 1 ? ' change not sent yet' : ' changes not sent yet' })

/** The state of the line, always in the same corner, in a word, with an icon and a colour that all say the same. */
export function linePill(connection: Connection, kept: Signal<Kept>): HTMLElement {
  const symbol = h('span', { class: 'pill-icon' })
  const label = h('span', { class: 'pill-label' })
  const pill = h('div', { class: 'pill', attrs: { role: 'status', 'aria-live': 'polite' } }, symbol, label)
  const show = () => {
    const state = connection.state.value
    const unsent = connection.unsent.count.value
    const words = state.is === 'refused' ? REFUSED : WORDS[state.is]
    symbol.replaceChildren(icon(words.icon))
    pill.dataset.tone = words.tone
    pill.dataset.state = state.is
    if (unsent === 0) label.replaceChildren(words.label)
    else if (state.is === 'connected') label.replaceChildren('Sending')
    else label.replaceChildren(`${words.label} · ${unsent}`, changes(unsent))
    pill.title = state.is === 'offline' && kept.value === 'not-kept' ? NOT_KEPT : words.detail
  }
  connection.state.watch(show)
  connection.unsent.count.watch(show)
  kept.watch(show)
  return pill
}

interface WaysOut {
  readonly newBoard: () => void
  readonly saveAsNewBoard: () => void
  readonly saveFile: () => void
}

/** Codes after which this copy is all there is of what the person did last. */
const COPY_MATTERS: ReadonlySet<number> = new Set([4401, 4403, 4410, 4413, 4422])

/** What a person has to read: refusals stay until they are dealt with, and every one of them has a way out. */
export function lineBanner(connection: Connection, hasObjects: () => boolean, ways: WaysOut): HTMLElement {
  const banner = h('div', { class: 'banner', attrs: { role: 'alert', hidden: true } })
  connection.state.watch((state) => {
    banner.hidden = state.is !== 'refused'
    if (state.is !== 'refused') return
    const comesBack = connection.onTaken !== null
    const { title, advice, final } = refusalWords(state.code, state.reason, comesBack)
    const copy = (COPY_MATTERS.has(state.code) || (state.code === 4409 && !comesBack)) && hasObjects()
    banner.dataset.code = String(state.code)
    banner.replaceChildren(
      icon('warning'),
      h('div', { class: 'banner-words' }, h('strong', { text: title }), h('p', { text: advice })),
      h(
        'div',
        { class: 'banner-actions' },
        final ? null : textButton('Try again', () => void connection.connect()),
        copy ? textButton('Save as a new board', ways.saveAsNewBoard) : textButton('New board', ways.newBoard),
        copy ? textButton('Export', ways.saveFile) : null,
      ),
      iconButton({ icon: 'close', label: 'Hide this message', onClick: () => (banner.hidden = true) }),
    )
  })
  return banner
}
