/**
 * People who are not there: each bot is a client of its own, with a document and a line of its own, that wanders about and
 * draws. Bots do not use the broadcast channel, so that everything they do goes through the server.
 */
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { newId, storedShape } from '../board/model.ts'
import { PALETTE_NAMES } from '../board/shape-validation.ts'
import { PEOPLE_COLORS } from '../people/identity.ts'

const STEP_MS = 100
const STEPS_PER_STROKE = 24
const KEPT_STROKES = 3
const WANDER = 26

const random = (low: number, high: number): number => low + Math.random() * (high - low)

export class Bot {
  readonly doc = new Y.Doc()
  readonly root = this.doc.getMap<unknown>('shapes')
  readonly #provider: WebsocketProvider
  readonly #timer: number
  readonly #strokes: string[] = []
  readonly #color: string
  #x: number
  #y: number
  #heading = random(0, 6.28)
  #startX = 0
  #startY = 0
  #step = 0

  constructor(
    server: { url: string; room: string; params: Record<string, string> },
    name: string,
    n: number,
    private readonly area: { x: number; y: number; r: number },
  ) {
    this.#provider = new WebsocketProvider(server.url, server.room, this.doc, {
      disableBc: true,
      params: server.params,
    })
    this.#color = PALETTE_NAMES[1 + (n % (PALETTE_NAMES.length - 1))]!
    const angle = n * 2.4
    this.#x = area.x + Math.cos(angle) * area.r * 0.7
    this.#y = area.y + Math.sin(angle) * area.r * 0.7
    this.#provider.awareness.setLocalState({ name, color: PEOPLE_COLORS[n % PEOPLE_COLORS.length] })
    // Spread over the step, so that the bots do not all write in the same millisecond.
    this.#timer = window.setInterval(() => this.#draw(), STEP_MS + random(0, 30))
  }

  get synced(): boolean {
    return this.#provider.synced
  }

  #wander(): void {
    const home = Math.atan2(this.area.y - this.#y, this.area.x - this.#x)
    const far = Math.hypot(this.area.x - this.#x, this.area.y - this.#y) > this.area.r
    this.#heading += far ? Math.sin(home - this.#heading) * 0.7 : random(-0.6, 0.6)
    this.#x += Math.cos(this.#heading) * WANDER
    this.#y += Math.sin(this.#heading) * WANDER
  }

  #draw(): void {
    if (!this.#provider.synced) return
    this.#wander()
    const [x, y] = [Math.round(this.#x), Math.round(this.#y)]
    this.#provider.awareness.setLocalStateField('cursor', [x, y])
    const id = this.#strokes.at(-1)
    if (this.#step === 0 || id === undefined) this.#begin()
    else {
      const points = (this.root.get(id) as Y.Map<unknown> | undefined)?.get('points')
      if (points instanceof Y.Array) points.push([[(x - this.#startX) * 10, (y - this.#startY) * 10, 0]])
    }
    this.#step = (this.#step + 1) % STEPS_PER_STROKE
  }

  #begin(): void {
    const id = newId()
    this.#startX = Math.round(this.#x)
    this.#startY = Math.round(this.#y)
    this.doc.transact(() => {
      const box = [this.#startX, this.#startY, 0, 0, 0] as const
      this.root.set(id, storedShape({ kind: 'pen', box, color: this.#color, width: 3, points: [0, 0, 0] }, 'a0'))
      this.#strokes.push(id)
      if (this.#strokes.length > KEPT_STROKES) this.root.delete(this.#strokes.shift()!)
    })
  }

  leave(): void {
    window.clearInterval(this.#timer)
    this.doc.transact(() => {
      for (const id of this.#strokes) this.root.delete(id)
    })
    // Gone with the next turn, so that the last deletions are out before the socket closes.
    window.setTimeout(() => {
      this.#provider.destroy()
      this.doc.destroy()
    }, 200)
  }
}
