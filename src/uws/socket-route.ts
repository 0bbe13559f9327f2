/**
 * Sockets, at the uWS edge: copies what the upgrade said, makes a sink, and hands every event to the peer. Nothing thrown
 * by a peer reaches uWS, where it would become an uncaught exception.
 *
 * How long a message a socket takes is a property of the uWS context it is upgraded into: an unfinished message lies in uWS,
 * unseen, so whoever is only there to be refused gets a context that cuts early.
 */
import type { HttpResponse, TemplatedApp, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import type { Answer, Guest, Peer, Turned, Upgrade, Welcome } from '../inbound/upgrade.ts'
import type { Clock } from '../observe/clock.ts'
import { CLOSE } from '../protocol/close-reasons.ts'
import { copyHeaders } from './headers.ts'
import { SocketSink } from './socket-sink.ts'

export interface SocketRouteOptions {
  readonly clock: Clock
  /**
   * Frames up to this reach the peer, in a long place, which answers a too large one with a close code; longer ones are cut by
   * uWS.
   */
  readonly maxPayloadBytes: number
  /** The same in a short place, which has no answer but the cut. */
  readonly shortPayloadBytes: number
  readonly idleTimeoutS: number
  /** A backstop far above the outbox's limits: uWS must never drop a frame for us. */
  readonly maxBackpressureBytes: number
  readonly welcome: (upgrade: Upgrade) => Answer | Promise<Answer>
  /** A socket has closed; called once for each that was opened. */
  readonly closed: () => void
  readonly onError: (error: unknown) => void
}

interface UserData {
  /** Null once the peer is made: it would keep the whole upgrade. */
  welcome: Welcome | null
  peer: Guest | null
  sink: SocketSink | null
}

const text = new TextDecoder()

/**
 * Longest message of a client that is refused, bytes: its SyncStep1, which it sends before it reads the close frame. A state
 * vector of 20 000 authors.
 */
const REFUSED_MAX_PAYLOAD_BYTES = 262_144
/** The least that uWS allows, s. One that does not answer the close frame is cut after 4 to 8 s instead of 16 to 20. */
const REFUSED_IDLE_TIMEOUT_S = 8
/** When a refused client may try again, s: in the text of the answer, for programs; stock clients have a back-off of their own. */
const RETRY_AFTER_S = '2'

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
    const { peer } = socket.getUserData()
    if (peer === null) return
    try {
      work(peer)
    } catch (error) {
      options.onError(error)
      peer.failed(error)
    }
  }

  /** Some socket that is open, or null: see `Corking`. */
  let lender: WebSocket<UserData> | null = null
  const corking: Corking = (res, work) => {
    if (lender === null) work()
    else lender.cork(() => res.cork(work))
  }

  const events: WebSocketBehavior<UserData> = {
    compression: 0,
    maxBackpressure: options.maxBackpressureBytes,
    sendPingsAutomatically: true,
    open: (socket) => {
      lender ??= socket
      const data = socket.getUserData()
      const { welcome } = data
      const sink = new SocketSink(socket as WebSocket<unknown>, options.clock, data)
      data.sink = sink
      data.welcome = null
      try {
        data.peer = welcome?.peer(sink) ?? null
        data.peer?.open()
      } catch (error) {
        options.onError(error)
        if (data.peer !== null) data.peer.failed(error)
        else {
          welcome?.aborted()
          sink.close(CLOSE.internalError)
        }
      }
    },
    // Not through `guarded`: a closure for each of thousands of frames a second.
    message: (socket, message, isBinary) => {
      lender ??= socket
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
    close: (socket, code, message) => {
      if (lender === socket) lender = null
      guarded(() => {
        options.closed()
        const { sink, peer } = socket.getUserData()
        sink?.gone()
        peer?.closed(code, text.decode(message) === 'Received too big message')
      })
    },
  }

  /**
   * Contexts that take less; known from the first upgrade on whose path has a segment, as every room's has. Their patterns
   * match before the one below; uWS replaces a route that is named twice, so each has a name of its own.
   */
  const contexts: Partial<Record<Welcome['takes'], us_socket_context_t>> = {}
  const declare = (takes: Welcome['takes'], maxPayloadLength: number, idleTimeout: number): void => {
    for (const pattern of [`/:${takes}`, `/:${takes}/*`]) {
      app.ws<UserData>(pattern, {
        ...events,
        maxPayloadLength,
        idleTimeout,
        upgrade: (_res, req, context) => {
          contexts[takes] = context
          req.setYield(true)
        },
      })
    }
  }
  declare('refused', REFUSED_MAX_PAYLOAD_BYTES, REFUSED_IDLE_TIMEOUT_S)
  declare('short', options.shortPayloadBytes, options.idleTimeoutS)

  app.ws<UserData>('/*', {
    ...events,
    maxPayloadLength: options.maxPayloadBytes,
    idleTimeout: options.idleTimeoutS,
    upgrade: (res, req, context) => {
      let isAnswered = false
      const reply = (answer: Answer): void => {
        isAnswered = true
        if (answer.kind === 'turned') turn(res, answer)
        else {
          const data: UserData = { welcome: answer, peer: null, sink: null }
          const into = contexts[answer.takes] ?? context
          res.upgrade(data, key, answer.subprotocol ?? '', extensions, into)
        }
      }
      // uWS ends the process when a request is left without an answer.
      const failed = (error: unknown): void => {
        options.onError(error)
        if (!isAnswered) reply({ kind: 'turned', status: 500, text: 'internal error' })
      }
      const header = copyHeaders(req)
      const key = header('sec-websocket-key')
      const extensions = header('sec-websocket-extensions')
      try {
        const answer = options.welcome({
          path: req.getUrl(),
          query: req.getQuery() ?? '',
          peer: text.decode(res.getRemoteAddressAsText()),
          origin: header('origin'),
          host: header('host'),
          forwardedHost: header('x-forwarded-host'),
          forwardedFor: header('x-forwarded-for'),
          authorization: header('authorization'),
          protocols: header('sec-websocket-protocol'),
        })
        if (answer instanceof Promise) later(res, answer, reply, failed, corking, options.onError)
        else reply(answer)
      } catch (error) {
        failed(error)
      }
    },
  })
}

