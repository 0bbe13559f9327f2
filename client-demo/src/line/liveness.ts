/**
 * Is anybody there? A browser does not tell when the network is simply gone. After 2 s of silence the page asks for the
 * room's presence, a small question; after 2 s more without any frame the line is taken for dead. Round trips are
 * measured with SyncStep1, the one question every server answers with exactly one kind of frame.
 */
import * as encoding from 'lib0/encoding'
import * as syncProtocol from 'y-protocols/sync'
import { messageQueryAwareness, messageSync, type WebsocketProvider } from 'y-websocket'
import type { Meter } from '../weir/meter.ts'

const TICK_MS = 500
const QUIET_MS = 2_000
const DEAD_MS = 4_200
/** An answer longer than this makes the next question wait ten times as long: it carries the board's whole delete set. */
const DEAR_ANSWER_BYTES = 16_384

export class Liveness {
  /** Milliseconds, of the last measured round trip; null until one is. */
  roundTrip: number | null = null
  /** Whole answers that nobody asked for: the server made up for what it had held back. */
  resyncs = 0
  #askedAt: number | null = null
  #nudgedAt = 0
  #restUntil = 0
  #waiting: Array<() => void> = []
  #ticked = performance.now()

  constructor(
    private readonly provider: WebsocketProvider,
    private readonly meter: Meter,
    private readonly onDead: () => void,
  ) {
    meter.onFrame = (frame) => this.#onFrame(frame)
    window.setInterval(() => this.#tick(), TICK_MS)
  }

  reset(): void {
    this.#askedAt = null
    this.#nudgedAt = 0
    this.#waiting = []
  }

  /** Calls back once the server has certainly read everything sent so far. */
  confirm(done: () => void): void {
    this.#waiting.push(done)
    this.measure(true)
  }

  measure(now = false): void {
    if (!this.provider.wsconnected || this.#askedAt !== null || (!now && performance.now() < this.#restUntil)) return
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, messageSync)
    syncProtocol.writeSyncStep1(encoder, this.provider.doc)
    this.#askedAt = performance.now()
    this.provider.ws?.send(encoding.toUint8Array(encoder) as Uint8Array<ArrayBuffer>)
  }

  #onFrame(frame: Uint8Array): void {
    if (frame[0] !== 0 || frame[1] !== 1) return
    if (this.#askedAt === null) {
      if (this.provider.synced) this.resyncs++
      return
    }
    const now = performance.now()
    this.roundTrip = now - this.#askedAt
    this.#askedAt = null
    if (frame.length > DEAR_ANSWER_BYTES) this.#restUntil = now + 30_000
    for (const done of this.#waiting.splice(0)) done()
  }

  #tick(): void {
    const now = performance.now()
    const stalled = now - this.#ticked > QUIET_MS
    this.#ticked = now
    // A page that slept has not listened: what came meanwhile is still to be read before anything is judged.
    if (stalled || !this.provider.wsconnected) {
      this.#nudgedAt = 0
      return
    }
    const silent = now - this.meter.lastIn
    if (silent < QUIET_MS) this.#nudgedAt = 0
    else if (this.#nudgedAt === 0) {
      this.#nudgedAt = now
      const encoder = encoding.createEncoder()
      encoding.writeVarUint(encoder, messageQueryAwareness)
      this.provider.ws?.send(encoding.toUint8Array(encoder) as Uint8Array<ArrayBuffer>)
    } else if (now - this.#nudgedAt > DEAD_MS - QUIET_MS) {
      this.#nudgedAt = 0
      this.onDead()
    }
  }
}
