/** How full the board is, told before it is too late. The server says in the page how much it takes (`MAX_DOC_BYTES`). */
import * as Y from 'yjs'

/** Shares of the allowed size at which it is said, once each. */
const WARN_AT = [0.8, 0.95] as const

const allowedBytes = (): number =>
  Number(document.querySelector<HTMLMetaElement>('meta[name="y-weir-max-board-bytes"]')?.content) || 0

/**
 * Sums up what every update brings, which can only be too much, and measures the whole document only when that sum says
 * that a mark was passed: measuring 16 MB takes a tenth of a second.
 */
export function warnBeforeFull(doc: Y.Doc, say: (words: string) => void): void {
  const allowed = allowedBytes()
  if (allowed === 0) return
  let sum = Y.encodeStateAsUpdate(doc).length
  let next = 0
  let measuring = false
  const measure = () => {
    measuring = false
    sum = Y.encodeStateAsUpdate(doc).length
    const passed = WARN_AT.findLastIndex((share) => sum >= share * allowed)
    if (passed < next) return
    next = passed + 1
    const percent = Math.min(99, Math.floor((100 * sum) / allowed))
    say(`This board is ${percent} % full. Pictures take the most room; a copy on a new board goes on from there.`)
  }
  doc.on('update', (update: Uint8Array) => {
    sum += update.length
    const mark = WARN_AT[next]
    if (mark === undefined || measuring || sum < mark * allowed) return
    measuring = true
    window.setTimeout(measure, 500)
  })
}
