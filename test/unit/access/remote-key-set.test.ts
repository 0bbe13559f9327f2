import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, type JWK, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAuthorizer } from '../../../src/access/authorizer.ts'
import { downloadJson } from '../../../src/access/key-download.ts'
import { remoteKeySet } from '../../../src/access/remote-key-set.ts'
import { systemClock } from '../../../src/observe/clock.ts'
import { HeldClock } from '../../support/held-clock.ts'

const MINUTE = 60_000

interface IssuerKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: KeyObject
  readonly jwk: JWK
}

async function makeKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const pair =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return { kid, alg, privateKey: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } }
}

function sign(key: IssuerKey, header: Record<string, unknown> = { kid: key.kid }): Promise<string> {
  return new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg: key.alg, ...header }).sign(key.privateKey)
}

const one = await makeKey('one')
const two = await makeKey('two')
const rsa = await makeKey('rsa', 'RS256')

describe('a key server that is held still', () => {
  /** What the key server answers now: keys, or an error. */
  let published: readonly JWK[] | Error
  let fetches: number
  let warnings: object[]

  beforeEach(() => {
    published = [one.jwk]
    fetches = 0
    warnings = []
  })

  function open() {
    const time = new HeldClock()
    const set = remoteKeySet(new URL('https://user:password@keys.example/jwks'), {
      clock: time,
      log: { info: () => {}, warn: (fields) => warnings.push(fields) },
      download: async () => {
        fetches++
        if (published instanceof Error) throw published
        return { keys: published }
      },
    })
    const verdict = async (token: string) => {
      const result = await set.verify(token)
      return typeof result === 'string' ? result : 'good'
    }
    return { set, time, verdict }
  }

  test('the set is fetched once and kept', async () => {
    const { verdict, set } = open()
    expect(set.available).toBe(false)
    const token = await sign(one)
    expect(await Promise.all(Array.from({ length: 50 }, () => verdict(token)))).toEqual(Array(50).fill('good'))
    expect(await verdict(token)).toBe('good')
    expect(set.available).toBe(true)
    expect(fetches).toBe(1)
  })

  test('a new key is fetched as it is first seen, a key that went is refused after ten minutes', async () => {
    const { verdict, time } = open()
    expect(await verdict(await sign(one))).toBe('good')
    published = [two.jwk]
    expect(await verdict(await sign(one))).toBe('good')
    expect(await verdict(await sign(two))).toBe('good')
    expect(fetches).toBe(2)
    published = [one.jwk]
    await time.advance(10 * MINUTE)
    expect(await verdict(await sign(two))).toBe('good')
    await time.advance(1)
    expect(await verdict(await sign(two))).toBe('unknown_key')
  })

  test('[AC5] an unknown key is refused for good when the fresh set lacks it', async () => {
    const { verdict } = open()
    expect(await verdict(await sign(two))).toBe('unknown_key')
  })

  test('made-up keys cause four fetches, then one every 15 s; known keys go on meanwhile', async () => {
    const { verdict, time } = open()
    await verdict(await sign(one))
    fetches = 0
    const verdicts: string[] = []
    for (let n = 0; n < 100; n++) verdicts.push(await verdict(await sign(two, { kid: `made up ${n}` })))
    expect(fetches).toBe(4)
    expect(verdicts.slice(0, 4)).toEqual(Array(4).fill('unknown_key'))
    expect(new Set(verdicts.slice(4))).toEqual(new Set(['keys_unavailable']))
    expect(await verdict(await sign(one))).toBe('good')
    await time.advance(15_000)
    expect(await verdict(await sign(two))).toBe('unknown_key')
    expect(await verdict(await sign(two))).toBe('keys_unavailable')
    expect(fetches).toBe(5)
  })

  test('an outage: the old set goes on for as long as it takes, and the new one is taken afterwards', async () => {
    const { verdict, time } = open()
    const token = await sign(one)
    expect(await verdict(token)).toBe('good')
    published = new Error('connect ECONNREFUSED')
    for (let hour = 0; hour < 24; hour++) {
      await time.advance(60 * MINUTE)
      expect(await verdict(token)).toBe('good')
    }
    expect(await verdict(await sign(two))).toBe('keys_unavailable')
    published = [two.jwk]
    await time.advance(5_000)
    // The first after the outage does not wait for the fetch it causes.
    expect(await verdict(token)).toBe('good')
    await new Promise((resolve) => setImmediate(resolve))
    expect(await verdict(await sign(two))).toBe('good')
    expect(await verdict(token)).toBe('unknown_key')
  })

  test('never reached: come back later, and no more than a try every 5 s', async () => {
    const { verdict, time, set } = open()
    published = new Error('connect ECONNREFUSED')
    for (let n = 0; n < 20; n++) expect(await verdict(await sign(one))).toBe('keys_unavailable')
    expect(fetches).toBe(1)
    expect(set.available).toBe(false)
    published = [one.jwk]
    expect(await verdict(await sign(one))).toBe('keys_unavailable')
    await time.advance(5_000)
    expect(await verdict(await sign(one))).toBe('good')
  })

  test('every tenth failure is logged, with the host alone', async () => {
    const { verdict, time } = open()
    published = new Error('connect ECONNREFUSED')
    for (let n = 0; n < 21; n++) {
      await verdict(await sign(one))
      await time.advance(5_000)
    }
    expect(warnings).toHaveLength(3)
    expect(warnings[1]).toMatchObject({ keyServer: 'keys.example', failures: 11, oldKeys: false })
    expect(JSON.stringify(warnings)).not.toContain('password')
  })

  test.each([
    ['no object', null],
    ['no keys', {}],
    ['keys that are no list', { keys: 'x' }],
  ])('an answer that is %s leaves the old set', async (_, answer) => {
    const time = new HeldClock()
    let document: unknown = { keys: [one.jwk] }
    const set = remoteKeySet(new URL('https://keys.example'), {
      clock: time,
      log: { info: () => {}, warn: () => {} },
      download: async () => document,
    })
    await set.refresh()
    document = answer
    expect(await set.refresh()).toBe(false)
    expect(await set.verify(await sign(one))).toBeInstanceOf(Uint8Array)
  })

  test('a token that names no key is tried with each that fits', async () => {
    const { verdict } = open()
    published = [one.jwk, two.jwk, rsa.jwk]
    expect(await verdict(await sign(two, {}))).toBe('good')
    expect(await verdict(await sign(rsa, {}))).toBe('good')
    const stranger = await makeKey('stranger')
    expect(await verdict(await sign(stranger, {}))).toBe('signature')
  })

  test('[AC5] a key is for its own algorithm, and never for an HMAC', async () => {
    const { verdict } = open()
    const secret = Buffer.from('a secret that somebody put among the public keys')
    const oct: JWK = { kty: 'oct', k: secret.toString('base64url'), kid: 'oct', alg: 'HS256' }
    published = [one.jwk, rsa.jwk, oct, { ...two.jwk, use: 'enc' }, 'garbage' as unknown as JWK]
    const hmac = (kid: string, key: Uint8Array) => new SignJWT({}).setProtectedHeader({ alg: 'HS256', kid }).sign(key)
    expect(await verdict(await hmac('oct', secret))).toBe('algorithm')
    expect(await verdict(await hmac('rsa', new TextEncoder().encode(rsa.jwk.n)))).toBe('algorithm')
    expect(await verdict(await sign(two))).toBe('unknown_key')
    expect(await verdict(await sign(one, { kid: 'rsa' }))).toBe('unknown_key')
    expect(await verdict(await sign({ ...rsa, alg: 'PS256' }))).toBe('unknown_key')
    expect(await verdict(await sign(one))).toBe('good')
  })
})