/**
 * Runs an upgrade inside of its response's cork, and that inside of another socket's. An upgrade in a later turn must be inside of its response's cork, or uWS complains of it on
 * standard error; and as that cork ends uWS takes the new WebSocket for the response it has been, when its memory could stay where it
 * was, reads its state out of what is a WebSocket by then, and may close it. Inside of another socket's cork the response's own is
 * none: nothing is done at its end. While no other is open the complaint is the lesser evil.
 */
type Corking = (res: HttpResponse, work: () => void) => void

/** Answers an upgrade that could not be answered at once, unless its connection is gone by then. */
function later(
  res: HttpResponse,
  answer: Promise<Answer>,
  reply: (answer: Answer) => void,
  failed: (error: unknown) => void,
  corking: Corking,
  onError: (error: unknown) => void,
): void {
  let isAborted = false
  res.onAborted(() => {
    isAborted = true
  })
  const corked = (work: () => void): void => {
    if (!isAborted) res.cork(work)
  }
  answer
    .then((known) => {
      if (known.kind !== 'welcome') corked(() => reply(known))
      else if (isAborted) known.aborted()
      else corking(res, () => reply(known))
    })
    .catch((error: unknown) => corked(() => failed(error)))
    .catch(onError)
}

/** An answer instead of an upgrade. The connection is closed with it, and its descriptor free at once. */
function turn(res: HttpResponse, { status, text }: Turned): void {
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? ''}`)
  if (status === 503) res.writeHeader('retry-after', RETRY_AFTER_S)
  res.writeHeader('content-type', 'text/plain; charset=utf-8').end(`${text}\n`, true)
}
