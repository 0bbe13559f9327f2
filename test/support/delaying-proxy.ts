import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'vitest'

/** A way to `port` that takes `delayMs` in each direction, whatever the bandwidth; gives back its own port. Ends are passed on. */
export async function delayingProxy(
  t: Pick<TestContext, 'onTestFinished'>,
  port: number,
  delayMs: number,
): Promise<number> {
  const open = new Set<Socket>()
  const pass = (from: Socket, to: Socket): void => {
    open.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs))
    from.on('error', () => {})
    from.on('close', () => {
      open.delete(from)
      setTimeout(() => to.destroy(), delayMs)
    })
  }
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    pass(client, server)
    pass(server, client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.onTestFinished(() => {
    proxy.close()
    for (const socket of open) socket.destroy()
  })
  return (proxy.address() as AddressInfo).port
}
