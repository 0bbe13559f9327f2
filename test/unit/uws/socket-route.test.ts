/** The order of calls into uWS, where doing it otherwise goes wrong once in a thousand times and depends on what lies in memory. */
import { expect, test } from 'vitest'
import type { Answer } from '../../../src/inbound/upgrade.ts'
import { socketRoute } from '../../../src/uws/socket-route.ts'
import { HeldClock } from '../../support/held-clock.ts'

/** What is called of a response, with whether it was called inside of its `cork`, and of that of a socket that was open before. */
async function callsFor(answer: Answer, { isAnybodyThere = false } = {}): Promise<string[]> {
  const calls: string[] = []
  let isCorked = false
  let isLent = false
  const other = {
    getUserData: () => ({ welcome: null }),
    cork: (work: () => void) => {
      isLent = true
      work()
      isLent = false
    },
  }
  const res: object = new Proxy({}, {
    get: (_, name) => (...args: unknown[]) => {
      if (name === 'getRemoteAddressAsText') return new Uint8Array()
      if (name === 'cork') {
        isCorked = true
        ;(args[0] as () => void)()
        isCorked = false
      } else if (name !== 'onAborted') calls.push(`${String(name)}${isCorked ? ' corked' : ''}${isLent ? ' beside another' : ''}`)
      return res
    },
  }) // biome-ignore format: one call
  const req = { getUrl: () => '/board', getQuery: () => '', forEach: () => {} }
  const app = {
    ws: (pattern: string, { upgrade, open }: Record<'upgrade' | 'open', (...of: unknown[]) => void>) => {
      if (pattern !== '/*') return
      if (isAnybodyThere) open(other)
      upgrade(res, req, {})
    },
  }
  socketRoute(app as never, {
    clock: new HeldClock(),
    maxPayloadBytes: 1,
    shortPayloadBytes: 1,
    idleTimeoutS: 8,
    maxBackpressureBytes: 1,
    welcome: () => Promise.resolve(answer),
    closed: () => {},
    onError: (error) => {
      throw error
    },
  })
  await new Promise((resolve) => setImmediate(resolve))
  return calls
}

// Clients with a token lost a connection in a thousand, on a server just started one in ten, right after the 101: as the cork
// ended, uWS took the new WebSocket for the response it had been and closed it.
test('[FR1] an upgrade in a later turn is corked only inside of another socket’s cork, where its own is none', async () => {
  const peer = (): never => {
    throw new Error('there is no socket here')
  }
  const welcome: Answer = { kind: 'welcome', subprotocol: null, takes: 'short', peer, aborted: () => {} }
  expect(await callsFor(welcome, { isAnybodyThere: true })).toEqual(['upgrade corked beside another'])
  expect(await callsFor(welcome)).toEqual(['upgrade'])
})

test('an answer over HTTP is written in one go', async () => {
  const calls = await callsFor({ kind: 'turned', status: 401, text: 'no' })
  expect(calls).toEqual(['writeStatus corked', 'writeHeader corked', 'end corked'])
})
