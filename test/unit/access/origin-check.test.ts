import { describe, expect, test } from 'vitest'
import { isOriginAllowed, type OriginSettings, parseAllowedOrigins } from '../../../src/access/origin-check.ts'

const HOST = 'board.example.com:1234'

function allowed(origin: string, settings: Partial<OriginSettings> & { list?: string }, headers = {}): boolean {
  const { list, ...rest } = settings
  return isOriginAllowed(
    { origin, host: HOST, forwardedHost: '', ...headers },
    {
      allowed: list === undefined ? null : parseAllowedOrigins(list).allowed,
      keysConfigured: false,
      trustedHops: 0,
      ...rest,
    },
  )
}

describe('[AC4] without keys and without a list, only the same host and this machine', () => {
  test.each([
    ['no browser', '', true],
    ['the same host', 'http://board.example.com:1234', true],
    ['the same host, encrypted by a proxy', 'https://board.example.com', true],
    ['the same host, another port', 'http://board.example.com:5173', true],
    ['upper case', 'HTTP://BOARD.example.com', true],
    ['localhost', 'http://localhost:5173', true],
    ['a name below localhost', 'http://app.localhost', true],
    ['127.0.0.1', 'http://127.0.0.1:3000', true],
    ['another address of the loopback net', 'http://127.8.8.8', true],
    ['::1', 'http://[::1]:3000', true],
    ['another site', 'https://evil.example', false],
    ['a site that ends like the host', 'https://evilboard.example.com', false],
    ['a site that starts like the host', 'https://board.example.com.evil.example', false],
    ['a site below the host', 'https://x.board.example.com', false],
    ['a site that starts like loopback', 'https://127.0.0.1.evil.example', false],
    ['a site that ends like localhost', 'https://evil-localhost', false],
    ['a user name that looks like the host', 'https://board.example.com@evil.example', false],
    ['a path', 'https://board.example.com/x', false],
    ['a page without an origin', 'null', false],
    ['an extension', 'chrome-extension://localhost', false],
    ['garbage', '://', false],
    ['two origins', 'http://localhost, http://evil.example', false],
  ])('%s: %s', (_, origin, expected) => {
    expect(allowed(origin, {})).toBe(expected)
  })

  test('an IPv6 host', () => {
    expect(allowed('http://[2001:db8::1]:5173', {}, { host: '[2001:db8::1]:1234' })).toBe(true)
    expect(allowed('http://[2001:db8::2]:5173', {}, { host: '[2001:db8::1]:1234' })).toBe(false)
  })

  test('a missing or broken Host header matches nothing', () => {
    expect(allowed('http://evil.example', {}, { host: '' })).toBe(false)
    expect(allowed('http://evil.example', {}, { host: 'evil.example/' })).toBe(false)
  })

  test('X-Forwarded-Host counts only behind trusted proxies', () => {
    const behind = { host: '127.0.0.1:1234', forwardedHost: 'public.example' }
    expect(allowed('https://public.example', { trustedHops: 0 }, behind)).toBe(false)
    expect(allowed('https://public.example', { trustedHops: 1 }, behind)).toBe(true)
    expect(allowed('https://evil.example', { trustedHops: 1 }, behind)).toBe(false)
    const claimed = { ...behind, forwardedHost: 'evil.example, public.example' }
    expect(allowed('https://evil.example', { trustedHops: 1 }, claimed)).toBe(false)
    expect(allowed('https://public.example', { trustedHops: 1 }, claimed)).toBe(true)
  })
})

describe('[AC4] with keys and without a list', () => {
  test.each([
    ['https://any.example', true],
    ['', true],
    ['null', false],
  ])('"%s"', (origin, expected) => {
    expect(allowed(origin, { keysConfigured: true })).toBe(expected)
  })
})

describe('[AC4] ALLOWED_ORIGINS', () => {
  test.each([
    ['https://a.example', 'https://a.example', true],
    ['https://a.example', 'https://a.example:443', true],
    ['https://a.example:443', 'https://a.example', true],
    ['https://a.example', 'https://A.EXAMPLE', true],
    ['https://a.example', 'http://a.example', false],
    ['https://a.example', 'https://a.example:8443', false],
    ['https://a.example, https://b.example:8443', 'https://b.example:8443', true],
    ['https://a.example', 'http://localhost:5173', false],
    ['https://a.example', 'http://board.example.com:1234', false],
    ['https://a.example', 'null', false],
    ['https://a.example', '', true],
    ['null', 'null', true],
    ['*', 'https://any.example', true],
    ['*', 'null', true],
    ['https://*.example.com', 'https://a.example.com', true],
    ['https://*.example.com', 'https://a.b.example.com', true],
    ['https://*.example.com', 'https://example.com', false],
    ['https://*.example.com', 'https://.example.com', false],
    ['https://*.example.com', 'https://aexample.com', false],
    ['https://*.example.com', 'https://a.example.com.evil.example', false],
    ['https://*.example.com', 'http://a.example.com', false],
    ['https://*.example.com', 'https://a.example.com:8443', false],
    ['https://*.example.com:8443', 'https://a.example.com:8443', true],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['tauri://localhost', 'tauri://localhost', true],
    ['tauri://localhost', 'https://board.example.com', false],
    ['', 'https://a.example', false],
  ])('"%s" and "%s"', (list, origin, expected) => {
    expect(allowed(origin, { list, keysConfigured: true })).toBe(expected)
  })

  test('every mistake is named', () => {
    const text =
      'a.example, https://a.example/, https://*, https://a.*.example, https://*x.example, https://fine.example'
    expect(parseAllowedOrigins(text).mistakes.map((mistake) => mistake.split('"')[1])).toEqual([
      'a.example',
      'https://a.example/',
      'https://*',
      'https://a.*.example',
      'https://*x.example',
    ])
    expect(parseAllowedOrigins('*, null, https://*.a.example,, https://b.example').mistakes).toEqual([])
  })
})
