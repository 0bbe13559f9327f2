import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompactSign, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AdmissionRequest,
  type Authorizer,
  type AuthorizerSettings,
  createAuthorizer,
  MAX_TOKEN_BYTES,
} from '../../../src/access/authorizer.ts'
import type { Grant, Refusal } from '../../../src/access/grant.ts'
import { HeldClock } from '../../support/held-clock.ts'

const SECRET = 'a secret of at least thirty-two bytes, for tests'
const encode = (text: string) => new TextEncoder().encode(text)
const b64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

const time = new HeldClock()
const seconds = Math.floor(time.wall() / 1000)
const logged: unknown[] = []
const log = {
  info: (...line: unknown[]) => void logged.push(line),
  warn: (...line: unknown[]) => void logged.push(line),
}

/** Every token made here: none of them may be repeated anywhere. */
const tokens: string[] = []
const answers: unknown[] = []

async function open(settings: Partial<AuthorizerSettings>): Promise<Authorizer> {
  return createAuthorizer({ readOnlyCursors: true, ...settings }, { clock: time, wallClock: time.wall, log })
}

async function sign(
  claims: Record<string, unknown>,
  key: KeyObject | Uint8Array = encode(SECRET),
  alg = 'HS256',
): Promise<string> {
  const token = await new SignJWT(claims as JWTPayload).setProtectedHeader({ alg }).sign(key)
  tokens.push(token)
  return token
}

async function admit(authorizer: Authorizer, token: string, room = 'a'): Promise<Grant | Refusal> {
  const answer = await authorizer.admit({ room, query: `token=${token}`, authorization: '', protocols: '' })
  answers.push(answer)
  return answer
}

/** Valid for an hour, for the room `a`. */
const GOOD = { sub: 'ann', exp: seconds + 3600, iat: seconds, rooms: ['a'], access: 'write' }

let authorizer: Authorizer
beforeAll(async () => {
  authorizer = await open({ jwtSecret: SECRET })
})

afterAll(() => {
  const written = JSON.stringify([logged, answers])
  for (const token of tokens) {
    expect(written).not.toContain(token)
    expect(written).not.toContain(token.split('.')[2] || token)
  }
})

describe('[AC1] without keys', () => {
  test('everybody may write, at once, whatever they bring', async () => {
    const free = await open({})
    expect(free.open).toBe(true)
    const request: AdmissionRequest = { room: 'a', query: 'token=x', authorization: '', protocols: 'y-weir' }
    expect(free.admit(request)).toEqual({
      kind: 'grant',
      room: 'a',
      access: 'write',
      cursor: true,
      subject: null,
      issuedAt: null,
      expiresAt: null,
      subprotocol: 'y-weir',
    })
  })

  test('revoking is for the live sessions only', async () => {
    const free = await open({})
    free.revoke({ room: 'a', before: time.wall() })
    expect(free.holds(free.admit({ room: 'a', query: '', authorization: '', protocols: '' }) as Grant)).toBe(true)
  })
})

describe('[AC1] with a key', () => {
  test('a good token is granted what it says', async () => {
    expect(await admit(authorizer, await sign(GOOD))).toEqual({
      kind: 'grant',
      room: 'a',
      access: 'write',
      cursor: true,
      subject: 'ann',
      issuedAt: seconds * 1000,
      expiresAt: (seconds + 3600) * 1000,
      subprotocol: null,
    })
  })

  test.each([
    ['query', { query: 'token=TOKEN' }],
    ['bearer', { authorization: 'Bearer TOKEN' }],
    ['subprotocol', { protocols: 'y-weir, token.TOKEN' }],
  ])('from the %s', async (_, where) => {
    const filled = JSON.parse(JSON.stringify(where).replace('TOKEN', await sign(GOOD))) as Partial<AdmissionRequest>
    const answer = await authorizer.admit({ room: 'a', query: '', authorization: '', protocols: '', ...filled })
    answers.push(answer)
    expect(answer).toMatchObject({ kind: 'grant', subprotocol: filled.protocols ? 'y-weir' : null })
  })

  test('no token is refused at once', () => {
    expect(authorizer.admit({ room: 'a', query: '', authorization: '', protocols: 'y-weir' })).toEqual({
      kind: 'refusal',
      reason: { code: 4401, text: 'no or expired access', retry: false },
      label: 'no_token',
      subprotocol: 'y-weir',
    })
  })
})

