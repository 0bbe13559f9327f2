import type { TestContext } from 'vitest'
import WebSocket from 'ws'
import type { Awareness } from 'y-protocols/awareness'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { until } from './until.ts'

export interface StockClient {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly provider: WebsocketProvider
  /** Sockets this client has opened so far: 1 means that it never reconnected. */
  readonly connections: () => number
  /** Its socket now. */
  readonly socket: () => WebSocket
  synced(): Promise<void>
}

export interface StockOptions {
  readonly params?: Record<string, string>
  readonly doc?: Y.Doc
  readonly connect?: boolean
  /** A loopback address of its own: what is counted by address is then this client's alone. */
  readonly localAddress?: string
}

/** The stock y-websocket provider on `ws` sockets, torn down when the test is over. */
export function stockClient(
  t: Pick<TestContext, 'onTestFinished'>,
  url: string,
  room: string,
  options: StockOptions = {},
): StockClient {
  const doc = options.doc ?? new Y.Doc()
  let count = 0
  let latest: WebSocket | undefined
  class CountingSocket extends WebSocket {
    constructor(address: string, protocols?: string[]) {
      super(address, protocols, options.localAddress === undefined ? {} : { localAddress: options.localAddress })
      count++
      latest = this
      // Refusals are the test's business; without a listener `ws` would throw.
      this.on('error', () => {})
    }
  }
  const provider = new WebsocketProvider(url, room, doc, {
    WebSocketPolyfill: CountingSocket as never,
    disableBc: true,
    params: options.params ?? {},
    connect: options.connect ?? true,
  })
  t.onTestFinished(() => {
    provider.destroy()
    latest?.terminate()
  })
  return {
    doc,
    awareness: provider.awareness,
    provider,
    connections: () => count,
    socket: () => latest!,
    synced: () => until(() => provider.synced, 'provider is synced'),
  }
}
