/** Hocuspocus with its defaults and no storage, the newest major that this Node runs. */
const major = process.env.HOCUSPOCUS_MAJOR
const port = Number(process.env.PORT)
const { Server } = await import(`hocuspocus-${major}`)
const server = new Server({ port, address: '127.0.0.1', quiet: true, stopOnSignals: false })
if (major === '3') {
  // Its `listen` ignores the address and takes every interface.
  server.httpServer.listen(port, '127.0.0.1')
} else {
  await server.listen()
}