describe('[AC5] claims', () => {
  test.each<[string, Record<string, unknown>, 'granted' | string, number?]>([
    ['exp an hour ahead', {}, 'granted'],
    ['exp 1 s ahead', { exp: seconds + 1 }, 'granted'],
    ['exp now', { exp: seconds }, 'expired', 4401],
    ['exp 1 s ago', { exp: seconds - 1 }, 'expired', 4401],
    ['exp 120 s ago', { exp: seconds - 120 }, 'expired', 4401],
    ['exp half a second ahead', { exp: seconds + 0.5 }, 'granted'],
    ['no exp', { exp: undefined }, 'claims', 4401],
    ['exp as a text', { exp: String(seconds + 3600) }, 'claims', 4401],
    ['exp null', { exp: null }, 'claims', 4401],
    ['exp in microseconds', { exp: (seconds + 3600) * 1e6 }, 'claims', 4401],
    ['nbf now', { nbf: seconds }, 'granted'],
    ['nbf 30 s ahead', { nbf: seconds + 30 }, 'granted'],
    ['nbf 31 s ahead', { nbf: seconds + 31 }, 'not_yet', 4401],
    ['nbf an hour ahead', { nbf: seconds + 3600, exp: seconds + 7200 }, 'not_yet', 4401],
    ['nbf as a text', { nbf: 'now' }, 'claims', 4401],
    ['nbf null', { nbf: null }, 'claims', 4401],
    ['iat 30 s ahead', { iat: seconds + 30 }, 'granted'],
    ['iat 31 s ahead', { iat: seconds + 31 }, 'not_yet', 4401],
    ['no iat', { iat: undefined }, 'granted'],
    ['iat as a text', { iat: '0' }, 'claims', 4401],
    ['no sub', { sub: undefined }, 'granted'],
    ['an empty sub', { sub: '' }, 'claims', 4401],
    ['sub as a number', { sub: 7 }, 'claims', 4401],
    ['a long sub', { sub: 'x'.repeat(257) }, 'claims', 4401],
    ['another room', { rooms: ['b'] }, 'room', 4403],
    ['another case', { rooms: ['A'] }, 'room', 4403],
    ['a room that starts like it', { rooms: ['ab'] }, 'room', 4403],
    ['several rooms', { rooms: ['b', 'a'] }, 'granted'],
    ['one room as a text', { rooms: 'a' }, 'granted'],
    ['a prefix', { rooms: ['a*'] }, 'granted'],
    ['every room', { rooms: ['*'] }, 'granted'],
    ['another prefix', { rooms: ['b*'] }, 'room', 4403],
    ['a * in the middle is no wildcard', { rooms: ['*a'] }, 'room', 4403],
    ['no rooms', { rooms: [] }, 'room', 4403],
    ['no rooms claim', { rooms: undefined }, 'room', 4403],
    ['rooms null', { rooms: null }, 'room', 4403],
    ['rooms as numbers', { rooms: [1] }, 'claims', 4401],
    ['rooms as an object', { rooms: { a: true } }, 'claims', 4401],
    ['access read', { access: 'read' }, 'granted'],
    ['access admin', { access: 'admin' }, 'claims', 4401],
    ['access true', { access: true }, 'claims', 4401],
  ])('%s', async (_, claims, expected, code) => {
    const answer = await admit(authorizer, await sign({ ...GOOD, ...claims }))
    if (expected === 'granted') expect(answer.kind).toBe('grant')
    else expect(answer).toMatchObject({ kind: 'refusal', label: expected, reason: { code, retry: false } })
  })

  test.each([
    ['team/1', true],
    ['team/', true],
    ['team', false],
    ['teams/1', false],
    ['other/team/1', false],
  ])('the prefix team/* and the room %s', async (room, granted) => {
    const answer = await admit(authorizer, await sign({ ...GOOD, rooms: ['team/*'] }), room)
    expect(answer.kind).toBe(granted ? 'grant' : 'refusal')
  })

  test('[AC2] access is read unless the token says write, and readers may be denied a cursor', async () => {
    const token = await sign({ ...GOOD, access: undefined })
    expect(await admit(authorizer, token)).toMatchObject({ access: 'read', cursor: true })
    const strict = await open({ jwtSecret: SECRET, readOnlyCursors: false })
    expect(await admit(strict, token)).toMatchObject({ access: 'read', cursor: false })
    expect(await admit(strict, await sign(GOOD))).toMatchObject({ access: 'write', cursor: true })
  })

  test.each([
    ['no object', '[]'],
    ['null', 'null'],
    ['no JSON', 'exp'],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d)],
  ])('a payload that is %s', async (_, payload) => {
    const bytes = typeof payload === 'string' ? encode(payload) : payload
    const token = await new CompactSign(bytes).setProtectedHeader({ alg: 'HS256' }).sign(encode(SECRET))
    expect(await admit(authorizer, token)).toMatchObject({ label: 'claims', reason: { code: 4401 } })
  })
})

