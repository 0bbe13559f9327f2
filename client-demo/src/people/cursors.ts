/**
 * Other people's pointers with their names, gliding between the positions they send. Painted, not laid out: fifty moving
 * elements cost a third of the page's thread under software rendering, fifty small pictures next to nothing.
 */
import type { Renderer } from '../canvas/renderer.ts'
import { FONT_STACK } from '../canvas/text-layout.ts'
import { reducedMotion } from '../ui/dom.ts'
import type { Presence } from './presence.ts'
import { inkOn } from './presence-validation.ts'

/** Half of the remaining way per frame at 60 Hz: smooth at 30 positions a second, and never more than two frames late. */
const GLIDE = 0.45
const MAX_LABEL_PX = 150
const MAX_PICTURES = 200

interface Cursor {
  x: number
  y: number
  toX: number
  toY: number
  picture: HTMLCanvasElement
  /** What the picture shows. */
  shows: string
}

const pictures = new Map<string, HTMLCanvasElement>()

/** Arrow and name tag, in device pixels, painted once per name and colour. */
function pictureOf(name: string, color: string, scale: number): HTMLCanvasElement {
  const key = `${scale} ${color} ${name}`
  const known = pictures.get(key)
  if (known) return known
  const canvas = document.createElement('canvas')
  const ctx = canvas.getContext('2d')!
  const font = `600 12px ${FONT_STACK}`
  ctx.font = font
  const width = Math.min(MAX_LABEL_PX, Math.ceil(ctx.measureText(name).width))
  canvas.width = Math.ceil((width + 30) * scale)
  canvas.height = Math.ceil(40 * scale)
  ctx.scale(scale, scale)
  ctx.font = font
  ctx.fillStyle = color
  ctx.strokeStyle = '#ffffff'
  ctx.lineWidth = 1.5
  ctx.lineJoin = 'round'
  ctx.fill(new Path2D('M1.5 1.5L13 12.5L7.2 13L4.2 18Z'))
  ctx.stroke(new Path2D('M1.5 1.5L13 12.5L7.2 13L4.2 18Z'))
  ctx.beginPath()
  ctx.roundRect(11, 16, width + 16, 20, 10)
  ctx.fill()
  ctx.beginPath()
  ctx.rect(11, 16, width + 12, 20)
  ctx.clip()
  ctx.fillStyle = inkOn(color)
  ctx.textBaseline = 'middle'
  ctx.fillText(name, 19, 26.5)
  if (pictures.size >= MAX_PICTURES) pictures.clear()
  pictures.set(key, canvas)
  return canvas
}

export function showCursors(renderer: Renderer, presence: Presence): void {
  const cursors = new Map<number, Cursor>()
  let gliding = false

  const glide = () => {
    gliding = false
    const share = reducedMotion() ? 1 : GLIDE
    for (const cursor of cursors.values()) {
      const [dx, dy] = [cursor.toX - cursor.x, cursor.toY - cursor.y]
      if (dx === 0 && dy === 0) continue
      const near = Math.abs(dx) + Math.abs(dy) < 0.5
      cursor.x = near ? cursor.toX : cursor.x + dx * share
      cursor.y = near ? cursor.toY : cursor.y + dy * share
      run()
    }
    renderer.requestLive()
  }
  const run = () => {
    if (gliding) return
    gliding = true
    requestAnimationFrame(glide)
  }

  presence.changed.on(() => {
    for (const [id, { name, color, cursor: to }] of presence.others) {
      if (!to) continue
      const cursor = cursors.get(id)
      const shows = `${color} ${name}`
      const picture = cursor?.shows === shows ? cursor.picture : pictureOf(name, color, renderer.scale)
      cursors.set(id, { x: cursor?.x ?? to[0], y: cursor?.y ?? to[1], toX: to[0], toY: to[1], picture, shows })
    }
    for (const id of cursors.keys()) if (!presence.others.get(id)?.cursor) cursors.delete(id)
    run()
  })

  renderer.addLive((ctx, view) => {
    const factor = view.zoom * renderer.scale
    ctx.setTransform(1, 0, 0, 1, 0, 0)
    for (const { x, y, picture } of cursors.values()) {
      ctx.drawImage(picture, Math.round((x - view.x) * factor), Math.round((y - view.y) * factor))
    }
    return cursors.size > 0
  })
}