describe('a key server on a socket', () => {
  let server: Server
  let url: URL

  afterEach(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })

  async function serve(listener: RequestListener): Promise<void> {
    server = createServer(listener).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`)
  }

  test('[AC1] rotation and an outage, seen from the door', async () => {
    let keys = [one.jwk]
    await serve((_request, response) => response.end(JSON.stringify({ keys })))
    const now = Math.floor(Date.now() / 1000)
    const authorizer = await createAuthorizer(
      { jwksUrl: url.href, readOnlyCursors: true },
      { clock: systemClock, wallClock: Date.now, log: { info: () => {}, warn: () => {} } },
    )
    const admit = async (key: IssuerKey) => {
      const header = { alg: key.alg, kid: key.kid }
      const token = await new SignJWT({ rooms: ['*'], exp: now + 60 }).setProtectedHeader(header).sign(key.privateKey)
      return authorizer.admit({ room: 'a', query: `token=${token}`, authorization: '', protocols: '' })
    }
    expect(await admit(one)).toMatchObject({ kind: 'grant' })
    expect(authorizer.ready).toBe(true)
    keys = [one.jwk, two.jwk]
    expect(await admit(two)).toMatchObject({ kind: 'grant' })
    expect(await admit(await makeKey('made up'))).toMatchObject({ label: 'unknown_key', reason: { code: 4401 } })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(await admit(one)).toMatchObject({ kind: 'grant' })
    expect(await admit(await makeKey('new'))).toMatchObject({
      label: 'keys_unavailable',
      reason: { code: 1013, retry: true },
    })
  })

  test('a key server that was never there is no reason to stop anybody for good', async () => {
    await serve((_request, response) => response.writeHead(503).end())
    const authorizer = await createAuthorizer(
      { jwksUrl: url.href, readOnlyCursors: true },
      { clock: systemClock, wallClock: Date.now, log: { info: () => {}, warn: () => {} } },
    )
    const request = { room: 'a', query: `token=${await sign(one)}`, authorization: '', protocols: '' }
    expect(await authorizer.admit(request)).toMatchObject({ reason: { code: 1013, retry: true } })
    expect(authorizer.ready).toBe(false)
  })

  test.each<[string, RequestListener, string]>([
    ['another status', (_, response) => response.writeHead(500).end('{}'), 'status 500'],
    ['a redirect', (_, response) => response.writeHead(302, { location: '/else' }).end(), 'status 302'],
    ['no JSON', (_, response) => response.end('<html>'), 'not JSON'],
    ['an endless answer', (_, response) => void response.write('x'.repeat(300_000)), 'more than 262144 bytes'],
    ['half an answer', (_, response) => void response.write('{"keys"', () => response.destroy()), 'aborted'],
    ['no answer', (request) => request.socket.destroy(), 'hang up'],
  ])('%s is refused', async (_, listener, words) => {
    await serve(listener)
    await expect(downloadJson(url, systemClock)).rejects.toThrow(words)
  })

  test.each<[string, RequestListener]>([
    ['says nothing', () => {}],
    ['says a byte at a time', (_, response) => void setInterval(() => response.write(' '), 20).unref()],
  ])('a server that %s is given 5 s in all, and no timer is left', async (_, listener) => {
    await serve(listener)
    const time = new HeldClock()
    const result = downloadJson(url, time)
    const outcome = expect(result).rejects.toThrow()
    await new Promise((resolve) => server.once('request', resolve))
    await time.advance(4_999)
    expect(time.timers).toHaveLength(1)
    await time.advance(1)
    await outcome
    expect(time.timers).toEqual([])
  })

  test('the connection is not kept', async () => {
    let connection: string | undefined
    await serve((request, response) => {
      connection = request.headers.connection
      response.end('{"keys":[]}')
    })
    expect(await downloadJson(url, systemClock)).toEqual({ keys: [] })
    expect(connection).toBe('close')
  })
})
