import { expect, test } from 'vitest'
import { ConfigError, complete, readConfig } from '../../../src/settings/config.ts'
import { type Config, SETTINGS } from '../../../src/settings/settings.ts'

const settings = Object.entries(SETTINGS)

function mistakesOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}

/** Other people's start scripts rely on these names and defaults. What depends on the machine is null. */
const DEFAULTS: Record<string, string | number | null> = {
  HOST: '127.0.0.1',
  PORT: 1234,
  STORAGE: 'lmdb',
  DATA_DIR: './data',
  ROOM_FLUSH_INTERVAL_MS: 8,
  AWARENESS_FLUSH_INTERVAL_MS: 16,
  ROOM_IDLE_MS: 10_000,
  WS_SLOW_CLIENT_BUFFER_BYTES: 262_144,
  WS_MAX_QUEUED_MESSAGES: 64,
  WS_MAX_BUFFERED_BYTES: 1_048_576,
  WS_MAX_CONGESTED_MS: 30_000,
  WS_DRAIN_BATCH_SIZE: 16,
  WS_CLOSE_GRACE_MS: 2000,
  WS_BUFFER_SWEEP_INTERVAL_MS: 5000,
  WS_EVICTIONS_BEFORE_DEGRADED: 3,
  WS_EVICTION_WINDOW_MS: 600_000,
  WS_DEGRADED_INTERVAL_MS: 250,
  WS_RATE_LIMIT_MAX_TOKENS: 300,
  WS_RATE_LIMIT_REFILL_WINDOW_MS: 2000,
  WS_PRESENCE_PER_S: 120,
  WS_PRESENCE_BYTES_PER_S: 262_144,
  WS_MAX_MESSAGE_BYTES: 16_777_216,
  WS_INBOUND_BYTES_PER_S: 1_048_576,
  WS_IDLE_TIMEOUT_S: 60,
  MAX_DOC_BYTES: 16_777_216,
  MAX_MEMORY_BYTES: null,
  MAX_CONNECTIONS: 20_000,
  MAX_CONNECTIONS_PER_IP: 200,
  MAX_ROOMS: 20_000,
  MAX_PRESENCE_IDS_PER_CONNECTION: 8,
  MAX_PRESENCE_BYTES: 16_384,
  TRUSTED_PROXY_HOPS: 0,
  ALLOWED_ORIGINS: '',
  AUTH_JWT_SECRET: '',
  AUTH_JWKS_URL: '',
  AUTH_PUBLIC_KEY_FILE: '',
  ADMIN_TOKEN: '',
  TLS_CERT_FILE: '',
  TLS_KEY_FILE: '',
  METRICS_TOKEN: '',
  REDIS_URL: '',
  SHUTDOWN_GRACE_MS: 8000,
  LOG_LEVEL: 'info',
  LOG_MAX_LINES_PER_S: 10,
}

test('[OP4] every setting that was ever published is there, with its default', () => {
  const config = readConfig({})
  for (const [env, value] of Object.entries(DEFAULTS)) {
    const [name] = settings.find(([, setting]) => setting.env === env) ?? []
    expect(name, env).toBeDefined()
    if (value !== null) expect([env, config[name as keyof Config]]).toEqual([env, value])
  }
  expect(config.maxMemoryBytes).toBeGreaterThan(64 * 1_048_576)
})

test('[OP4] an empty variable is an unset one', () => {
  const empty = Object.fromEntries(settings.map(([, { env }]) => [env, '']))
  expect(readConfig(empty)).toEqual(readConfig({}))
})

const numbers = settings.filter(([, { kind }]) => kind === 'number')

