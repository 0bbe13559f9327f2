import { expect, test } from 'vitest'
import { rawMember } from '../support/raw-client.ts'
import { startServer } from '../support/start-server.ts'
import { stockClient } from '../support/stock-client.ts'

/** Stock clients hang up after 30 s without an application frame. */
const WATCH_MS = 45_000
const LONGEST_SILENCE_MS = 25_000

test('[FR5] lone idle clients keep their one connection: with presence, with none, and a bare one hears something every 25 s', async (t) => {
  const server = await startServer(t)
  const present = stockClient(t, server.url, 'present')
  const cleared = stockClient(t, server.url, 'cleared')
  cleared.awareness.setLocalState(null)
  const bare = await rawMember(t, server.port, 'bare')
  await Promise.all([present.synced(), cleared.synced()])
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS))

  expect([present.connections(), cleared.connections()]).toEqual([1, 1])
  expect([present.provider.wsconnected, cleared.provider.wsconnected]).toEqual([true, true])
  const heard = [began, ...bare.frames.map(({ at }) => at).filter((at) => at > began), performance.now()]
  const silences = heard.slice(1).map((at, i) => at - heard[i]!)
  expect(Math.max(...silences)).toBeLessThanOrEqual(LONGEST_SILENCE_MS)
  expect(bare.isOver).toBe(false)
  expect(cleared.awareness.getStates().size).toBe(0)
})
