/** What the tests of access share: keys, tokens, a key server, a log that can be searched. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { type CryptoKey, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose'
import pino, { type Logger } from 'pino'
import type { TestContext } from 'vitest'
import type { StockClient } from './stock-client.ts'

export const SECRET = 'a secret of at least thirty-two bytes, for tests'
export const SECRET_KEY = new TextEncoder().encode(SECRET)

/** Seconds since 1970, as in a token, `from` now. */
export const seconds = (from = 0): number => Date.now() / 1000 + from

export interface Signing {
  readonly key?: Uint8Array | CryptoKey
  readonly header?: Partial<JWTHeaderParameters>
}

/** A token signed with `SECRET` unless told otherwise, good for an hour. A claim given as undefined is left out. */
export async function token(
  claims: Record<string, unknown> = {},
  { key = SECRET_KEY, header = {} }: Signing = {},
): Promise<string> {
  const all = { sub: 'ann', iat: Math.floor(seconds()), exp: seconds(3600), rooms: ['*'], access: 'write', ...claims }
  return new SignJWT(all as JWTPayload).setProtectedHeader({ alg: 'HS256', ...header }).sign(key)
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Header and claims as they are, with this signature: what no library makes. */
export const handmade = (header: object, claims: object, signature = ''): string =>
  `${part(header)}.${part(claims)}.${signature}`

/** Characters of which no two tests get the same. */
export const noise = (bytes: number): string => randomBytes(bytes).toString('base64url')

export interface KeyServer {
  readonly url: string
  /** What it answers. */
  keys: readonly object[]
  /** How long it takes, ms. */
  delayMs: number
  requests: number
}

/** An issuer's key server on a free port, or on a given one. */
export async function keyServer(t: Pick<TestContext, 'onTestFinished'>, port = 0): Promise<KeyServer> {
  const state = { keys: [] as readonly object[], delayMs: 0, requests: 0 }
  const server = createServer((_request, response) => {
    state.requests++
    setTimeout(() => response.end(JSON.stringify({ keys: state.keys })), state.delayMs)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys` })
}

/** A logger that leaves nothing out, and everything it has written. */
export function keptLog(): { readonly log: Logger; readonly written: () => string } {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { log: pino({ level: 'trace' }, stream), written: () => chunks.join('') }
}

/** How a stock client was closed for good, or null while it was not. */
export function closedFor(client: StockClient): () => { readonly code: number; readonly reason: string } | null {
  let closed: { code: number; reason: string } | null = null
  client.provider.on('closed', (event: { code: number; reason: string }) => {
    closed = event
  })
  return () => closed
}

/** For servers and helpers that live as long as a file: `afterAll(scope.end)`. */
export function fileScope(): Pick<TestContext, 'onTestFinished'> & { readonly end: () => Promise<void> } {
  const endings: (() => unknown)[] = []
  return {
    onTestFinished: (ending) => void endings.push(ending as () => unknown),
    end: async () => {
      for (const ending of endings.reverse()) await ending()
    },
  }
}
