/**
 * Where the server listens: a uWS application, replaced as a whole when its certificate is. Sockets of an earlier
 * application live on; only new connections meet the new one.
 */
import './request-head.ts'
import uWS, { type HttpResponse, type ListenOptions, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js'
import type { Lingering } from '../budget/lingering.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'

/** In the types it is an enum's member; the module has it at the top. */
const { LIBUS_LISTEN_EXCLUSIVE_PORT } = uWS as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions }

/** Somebody else may take a chosen port in the moment in which it is free again. */
const FREE_PORT_TRIES = 5

/**
 * Counting descriptors takes microseconds, or, before Linux 6.2, a walk of them all: 10 ms where there are 20 000, and it is
 * asked at every accept while anybody lingers. A count is used again for this many times what it took.
 */
const COUNT_AGAIN_AFTER = 20

/** The types leave out the overload with a host and options. */
type Listen = (
  host: string,
  port: number,
  options: ListenOptions,
  done: (socket: us_listen_socket | false) => void,
) => TemplatedApp

export interface EndpointOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly tls: TlsFiles | null
  /** Most TCP connections, those included that are no WebSocket (yet): more are cut as they come. At the descriptor limit
   *  itself accepting spins at 100 % CPU. */
  readonly maxSockets: number
  /** Sockets that were ended as WebSockets: they may be connected still. */
  readonly lingering: Lingering
  /** Descriptors this process has beyond those it had at start; null where the system does not say. */
  readonly countDescriptors: (() => number) | null
  /** Clock ms. */
  readonly now: () => number
  /** Puts the routes on an application; called for each that is made. */
  readonly mount: (app: TemplatedApp) => void
}

export class Endpoint {
  readonly #options: EndpointOptions
  readonly #apps: TemplatedApp[] = []
  #listening: us_listen_socket | null = null
  #open = 0
  /** WebSockets that have closed since descriptors were counted: any of them may linger. */
  #endedSince = 0
  port = 0
  /** When the certificate ends, epoch ms; null without TLS. */
  certificateEndsAt: number | null = null

  constructor(options: EndpointOptions) {
    this.#options = options
    const { lingering, countDescriptors } = options
    if (countDescriptors === null) return
    let lingered = 0
    let usedUntil = Number.NEGATIVE_INFINITY
    lingering.actual = () => {
      const now = options.now()
      if (now < usedUntil) return lingered + this.#endedSince
      lingered = Math.max(0, countDescriptors() - this.#open)
      this.#endedSince = 0
      const then = options.now()
      usedUntil = then + (then - now) * COUNT_AGAIN_AFTER
      return lingered
    }
  }

  /**
   * Listens on one address alone: a second server on the same port fails instead of getting half of the clients. Rejects
   * when the address cannot be had or the certificate not be used.
   */
  async listen(): Promise<void> {
    const { host, port } = this.#options
    const app = this.#createApp()
    if (!(port === 0 ? this.#listenOnFreePort(app) : this.#listenWith(app, port))) {
      app.close()
      throw new Error(`cannot listen on ${host}:${port}: the address is in use or not this machine's`)
    }
    this.#apps.push(app)
  }

  /**
   * Reads the certificate files again and serves them to new connections; nobody is cut. Throws when they cannot be used:
   * the old ones stay. False: there is no certificate here.
   */
  reload(): boolean {
    if (this.#options.tls === null || this.#listening === null) return false
    const app = this.#createApp()
    // In one turn: the kernel refuses what comes in between, a fraction of a millisecond.
    this.stop()
    if (!this.#listenWith(app, this.port)) {
      app.close()
      this.#listenWith(this.#apps.at(-1)!, this.port)
      throw new Error(`cannot listen on port ${this.port} again`)
    }
    this.#apps.push(app)
    return true
  }

  /** Takes no more connections; those that are open stay. */
  stop(): void {
    if (this.#listening !== null) uWS.us_listen_socket_close(this.#listening)
    this.#listening = null
  }

  /** Cuts everybody who is left. */
  close(): void {
    this.stop()
    for (const app of this.#apps) app.close()
  }

  /** TCP connections, as far as is known. */
  get sockets(): number {
    return this.#open + this.#options.lingering.total
  }

  /** A WebSocket has closed: the filter is told of every other end of a connection, but not of this one. */
  readonly socketClosed = (): void => {
    this.#open--
    this.#endedSince++
  }

  #createApp(): TemplatedApp {
    const { tls, maxSockets, mount } = this.#options
    this.certificateEndsAt = tls === null ? null : readTlsFiles(tls).endsAt
    const app = tls === null ? uWS.App() : uWS.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
    const countSockets = (res: HttpResponse, change: number): void => {
      this.#open += change
      if (change > 0 && this.sockets > maxSockets) res.close()
    }
    app.filter(countSockets as Parameters<TemplatedApp['filter']>[0])
    mount(app)
    return app
  }

  /**
   * The system chooses the port, which is then listened on by its number: uSockets sets SO_REUSEADDR only on a port that was
   * named, and without it none can be listened on again while anybody is connected (see reload).
   */
  #listenOnFreePort(app: TemplatedApp): boolean {
    for (let i = 0; i < FREE_PORT_TRIES; i++) {
      if (!this.#listenWith(app, 0)) return false
      this.stop()
      if (this.#listenWith(app, this.port)) return true
    }
    return false
  }

  #listenWith(app: TemplatedApp, port: number): boolean {
    let isListening = false
    ;(app.listen as unknown as Listen).call(app, this.#options.host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) return
      isListening = true
      this.#listening = socket
      this.port = uWS.us_socket_local_port(socket as never)
    })
    return isListening
  }
}
