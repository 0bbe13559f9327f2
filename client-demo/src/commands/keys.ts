/**
 * Keys, written as people read them: `Mod+Shift+Z`, `P`, `?`, `Delete`. `Mod` is ⌘ on a Mac and Ctrl elsewhere. A letter is the
 * one on the key; where the layout has no Latin letters it is the key at that letter's place. Signs count however the layout
 * makes them, with Shift or without.
 */
export const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform)

/** The places of keys that a layout may give another sign. */
const PLACES: Record<string, string> = { '[': 'BracketLeft', ']': 'BracketRight', '.': 'Period', ',': 'Comma' }
const NUMPAD: Record<string, string> = { '+': 'NumpadAdd', '-': 'NumpadSubtract' }
const TWINS: Record<string, string> = { '=': '+', _: '-' }
const NAMES: Record<string, string> = { Escape: 'Esc', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→' }
const MAC_NAMES: Record<string, string> = { ...NAMES, Mod: '⌘', Shift: '⇧', Alt: '⌥', Delete: '⌦', Backspace: '⌫' }

interface Parsed {
  readonly mod: boolean
  readonly shift: boolean
  readonly alt: boolean
  readonly main: string
}

const known = new Map<string, Parsed>()

function parse(key: string): Parsed {
  let parsed = known.get(key)
  if (!parsed) {
    const parts = key.endsWith('+') ? [...key.slice(0, -1).split('+').filter(Boolean), '+'] : key.split('+')
    const has = (name: string) => parts.includes(name)
    parsed = { mod: has('Mod'), shift: has('Shift'), alt: has('Alt'), main: parts.at(-1)! }
    known.set(key, parsed)
  }
  return parsed
}

const isLetter = (main: string): boolean => /^[A-Z]$/.test(main)

function isMain(event: KeyboardEvent, main: string): boolean {
  const { key, code } = event
  if (isLetter(main)) return /^[a-z]$/i.test(key) ? key.toUpperCase() === main : code === `Key${main}`
  if (/^\d$/.test(main))
    return key === main || ((code === `Digit${main}` || code === `Numpad${main}`) && !event.shiftKey)
  if (main.length > 1) return key === main
  // On a layout of other letters the place decides, as for letters; a sign of this layout means itself.
  const foreign = key.length === 1 && key.charCodeAt(0) > 127
  return key === main || TWINS[key] === main || code === NUMPAD[main] || (foreign && code === PLACES[main])
}

export function matches(event: KeyboardEvent, key: string): boolean {
  const { mod, shift, alt, main } = parse(key)
  // AltGr is how some layouts reach a sign; the browser reports it as Ctrl and Alt.
  const altGraph = event.getModifierState('AltGraph')
  if (mod !== ((event.ctrlKey || event.metaKey) && !altGraph) || alt !== (event.altKey && !altGraph)) return false
  const shiftMatters = isLetter(main) || main.length > 1
  if (shiftMatters && shift !== event.shiftKey) return false
  // Ctrl+[ cannot be typed where the bracket needs AltGr: there the key at its place counts.
  return isMain(event, main) || (mod && PLACES[main] !== undefined && event.code === PLACES[main])
}

/** For tooltips, menus and the list of keys: `Ctrl+Shift+Z`, on a Mac `⇧⌘Z`. */
export function keyName(key: string, mac = IS_MAC): string {
  const { mod, shift, alt, main } = parse(key)
  if (mac) return `${alt ? '⌥' : ''}${shift ? '⇧' : ''}${mod ? '⌘' : ''}${MAC_NAMES[main] ?? main}`
  const parts = [mod ? 'Ctrl' : '', alt ? 'Alt' : '', shift ? 'Shift' : '', NAMES[main] ?? main]
  return parts.filter(Boolean).join('+')
}

/** For `aria-keyshortcuts`. */
export function ariaKey(key: string): string {
  const { mod, shift, alt, main } = parse(key)
  const parts = [mod ? (IS_MAC ? 'Meta' : 'Control') : '', alt ? 'Alt' : '', shift ? 'Shift' : '', main]
  return parts.filter(Boolean).join('+')
}
