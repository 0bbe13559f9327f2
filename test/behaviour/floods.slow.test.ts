import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { BusyReport } from '../support/busy-rooms.ts'
import { startServerProcess } from '../support/process.ts'
import { reporter } from '../support/reporter.ts'

const ROOMS = 5
const ATTACKERS = 21
const ATTACK_MS = 30_000

test('[SP5] 21 attackers flood with all that costs no token and come back whenever they are closed: other rooms hardly notice', {
  timeout: 90_000,
}, async (t) => {
  const server = await startServerProcess(t)
  const busy = await reporter<BusyReport>(t, 'test/support/busy-rooms.ts', server.port, ROOMS)
  await sleep(5_000)
  const before = await busy()
  const attack = await reporter<{ frames: number; closes: number }>(
    t,
    'test/support/flood-clients.ts',
    server.port,
    ATTACKERS,
  )
  // The first moments on their own: what comes with them is the worst.
  await sleep(ATTACK_MS)
  const during = await busy()
  const sent = await attack()
  if (process.env.TEST_FIGURES) console.log({ before, during, sent })
  expect(sent.closes).toBeGreaterThan(ATTACKERS)
  expect(await server.metric('ws_floods_total{scope="address"}')).toBeGreaterThan(0)
  expect(during.closes).toBe(0)
  expect(during.edits).toBeGreaterThan((ROOMS * ATTACK_MS) / 100 / 2)
  // What this machine makes of five rooms without an attack, and what the reporting process itself stood still, is not the server's.
  expect(during.p99).toBeLessThan(50 + before.p99)
  expect(during.worst).toBeLessThan(150 + Math.max(before.worst, during.own))
})
