import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { keyServer, token } from '../support/access.ts'
import { startServerProcess } from '../support/process.ts'
import { rawMember, upgradeRequest } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const UPGRADES = 1000
const AT_ONCE = 50

// Every process that is started listens for the end of this one.
process.setMaxListeners(0)

test('[OP5] [AC1] 1 000 upgrades reset 0-5 ms after they were sent, with a slow key server, leave nothing behind', async (t) => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const slow = await keyServer(t)
  slow.keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'known' }]
  slow.delayMs = 1000
  const server = await startServerProcess(t, { AUTH_JWKS_URL: slow.url, MAX_CONNECTIONS_PER_IP: '2000' })
  const metric = async (name: string): Promise<number> => {
    const page = await (
      await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { connection: 'close' } })
    ).text()
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    )
  }
  const descriptors = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length
  const jwt = (claims: object = {}, kid = 'known') =>
    token({ ...claims }, { key: pair.privateKey, header: { alg: 'ES256', kid } })
  // In front of a closed door (no keys yet), while a key nobody knows is asked for, and with the keys there.
  const tokens = await Promise.all([jwt(), jwt({}, 'unknown'), jwt({ rooms: [] }), Promise.resolve('garbage')])

  let sent = 0
  const visit = (i: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => {
        const head = upgradeRequest(server.port, `board-${i % 10}?token=${tokens[i % tokens.length]}`)
        // Every seventh is cut in the middle of its request.
        socket.write(i % 7 === 0 ? head.subarray(0, head.length - 20) : head)
        sent++
        setTimeout(() => socket.resetAndDestroy(), i % 6)
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  await until(async () => (await metric('ws_active_sockets')) === 0, 'it answers')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = descriptors()
  for (let i = 0; i < UPGRADES; i += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => visit(i + k)))

  expect(sent).toBe(UPGRADES)
  await until(async () => (await metric('ws_active_sockets')) === 0, 'all sockets are gone')
  await until(() => descriptors() <= before, 'all descriptors are given back')
  await until(async () => (await metric('rooms_active')) === 0, 'all rooms are gone', 15_000)
  // The places too: as many as ever find one.
  const members = await Promise.all(
    Array.from({ length: 50 }, () => rawMember(t, server.port, `board?token=${tokens[0]}`)),
  )
  expect(members.every(({ isOver }) => !isOver)).toBe(true)
  expect(server.child.exitCode).toBeNull()
  // pino's levels: 50 is error.
  const complaints = server.output().split('\n')
  expect(complaints.filter((line) => /"level":[56]0/.test(line) || /^\s+at /.test(line))).toEqual([])
}, 60_000)