describe('[AC5] signatures', () => {
  const payload = b64(GOOD)

  test.each([
    ['garbage', 'garbage', 'malformed'],
    ['three parts of garbage', 'a.b.c', 'malformed'],
    ['two parts', `${b64({ alg: 'HS256' })}.${payload}`, 'malformed'],
    ['five parts', `${b64({ alg: 'dir', enc: 'A256GCM' })}.a.b.c.d`, 'malformed'],
    ['no signature', `${b64({ alg: 'HS256' })}.${payload}.`, 'signature'],
    ['alg none', `${b64({ alg: 'none' })}.${payload}.`, 'algorithm'],
    ['alg None', `${b64({ alg: 'None' })}.${payload}.`, 'algorithm'],
    ['alg none with a signature', `${b64({ alg: 'none' })}.${payload}.AAAA`, 'algorithm'],
    ['no alg', `${b64({})}.${payload}.AAAA`, 'malformed'],
    ['alg HS384', `${b64({ alg: 'HS384' })}.${payload}.AAAA`, 'algorithm'],
    [
      'a critical header that is not understood',
      `${b64({ alg: 'HS256', crit: ['x'], x: 1 })}.${payload}.AAAA`,
      'algorithm',
    ],
    ['a header that is no object', `${b64('[]')}.${payload}.AAAA`, 'malformed'],
    ['deep nesting', `${b64('['.repeat(3000))}.${payload}.AAAA`, 'malformed'],
  ])('%s', async (_, token, label) => {
    expect(await admit(authorizer, token)).toMatchObject({ kind: 'refusal', label, reason: { code: 4401 } })
  })

  test('another secret, and one byte changed', async () => {
    expect(await admit(authorizer, await sign(GOOD, encode(`${SECRET}!`)))).toMatchObject({ label: 'signature' })
    const [header, , signature] = (await sign(GOOD)).split('.')
    const forged = `${header}.${b64({ ...GOOD, rooms: ['*'] })}.${signature}`
    expect(await admit(authorizer, forged)).toMatchObject({ label: 'signature' })
  })

  test('a token of 8 KB is read, a longer one is not even looked at', async () => {
    const padded = (length: number) => sign({ ...GOOD, pad: 'x'.repeat(length) })
    const short = await padded(5_800)
    expect(short.length).toBeLessThanOrEqual(MAX_TOKEN_BYTES)
    expect(await admit(authorizer, short)).toMatchObject({ kind: 'grant' })
    const long = await padded(6_200)
    expect(long.length).toBeGreaterThan(MAX_TOKEN_BYTES)
    expect(await admit(authorizer, long)).toMatchObject({ label: 'oversized', reason: { code: 4401 } })
  })
})

