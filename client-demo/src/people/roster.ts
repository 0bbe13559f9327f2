import type { Attention } from '../input/attention.ts'
import type { Signal } from '../signal.ts'
import { textButton } from '../ui/button.ts'
import { h } from '../ui/dom.ts'
import { popover } from '../ui/popover.ts'
import type { Identity } from './identity.ts'
import { askOnce, MAX_NAME_LENGTH, PEOPLE_COLORS, tidyName } from './identity.ts'
import type { Presence } from './presence.ts'
import { inkOn } from './presence-validation.ts'

const SHOWN_FACES = 4

const initials = (name: string): string =>
  name
    .split(' ')
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()

function face(name: string, color: string): HTMLElement {
  const circle = h('span', { class: 'face', text: initials(name), attrs: { 'aria-hidden': 'true' } })
  circle.style.setProperty('--person', color)
  circle.style.setProperty('--person-ink', inkOn(color))
  return circle
}

/** The form in which a person says what others call them; asked for once, changed at any time. */
export function identityForm(identity: Signal<Identity>, done: () => void): HTMLFormElement {
  const { name, color } = identity.value
  const field = h('input', {
    class: 'field',
    attrs: {
      id: 'person-name',
      name: 'name',
      maxlength: MAX_NAME_LENGTH,
      autocomplete: 'nickname',
      value: name,
      required: true,
    },
  })
  const colors = PEOPLE_COLORS.map((candidate, i) => {
    const input = h('input', {
      attrs: {
        type: 'radio',
        name: 'color',
        value: candidate,
        checked: candidate === color,
        'aria-label': `Colour ${i + 1}`,
      },
    })
    const swatch = h('label', { class: 'swatch' }, input, h('span'))
    swatch.style.setProperty('--swatch', candidate)
    return swatch
  })
  const form = h(
    'form',
    { class: 'identity-form' },
    h('label', { attrs: { for: 'person-name' }, text: 'What should others call you?' }),
    field,
    h('fieldset', { class: 'swatches' }, h('legend', { class: 'visually-hidden', text: 'Your colour' }), ...colors),
    h('button', { class: 'text-button primary', attrs: { type: 'submit' } }, h('span', { text: 'That’s me' })),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const picked = PEOPLE_COLORS.find((candidate) => candidate === new FormData(form).get('color'))
    identity.set({ name: tidyName(field.value) || name, color: picked ?? color, chosen: true })
    done()
  })
  return form
}

interface Actions {
  readonly follow: (id: number) => void
  readonly following: Signal<number | null>
}

/** Faces in the corner; behind them the list of everybody here, with a way to follow each. */
export function roster(
  attention: Attention,
  presence: Presence,
  identity: Signal<Identity>,
  { follow, following }: Actions,
): { element: HTMLElement; open(): void } {
  const faces = h('span', { class: 'faces' })
  const button = h('button', { class: 'roster-button', attrs: { type: 'button' } }, faces)
  const list = h('ul', { class: 'people-list', attrs: { 'aria-label': 'Who is here' } })
  const me = h('div', { class: 'people-me' })
  const panel = popover(attention, { id: 'people', label: 'People here', look: 'people', opener: button }, me, list)

  const showMe = () => {
    const { name, color, chosen } = identity.value
    const edit = () => {
      me.replaceChildren(
        identityForm(identity, () => {
          showMe()
          panel.close()
        }),
      )
      if (panel.isOpen) me.querySelector('input')?.focus()
    }
    if (!chosen) edit()
    else
      me.replaceChildren(
        face(name, color),
        h('span', { class: 'person-name', text: `${name} (you)` }),
        textButton('Change', edit),
      )
  }
  const show = () => {
    const people = [...presence.others].sort(([a], [b]) => a - b)
    const { name, color } = identity.value
    const all = [{ name, color }, ...people.map(([, person]) => person)]
    const rest = all.length - SHOWN_FACES
    faces.replaceChildren(
      ...all.slice(0, rest > 1 ? SHOWN_FACES : SHOWN_FACES + 1).map((person) => face(person.name, person.color)),
      ...(rest > 1 ? [h('span', { class: 'face face-more', text: `+${rest}` })] : []),
    )
    button.setAttribute('aria-label', all.length === 1 ? 'Only you are here' : `${all.length} people are here`)
    button.title = button.getAttribute('aria-label')!
    list.replaceChildren(
      ...people.map(([id, person]) => {
        const watching = following.value === id
        const action = textButton(watching ? 'Stop' : 'Follow', () => follow(id), 'eye')
        action.setAttribute('aria-pressed', String(watching))
        action.setAttribute('aria-label', `${watching ? 'Stop following' : 'Follow'} ${person.name}`)
        return h(
          'li',
          {},
          face(person.name, person.color),
          h('span', { class: 'person-name', text: person.name }),
          action,
        )
      }),
    )
    if (people.length === 0)
      list.replaceChildren(
        h('li', { class: 'people-empty', text: 'Only you so far. Share the link to draw together.' }),
      )
  }

  // Cursors move thirty times a second; the list changes only when a person does.
  let shown = ''
  const showIfChanged = () => {
    const key = JSON.stringify([
      identity.value,
      following.value,
      [...presence.others].map(([id, p]) => [id, p.name, p.color]),
    ])
    if (key === shown) return
    shown = key
    show()
  }
  presence.changed.on(showIfChanged)
  // Asked once, and not before there is somebody to show the name to; never in the middle of something.
  presence.changed.on(() => {
    if (identity.value.chosen || presence.others.size === 0 || attention.top || !askOnce()) return
    panel.open({ quiet: true })
  })
  following.watch(showIfChanged)
  identity.watch(() => {
    showIfChanged()
    showMe()
  })
  return { element: h('div', { class: 'roster' }, button, panel.element), open: () => panel.open() }
}
