/**
 * The floor: a uWebSockets.js relay that knows nothing of Yjs. Every frame of a room goes to the others as it came, by
 * `publish`, which uWS batches per loop turn. No state, no limits: a joiner gets nothing.
 */
import uWS from 'uWebSockets.js'

const MiB = 1024 * 1024

uWS
  .App()
  .ws('/*', {
    compression: 0,
    maxPayloadLength: 32 * MiB,
    // So that a slow moment queues instead of dropping frames, as it does for the other servers.
    maxBackpressure: 64 * MiB,
    idleTimeout: 120,
    upgrade: (res, req, context) => {
      res.upgrade(
        { room: req.getUrl() },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      )
    },
    open: (socket) => {
      socket.subscribe(socket.getUserData().room)
    },
    message: (socket, message) => {
      socket.publish(socket.getUserData().room, message, true)
    },
  })
  .listen('127.0.0.1', Number(process.env.PORT), (socket) => {
    if (!socket) process.exit(1)
  })
