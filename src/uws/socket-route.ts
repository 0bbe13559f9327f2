/**
 * Sockets, at the uWS edge: copies what the upgrade said, makes a sink, and hands every event to the peer. Nothing thrown
 * by a peer reaches uWS, where it would become an uncaught exception.
 */
import type { TemplatedApp, WebSocket } from 'uWebSockets.js'
import type { Peer, Upgrade, Welcome } from '../inbound/upgrade.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { copyHeaders } from './headers.ts'
import { SocketSink } from './socket-sink.ts'

export interface SocketRouteOptions {
  /** Frames up to this reach the peer, which answers a too large one with a close code; longer ones are cut by uWS. */
  readonly maxPayloadBytes: number
  readonly idleTimeoutS: number
  /** A backstop far above the outbox's limits: uWS must never drop a frame for us. */
  readonly maxBackpressureBytes: number
  readonly welcome: (upgrade: Upgrade) => Welcome | null
  /** A socket has closed; called once for each that was opened. */
  readonly closed: () => void
  readonly onError: (error: unknown) => void
}

interface UserData {
  /** Null once the peer is made: it would keep the whole upgrade. */
  welcome: Welcome | null
  peer: Peer | null
  sink: SocketSink | null
}

const text = new TextDecoder()

export function socketRoute(app: TemplatedApp, options: SocketRouteOptions): void {
  const guarded = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      options.onError(error)
    }
  }
  /** The client whose event it was pays for what is thrown. */
  const guardedFor = (socket: WebSocket<UserData>, work: (peer: Peer) => void): void => {
    const peer = peerOf(socket)
    if (peer === null) return
    try {
      work(peer)
    } catch (error) {
      options.onError(error)
      peer.failed(error)
    }
  }
  const peerOf = (socket: WebSocket<UserData>): Peer | null => socket.getUserData().peer

  app.ws<UserData>('/*', {
    compression: 0,
    maxPayloadLength: options.maxPayloadBytes,
    maxBackpressure: options.maxBackpressureBytes,
    idleTimeout: options.idleTimeoutS,
    sendPingsAutomatically: true,

    upgrade: (res, req, context) =>
      guarded(() => {
        const header = copyHeaders(req)
        const welcome = options.welcome({
          path: req.getUrl(),
          query: req.getQuery(),
          peer: text.decode(res.getRemoteAddressAsText()),
          origin: header('origin'),
          host: header('host'),
          forwardedHost: header('x-forwarded-host'),
          forwardedFor: header('x-forwarded-for'),
          authorization: header('authorization'),
          protocols: header('sec-websocket-protocol'),
        })
        if (welcome === null) {
          res
            .writeStatus('503 Service Unavailable')
            .writeHeader('retry-after', '2')
            .end('not accepting sockets\n', true)
          return
        }
        const data: UserData = { welcome, peer: null, sink: null }
        res.upgrade(
          data,
          header('sec-websocket-key'),
          welcome.subprotocol ?? '',
          header('sec-websocket-extensions'),
          context,
        )
      }),
    open: (socket) => {
      const data = socket.getUserData()
      const sink = new SocketSink(socket as WebSocket<unknown>)
      data.sink = sink
      try {
        data.peer = data.welcome?.peer(sink) ?? null
        data.welcome = null
        data.peer?.open()
      } catch (error) {
        options.onError(error)
        if (data.peer === null) sink.close(CLOSE.internalError)
        else data.peer.failed(error)
      }
    },
    // Not through `guarded`: a closure for each of thousands of frames a second.
    message: (socket, message, isBinary) => {
      const { peer } = socket.getUserData()
      try {
        peer?.receive(new Uint8Array(message), isBinary)
      } catch (error) {
        options.onError(error)
        peer?.failed(error)
      }
    },
    drain: (socket) => guardedFor(socket, (peer) => peer.drained()),
    // uWS has put the pong behind what the client does not read: nobody else looks at an otherwise quiet socket.
    ping: (socket, message) => guardedFor(socket, (peer) => peer.pinged(message.byteLength)),
    pong: (socket) => guardedFor(socket, (peer) => peer.ponged()),
    close: (socket, code, message) =>
      guarded(() => {
        options.closed()
        const { sink, peer } = socket.getUserData()
        sink?.gone()
        peer?.closed(code, text.decode(message) === 'Received too big message')
      }),
  })
}
