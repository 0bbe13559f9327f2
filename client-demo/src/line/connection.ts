/**
 * The one line to the server, and the truth about it.
 *   in   events of the stock provider, notices (message type 100), silence
 *   out  `state`: what to tell the person · `unsent.count` · `noticed`
 */
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import * as syncProtocol from 'y-protocols/sync'
import { messageSync, WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { Signal } from '../signal.ts'
import { Event, signal } from '../signal.ts'
import { Meter, meteredSocket } from '../weir/meter.ts'
import { canRenewToken, freshToken } from './access.ts'
import { Liveness } from './liveness.ts'
import { Unsent } from './unsent.ts'

const NOTICE_MESSAGE = 100
const RENEWED_CONNECT_MS = 500
const CLIENT_ID_TAKEN = 4409
const TOO_LARGE = 4413

export type LineState =
  | {
      readonly is:
        | 'connecting'
        | 'connected'
        | 'behind'
        | 'limited'
        | 'slowed'
        | 'offline'
        | 'restarting'
        | 'full'
        | 'read-only'
    }
  | { readonly is: 'refused'; readonly code: number; readonly reason: string }

export interface Notice {
  readonly kind: string
}

export class Connection {
  readonly provider: WebsocketProvider
  readonly meter = new Meter()
  readonly state: Signal<LineState> = signal<LineState>({ is: 'connecting' })
  readonly noticed = new Event<Notice>()
  /** The server has told the whole board at least once: what is not there is known not to be. */
  readonly reached = signal(false)
  readonly unsent: Unsent
  readonly liveness: Liveness
  readonly #notices = new Set<string>()
  #lastClose = 0
  #refused: { code: number; reason: string } | null = null
  #wasOnline = false
  #renewals = 0
  #paused = false
  #wasFull = false
  /** The page goes on purpose, with everything safe on the device. */
  #leaving = false
  /** Close code 4409; see twin.ts. Null: told as any other refusal. */
  onTaken: (() => Promise<void>) | null = null

  constructor(
    private readonly room: string,
    readonly doc: Y.Doc,
    isLocal: (origin: unknown) => boolean,
    step: () => number,
  ) {
    const base = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}`
    this.provider = new WebsocketProvider(base, encodeURIComponent(room), doc, {
      connect: false,
      params: { notices: '1' },
      WebSocketPolyfill: meteredSocket(this.meter),
    })
    this.unsent = new Unsent(doc, room, isLocal, step)
    this.liveness = new Liveness(this.provider, this.meter, () => this.#presumedDead())
    this.provider.messageHandlers[NOTICE_MESSAGE] = (_encoder, decoder) => this.#onNotice(decoder)
    this.provider.on('status', ({ status }) => {
      if (status === 'connected') this.#deleteFirst()
      this.#settle()
    })
    this.provider.on('sync', (synced: boolean) => this.#onSync(synced))
    this.provider.on('connection-close', (event) => this.#onClose(event?.code ?? 0))
    this.provider.on('closed', (event) => void this.#onRefused(event))
    window.addEventListener('offline', () => this.#presumedDead())
    window.addEventListener('online', () => this.#settle())
    window.addEventListener('beforeunload', (event) => {
      if (this.unsent.count.value > 0 && !this.#leaving) event.preventDefault()
    })
  }

  async connect(): Promise<void> {
    this.#refused = null
    this.#paused = false
    const token = await freshToken(this.room)
    this.provider.params = token === null ? { notices: '1' } : { notices: '1', token }
    if (!this.#paused) this.provider.connect()
    this.#settle()
  }

  /** Off the line on purpose, until `connect`. */
  pause(): void {
    this.#paused = true
    this.provider.disconnect()
    this.#settle()
  }

  #onNotice(decoder: decoding.Decoder): void {
    let notice: Notice
    try {
      notice = JSON.parse(decoding.readVarString(decoder)) as Notice
    } catch {
      return
    }
    const kind = String(notice.kind).replaceAll('_', '-')
    const ends: Record<string, string> = {
      'caught-up': 'behind',
      'limit-lifted': 'limited',
      'degraded-lifted': 'degraded',
    }
    const ended = ends[kind]
    if (ended) this.#notices.delete(ended)
    else this.#notices.add(kind)
    this.noticed.emit({ kind })
    this.#settle()
  }

  #onSync(synced: boolean): void {
    if (synced) {
      this.#lastClose = 0
      this.#renewals = 0
      this.#wasOnline = true
      this.reached.set(true)
      // Our answer to the server's question left in the same turn. A question of our own, asked behind it, proves that it arrived.
      if (this.unsent.count.value === 0) this.unsent.arrived()
      else this.liveness.confirm(() => this.unsent.arrived())
    } else this.unsent.lost(this.meter.lastIn)
    this.#settle()
  }

  #onClose(code: number): void {
    this.#lastClose = code
    this.#notices.clear()
    this.liveness.reset()
    this.unsent.lost(this.meter.lastIn)
    if (canRenewToken() && !this.#paused && !(code >= 4400 && code < 4500)) this.#reconnectWithNewToken()
    this.#settle()
  }

  /** The provider would come back with the old token: it is stopped, and started again when the new one is there. */
  #reconnectWithNewToken(): void {
    this.provider.shouldConnect = false
    window.setTimeout(
      () => {
        if (!this.#paused) void this.connect()
      },
      RENEWED_CONNECT_MS * (1 + Math.random()),
    )
  }

  async #onRefused(event: { code: number; reason: string }): Promise<void> {
    // An expired token is worth one new one; a second refusal in a row is final.
    if (event.code === 4401 && canRenewToken() && this.#renewals++ === 0) return this.connect()
    this.#refused = { code: event.code, reason: event.reason }
    this.#wasFull = event.code === TOO_LARGE
    this.#settle()
    if (event.code === CLIENT_ID_TAKEN && this.onTaken) {
      await this.onTaken()
      this.#leaving = true
      location.reload()
    }
  }

  /**
   * Coming back to a full board: what this page deleted goes ahead of what it added. A server has always room for deletions,
   * and after them maybe for the rest; in one message both would be refused.
   */
  #deleteFirst(): void {
    if (!this.#wasFull || !this.provider.ws) return
    this.#wasFull = false
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, messageSync)
    // Against its own state a document owes no content, only its deletions.
    syncProtocol.writeUpdate(encoder, Y.encodeStateAsUpdate(this.doc, Y.encodeStateVector(this.doc)))
    this.provider.ws.send(encoding.toUint8Array(encoder))
  }

  #presumedDead(): void {
    this.unsent.lost(this.meter.lastIn)
    if (this.provider.wsconnected && !this.#paused) {
      // `disconnect` + `connect` is the provider's public way to give up a socket that will never say goodbye.
      this.provider.disconnect()
      this.provider.connect()
    }
    this.#settle()
  }

  #settle(): void {
    this.state.set(this.#judge())
  }

  #judge(): LineState {
    const same = (next: LineState): LineState =>
      JSON.stringify(next) === JSON.stringify(this.state.value) ? this.state.value : next
    if (this.#refused) return same({ is: 'refused', ...this.#refused })
    if (!this.provider.wsconnected || !this.provider.synced) {
      if (this.#paused || !navigator.onLine) return same({ is: 'offline' })
      if (this.#lastClose === 1012) return same({ is: 'restarting' })
      if (this.#lastClose === 1013) return same({ is: 'full' })
      return same({ is: this.#wasOnline || this.#lastClose !== 0 ? 'offline' : 'connecting' })
    }
    if (this.#notices.has('read-only')) return same({ is: 'read-only' })
    if (this.#notices.has('behind')) return same({ is: 'behind' })
    if (this.#notices.has('limited')) return same({ is: 'limited' })
    if (this.#notices.has('degraded')) return same({ is: 'slowed' })
    return same({ is: 'connected' })
  }
}
