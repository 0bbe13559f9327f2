import type { Viewport } from './viewport.ts'

const SAVE_MS = 300

/** The view of this tab and room survives a reload; false when there is none to come back to. */
export function rememberView(view: Viewport, room: string): boolean {
  const key = `y-weir:view:${room}`
  let timer = 0
  const save = () => {
    window.clearTimeout(timer)
    timer = 0
    const { x, y } = view.centre
    try {
      sessionStorage.setItem(key, JSON.stringify([x, y, view.zoom]))
    } catch {
      // Storage is switched off: a reload starts at the beginning.
    }
  }
  const restored = restore(view, key)
  view.changed.on(() => {
    timer ||= window.setTimeout(save, SAVE_MS)
  })
  window.addEventListener('pagehide', save)
  return restored
}

function restore(view: Viewport, key: string): boolean {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as unknown
    if (!Array.isArray(stored) || stored.length !== 3 || !stored.every(Number.isFinite)) return false
    const [x, y, zoom] = stored as [number, number, number]
    view.lookAt({ x, y }, zoom)
    return true
  } catch {
    return false
  }
}
