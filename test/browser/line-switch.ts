/** A wire between the browser and the server that a test can cut or freeze; pages are still served while sockets are refused. */
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { TestContext } from 'vitest'

export interface LineSwitch {
  readonly httpUrl: string
  /** Resets every WebSocket and refuses new ones. */
  cut(): void
  /** Lets nothing through in either direction and closes nothing: a network that is simply gone. */
  freeze(): void
  restore(): void
}

export async function lineSwitch(t: Pick<TestContext, 'onTestFinished'>, port: number): Promise<LineSwitch> {
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const webSockets = new Set<[Socket, Socket]>()
  const all = new Set<Socket>()
  const server = createServer((near) => {
    all.add(near)
    near.on('error', () => {})
    near.on('close', () => all.delete(near))
    near.once('data', (first) => {
      const isWebSocket = /upgrade: websocket/i.test(first.toString('latin1'))
      if (isWebSocket && state === 'cut') {
        near.resetAndDestroy()
        return
      }
      const far = connect(port, '127.0.0.1')
      all.add(far)
      far.write(first)
      near.pipe(far)
      far.pipe(near)
      far.on('error', () => near.destroy())
      far.on('close', () => near.destroy())
      near.on('close', () => far.destroy())
      if (!isWebSocket) return
      const pair: [Socket, Socket] = [near, far]
      webSockets.add(pair)
      near.on('close', () => webSockets.delete(pair))
      if (state === 'frozen') for (const socket of pair) still(socket)
    })
  })
  const still = (socket: Socket) => {
    socket.unpipe()
    socket.pause()
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.onTestFinished(() => {
    for (const socket of all) socket.destroy()
    return new Promise<void>((done) => server.close(() => done()))
  })
  return {
    httpUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    cut() {
      state = 'cut'
      for (const [near, far] of webSockets) {
        near.resetAndDestroy()
        far.resetAndDestroy()
      }
    },
    freeze() {
      state = 'frozen'
      for (const pair of webSockets) for (const socket of pair) still(socket)
    },
    restore() {
      if (state === 'frozen') for (const pair of webSockets) for (const socket of pair) socket.destroy()
      state = 'open'
    },
  }
}
