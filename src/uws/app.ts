/** The uWS application: made, listening, closed. */
import uWS, { type ListenOptions, type TemplatedApp, type us_listen_socket } from 'uWebSockets.js'

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export function createApp(tls: TlsFiles | null): TemplatedApp {
  return tls === null ? uWS.App() : uWS.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
}

export interface Listening {
  readonly port: number
  /** Takes no more connections; those that are open stay. */
  stop(): void
}

/** In the types it is an enum's member; the module has it at the top. */
const { LIBUS_LISTEN_EXCLUSIVE_PORT } = uWS as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions }

/** The types leave out the overload with a host and options. */
type Listen = (
  host: string,
  port: number,
  options: ListenOptions,
  done: (socket: us_listen_socket | false) => void,
) => TemplatedApp

/**
 * Listens on one address alone: a second server on the same port fails instead of getting half of the clients. Rejects
 * when the address cannot be had.
 */
export function listen(app: TemplatedApp, host: string, port: number): Promise<Listening> {
  return new Promise((resolve, reject) => {
    ;(app.listen as unknown as Listen).call(app, host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}: the address is in use or not this machine's`))
        return
      }
      let isOpen = true
      resolve({
        port: uWS.us_socket_local_port(socket as never),
        stop: () => {
          if (isOpen) uWS.us_listen_socket_close(socket)
          isOpen = false
        },
      })
    })
  })
}
