/** Trouble on purpose: what a bad network, a sleeping tab and an over-eager script do to a room. */

import type { History } from '../board/history.ts'
import type { Board } from '../board/model.ts'
import type { Viewport } from '../canvas/viewport.ts'
import type { Connection } from '../line/connection.ts'
import { Bot } from './bots.ts'

export const FREEZE_MS = 10_000
export const FLOOD_EDITS = 2_000
export const OFFLINE_MS = 15_000
export const BOTS_PER_PRESS = 10
const MAX_BOTS = 50

export class Trouble {
  readonly bots: Bot[] = []
  #reconnect = 0

  constructor(
    private readonly board: Board,
    private readonly history: History,
    private readonly view: Viewport,
    private readonly connection: Connection,
  ) {
    // A tab that goes takes its bots along, and what they drew.
    window.addEventListener('pagehide', () => this.removeBots())
  }

  /** Blocks this page's only thread: nothing is read, nothing is painted; the kernel and the server have to hold on. */
  freeze(ms = FREEZE_MS): void {
    const until = performance.now() + ms
    while (performance.now() < until);
  }

  /** One spiral in 2 000 messages, all in one moment. */
  flood(edits = FLOOD_EDITS): void {
    const { x, y } = this.view.centre
    this.history.mark()
    const [id] = this.board.create([{ kind: 'pen', box: [x, y, 0, 0, 0], color: 'blue', width: 2, points: [0, 0, 0] }])
    if (!id) return
    for (let i = 1; i < edits; i++) {
      const [angle, radius] = [i * 0.09, i * 0.12]
      this.board.appendPoints(id, [Math.cos(angle) * radius, Math.sin(angle) * radius, 0])
    }
  }

  offline(ms = OFFLINE_MS): void {
    window.clearTimeout(this.#reconnect)
    this.connection.pause()
    this.#reconnect = window.setTimeout(() => void this.connection.connect(), ms)
  }

  addBots(count = BOTS_PER_PRESS): void {
    const { provider } = this.connection
    const server = { url: provider.serverUrl, room: provider.roomname, params: { ...provider.params } }
    delete (server.params as Record<string, string>).notices
    const visible = this.view.visible()
    const area = {
      x: visible.x + visible.w / 2,
      y: visible.y + visible.h / 2,
      r: Math.max(240, Math.min(visible.w, visible.h) * 0.45),
    }
    for (let i = 0; i < count && this.bots.length < MAX_BOTS; i++) {
      const n = this.bots.length
      this.bots.push(new Bot(server, `Bot ${n + 1}`, n, area))
    }
  }

  removeBots(): void {
    for (const bot of this.bots.splice(0)) bot.leave()
  }
}
