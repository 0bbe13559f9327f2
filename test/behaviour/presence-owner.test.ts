/** A presence id belongs to its last owner through a reconnect, whoever claims it meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, type TestContext, test } from 'vitest'
import { SECRET, token } from '../support/access.ts'
import { type RawClient, type RawOptions, rawClient } from '../support/raw-client.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { until } from '../support/until.ts'

const ID = 50
const who = (witness: RawClient): unknown => (witness.presence().get(ID)?.state as { name?: unknown })?.name

/** How people are told apart: by the subject of a token, or by address behind a proxy. */
const kinds = [
  ['subjects', { authJwtSecret: SECRET }],
  ['addresses', { trustedProxyHops: 1 }],
] as const

async function scene(t: TestContext, kind: 'subjects' | 'addresses') {
  const server = await startServer(t, Object.fromEntries(kinds)[kind])
  const people = new Map<string, number>()
  /** Connects as a stock client does: its question, then itself at this clock. */
  const come = async (name: string, clock: number, options: RawOptions = {}): Promise<RawClient> => {
    if (!people.has(name)) people.set(name, people.size + 1)
    const query = kind === 'subjects' ? `?token=${await token({ sub: name })}` : ''
    const headers = { 'x-forwarded-for': `192.0.2.${people.get(name)}` }
    const client = await rawClient(t, server.port, `board${query}`, { headers, ...options })
    client.sendStep1()
    if (clock > 0) client.sendPresence([ID, clock, { name }])
    return client
  }
  const witness = await come('witness', 0)
  return { server, come, witness }
}
const gone = async (server: TestServer, left: number): Promise<void> =>
  until(async () => (await server.metric('ws_active_sockets')) === left, 'it is gone')

for (const [kind] of kinds) {
  test(`[PR1] by ${kind}: an id that a stranger took while its owner was away is the owner's again at once`, async (t) => {
    const { server, come, witness } = await scene(t, kind)
    const ann = await come('ann', 5)
    await until(() => who(witness) === 'ann', 'Ann is seen')
    ann.reset()
    await gone(server, 1)
    const stranger = await come('mallory', 9)
    await until(() => who(witness) === 'mallory', 'somebody has her id')
    const back = await come('ann', 5)
    // As a stock client does: the null that it is sent for its own id makes it announce itself anew.
    await until(() => back.frames.some(({ kind: what }) => what === 'presence'), 'she is told the clock')
    back.sendPresence([ID, 10, { name: 'ann' }])
    await until(() => who(witness) === 'ann', 'Ann is back', 6_000)
    stranger.sendPresence([ID, 11, { name: 'mallory' }])
    await until(
      async () => (await server.metric('ws_presence_refused_total{reason="not_owner"}')) > 0,
      'the stranger is refused',
    )
    expect(who(witness)).toBe('ann')
  })

  test(`[PR1] by ${kind}: who claims the id of a half-open connection does not keep it from its owner, before or after`, async (t) => {
    const { server, come, witness } = await scene(t, kind)
    await come('ann', 5, { pongs: false })
    await until(() => who(witness) === 'ann', 'Ann is seen')
    // The claim of a stranger waits for a pong that never comes; hers takes its place.
    const stranger = await come('mallory', 9)
    await sleep(300)
    const twin = await come('ann', 6, { pongs: false })
    await until(() => witness.presence().get(ID)?.clock === 6, 'her own claim is granted', 4_000)
    expect(who(witness)).toBe('ann')
    // Her second connection is half-open as well: this time the stranger has the id when she comes.
    stranger.sendPresence([ID, 12, { name: 'mallory' }])
    await until(() => who(witness) === 'mallory', 'the stranger has it', 4_000)
    const back = await come('ann', 6)
    await until(() => back.frames.some(({ kind: what }) => what === 'presence'), 'she is told the clock')
    back.sendPresence([ID, 13, { name: 'ann' }])
    await until(() => who(witness) === 'ann', 'Ann is back', 6_000)
    expect([twin.isOver, await server.metric('ws_active_sockets')]).toEqual([false, 5])
  })
}
