import { hasToken } from './line/access.ts'
import type { Toasts } from './ui/toast.ts'

const FIRST =
  'amber brisk calm clear dewy early gentle hazel ivory keen lively mellow misty pale quiet silver slow still sunny tidal'
const SECOND =
  'alder brook creek delta eddy ferry ford harbour heron inlet lagoon marsh meadow otter pebble reed river shore spring weir'

/** The server refuses longer names with 4400. */
const MAX_NAME_BYTES = 512

/** Without letters that are taken for others when read aloud. */
const SECRET_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const SECRET_LENGTH = 13

/** 13 characters of 5 bits: 65 bits from the system's generator, so that nobody finds a board by trying names. */
function secret(): string {
  let text = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(SECRET_LENGTH))) text += SECRET_ALPHABET[byte & 31]
  return text
}

export function randomRoomName(): string {
  const pick = (words: string) => {
    const list = words.split(' ')
    return list[Math.floor(Math.random() * list.length)]!
  }
  return `${pick(FIRST)}-${pick(SECOND)}-${secret()}`
}

/** The room of this page: `?room=` or a fresh one, which is then put into the address without a new history entry. */
export function roomOfThisPage(): string {
  const url = new URL(location.href)
  const asked = url.searchParams.get('room')?.trim()
  if (asked && new TextEncoder().encode(asked).length <= MAX_NAME_BYTES) return asked
  const room = randomRoomName()
  url.searchParams.set('room', room)
  history.replaceState(null, '', url)
  return room
}

/** True when the text is on the clipboard. Without the clipboard API (plain http) the old command still works. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    let written = false
    const onCopy = (event: ClipboardEvent) => {
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
      event.stopImmediatePropagation()
      written = true
    }
    document.addEventListener('copy', onCopy, { capture: true, once: true })
    document.execCommand('copy')
    document.removeEventListener('copy', onCopy, true)
    return written
  }
}

export async function copyLink(room: string, toasts: Toasts): Promise<void> {
  const link = linkToRoom(room)
  const words = hasToken()
    ? 'Link copied. This board is protected: whoever opens it needs an invitation of their own.'
    : 'Link copied. Whoever opens it is on this board.'
  if (await toClipboard(link)) toasts.say(words)
  else toasts.say(`The link: ${link}`)
}

/** A link that others can open: never with the token of this page. */
export function linkToRoom(room: string): string {
  const url = new URL(location.pathname, location.origin)
  url.searchParams.set('room', room)
  return url.href
}