test.for(numbers)(
  '[OP4] %s: both bounds are taken, what is beyond them or no whole number is refused',
  ([name, setting]) => {
    if (setting.kind !== 'number') throw new Error('a number was expected')
    const { env, min, max } = setting
    for (const value of [min, max]) expect(readConfig({ [env]: String(value) })[name as keyof Config]).toBe(value)
    const isZeroTaken = 'zero' in setting && setting.zero
    const beyond = [min - 1, max + 1].filter((value) => !(isZeroTaken && value === 0))
    for (const raw of [...beyond.map(String), '1.5', 'many', '10ms', '1e3', '0x10', '-', ' ', 'NaN', 'Infinity']) {
      const mistakes = mistakesOf(() => readConfig({ [env]: raw }))
      expect(
        mistakes.filter((mistake) => mistake.startsWith(`${env} must be`)),
        `${env}=${JSON.stringify(raw)}`,
      ).toHaveLength(1)
    }
    for (const value of [Number.NaN, 1.5, '8'] as unknown[]) {
      expect(
        mistakesOf(() => complete({ [name]: value })),
        `${name}: ${value}`,
      ).toHaveLength(1)
    }
  },
)

test.for([
  ['STORAGE', 'floppy'],
  ['STORAGE', 'LMDB'],
  ['LOG_LEVEL', 'loud'],
  ['AUTH_READ_ONLY_CURSORS', 'yes'],
  ['WS_IDLE_TIMEOUT_S', '7'],
  ['WS_IDLE_TIMEOUT_S', '961'],
  ['REDIS_URL', 'redis://127.0.0.1'],
] as const)('[OP4] %s=%s is refused', ([env, value]) => {
  const mistakes = mistakesOf(() => readConfig({ [env]: value }))
  expect(mistakes).toHaveLength(1)
  expect(mistakes[0]).toMatch(new RegExp(`^${env} `))
})

test('[OP4] the public address is one of the web', () => {
  for (const bad of ['board.example.org', 'javascript:alert(1)', 'ftp://board.example.org'])
    expect(
      mistakesOf(() => readConfig({ PUBLIC_URL: bad })),
      bad,
    ).toHaveLength(1)
  expect(mistakesOf(() => readConfig({ PUBLIC_URL: 'https://board.example.org/draw' }))).toEqual([])
})

test('[OP4] settings that contradict each other are refused', () => {
  expect(mistakesOf(() => readConfig({ TLS_CERT_FILE: 'cert.pem' }))).toHaveLength(1)
  expect(mistakesOf(() => readConfig({ TLS_KEY_FILE: 'key.pem' }))).toHaveLength(1)
  expect(mistakesOf(() => readConfig({ TLS_KEY_FILE: 'key.pem', TLS_CERT_FILE: 'cert.pem' }))).toEqual([])
  const keys = {
    AUTH_JWT_SECRET: 'a secret of enough characters, at least 32',
    AUTH_JWKS_URL: 'https://127.0.0.1/keys',
  }
  expect(mistakesOf(() => readConfig(keys))).toHaveLength(1)
})

test('[OP4] every mistake is named, in one go', () => {
  const mistakes = mistakesOf(() =>
    readConfig({ PORT: '70000', STORAGE: 'floppy', WS_MAX_QUEUED_MESSAGES: '0', MAX_ROOMS: 'all', TLS_CERT_FILE: 'x' }),
  )
  const named = ['PORT', 'STORAGE', 'WS_MAX_QUEUED_MESSAGES', 'MAX_ROOMS', 'TLS_CERT_FILE']
  expect(mistakes).toHaveLength(named.length)
  for (const env of named) expect(mistakes.some((mistake) => mistake.includes(env))).toBe(true)
})

test('[OP4] a mistake repeats no secret', () => {
  const mistakes = mistakesOf(() =>
    readConfig({
      AUTH_JWT_SECRET: 'hunter2-hunter2-hunter2-hunter2-x',
      AUTH_JWKS_URL: 'https://127.0.0.1/k',
      ADMIN_TOKEN: 'tok-secret',
    }),
  )
  expect(mistakes.join('\n')).not.toMatch(/hunter2|tok-secret/)
})

test('[OP4] a setting the library does not know is refused', () => {
  expect(mistakesOf(() => complete({ prot: 1234 } as Partial<Config>))).toEqual(['prot is no setting'])
})

test('a configuration cannot be changed afterwards', () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true)
})