describe('[AC5] a public key is for its own algorithms', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
  const p521 = generateKeyPairSync('ec', { namedCurve: 'secp521r1' })
  const ed = generateKeyPairSync('ed25519')
  const pairs = { rsa, p256, p384, p521, ed }
  const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'y-weir-keys-'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  async function openWith(text: string): Promise<Authorizer> {
    const path = join(directory, 'key.pem')
    await writeFile(path, text)
    return open({ publicKeyFile: path })
  }

  test.each([
    ['rsa', 'RS256'],
    ['rsa', 'RS512'],
    ['rsa', 'PS256'],
    ['p256', 'ES256'],
    ['p384', 'ES384'],
    ['p521', 'ES512'],
    ['ed', 'EdDSA'],
    ['ed', 'Ed25519'],
  ] as const)('%s and %s', async (type, alg) => {
    const withKey = await openWith(pem(pairs[type].publicKey))
    expect(await admit(withKey, await sign(GOOD, pairs[type].privateKey, alg))).toMatchObject({ kind: 'grant' })
    for (const [other, otherAlg] of [
      ['rsa', 'RS256'],
      ['p256', 'ES256'],
      ['p384', 'ES384'],
      ['ed', 'EdDSA'],
    ] as const) {
      if (other === type) continue
      const token = await sign(GOOD, pairs[other].privateKey, otherAlg)
      expect(await admit(withKey, token)).toMatchObject({ label: 'algorithm' })
    }
  })

  test.each(['rsa', 'p256', 'ed'] as const)('its text is no secret: HS256 with the PEM of %s', async (type) => {
    const text = pem(pairs[type].publicKey)
    const withKey = await openWith(text)
    for (const secret of [text, text.trim(), pairs[type].publicKey.export({ type: 'spki', format: 'der' })]) {
      const token = await sign(GOOD, typeof secret === 'string' ? encode(secret) : new Uint8Array(secret))
      expect(await admit(withKey, token)).toMatchObject({ label: 'algorithm', reason: { code: 4401 } })
    }
  })

  test('another key of the same type', async () => {
    const withKey = await openWith(pem(rsa.publicKey))
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
    expect(await admit(withKey, await sign(GOOD, other.privateKey, 'RS256'))).toMatchObject({ label: 'signature' })
  })

  test.each([
    ['a private key', () => rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }), 'private key'],
    ['no key', () => 'hello', 'no public key'],
    ['a small RSA key', () => pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), '2048 bits'],
    ['a curve for no token', () => pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey), 'curve'],
    ['a key for no signature', () => pem(generateKeyPairSync('x25519').publicKey), 'x25519'],
  ])('%s stops the start', async (_, text, words) => {
    await expect(openWith(text() as string)).rejects.toThrow(new RegExp(`^AUTH_PUBLIC_KEY_FILE: .*${words}`))
  })

  test('a missing file, two keys and a bad address stop the start', async () => {
    await expect(open({ publicKeyFile: join(directory, 'none.pem') })).rejects.toThrow('AUTH_PUBLIC_KEY_FILE: ENOENT')
    await expect(open({ jwtSecret: SECRET, jwksUrl: 'https://a.example' })).rejects.toThrow('only one')
    await expect(open({ jwksUrl: 'ftp://a.example' })).rejects.toThrow('AUTH_JWKS_URL')
    await expect(open({ jwksUrl: 'nonsense' })).rejects.toThrow('AUTH_JWKS_URL')
  })

  test('a short secret is allowed and warned about', async () => {
    expect((await open({ jwtSecret: 'short' })).warnings).toHaveLength(1)
    expect((await open({ jwtSecret: SECRET })).warnings).toEqual([])
  })
})

describe('[AC3] after the grant', () => {
  test('it holds until it expires', async () => {
    const grant = (await admit(authorizer, await sign({ ...GOOD, exp: seconds + 3 }))) as Grant
    expect(authorizer.holds(grant)).toBe(true)
    const start = time.wall()
    time.setWall(start + 3000)
    expect(authorizer.holds(grant)).toBe(false)
    time.setWall(start)
  })

  test('it ends with a revocation, older tokens are refused, newer ones are not', async () => {
    const strict = await open({ jwtSecret: SECRET })
    const token = await sign(GOOD)
    const grant = (await admit(strict, token)) as Grant
    strict.revoke({ subject: 'ann', before: time.wall() + 1 })
    expect(strict.holds(grant)).toBe(false)
    expect(await admit(strict, token)).toMatchObject({ label: 'revoked', reason: { code: 4401, retry: false } })
    expect(await admit(strict, await sign({ ...GOOD, iat: undefined }))).toMatchObject({ label: 'revoked' })
    expect(await admit(strict, await sign({ ...GOOD, iat: seconds + 1 }))).toMatchObject({ kind: 'grant' })
    expect(await admit(strict, await sign({ ...GOOD, sub: 'bob' }))).toMatchObject({ kind: 'grant' })
  })
})
