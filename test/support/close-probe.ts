/**
 * Run as a process: makes a server, uses it, closes it, fails to start some, and reports which timers, sockets and other handles were made
 * since and are still there. Then it must end by itself.
 */
import { createHook } from 'node:async_hooks'
import pino from 'pino'
import WebSocket from 'ws'
import { createServer } from '../../src/server.ts'

/** The server's timers do not keep the process alive, so that `getActiveResourcesInfo` alone would see none of them. */
const alive = new Map<number, string>()
createHook({
  init(id, type) {
    if (type === 'Timeout' || type === 'Immediate' || type.endsWith('WRAP')) alive.set(id, type)
  },
  destroy(id) {
    alive.delete(id)
  },
}).enable()

const log = pino({ level: 'silent' })
const server = createServer({ port: 0, storage: 'memory', roomIdleMs: 60_000, shutdownGraceMs: 3000 }, { log })
const { port } = await server.listen()
const sockets = Array.from({ length: 3 }, (_, i) => new WebSocket(`ws://127.0.0.1:${port}/room-${i}`))
await Promise.all(
  sockets.map(async (socket) => {
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(Uint8Array.of(0, 0, 1, 0))
    await new Promise((resolve) => socket.once('message', resolve))
  }),
)
const during = [...alive.values()].filter((type) => type === 'Timeout').length
const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
// Those that cannot start leave nothing either: no certificate, no store, no port.
const failing = [
  createServer({ tlsCertFile: '/nowhere', tlsKeyFile: '/nowhere' }, { log }),
  createServer({ port: 0 }, { log, openStorage: () => Promise.reject(new Error('no store')) }),
  createServer({ port, storage: 'memory' }, { log }),
]
const started = (await Promise.allSettled(failing.map((one) => one.listen()))).filter(
  (one) => one.status !== 'rejected',
)
await server.close()
await ended

// Closed handles are destroyed in later turns, and some only when they are collected.
for (let i = 0; i < 20; i++) {
  globalThis.gc?.()
  await new Promise((resolve) => process.nextTick(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}
process.once('exit', () => {
  const left = [...alive.values()].filter((type) => type === 'Timeout' || type === 'Immediate')
  console.log(
    JSON.stringify({ started: started.length, during, left, resources: process.getActiveResourcesInfo(), port }),
  )
})
