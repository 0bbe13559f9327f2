import { describe, expect, test } from 'vitest'
import { type AdminFacts, respondAdmin } from '../../../src/http/admin.ts'
import type { HttpResponse } from '../../../src/http/response.ts'

const TOKEN = 'the-admin-token'

interface Sent {
  readonly token?: string | null
  readonly headers?: Record<string, string>
  readonly body?: string | null
  readonly facts?: Partial<AdminFacts>
  readonly adminToken?: string | null
}

let calls: unknown[][] = []
let errors: unknown[] = []

function facts(some: Partial<AdminFacts> = {}): AdminFacts {
  const called =
    <T>(name: string, answer: T) =>
    (...given: unknown[]): T => {
      calls.push([name, ...given])
      return answer
    }
  return {
    rooms: called('rooms', [{ room: 'a/b', clients: 2 }]),
    clients: called('clients', { rows: [{ room: 'a/b', queued: 3 }], total: 7 }),
    boardAsUpdate: called('boardAsUpdate', Promise.resolve(Uint8Array.of(0, 0))),
    boardAsJson: called('boardAsJson', Promise.resolve({ shapes: {} })),
    closeRoom: called('closeRoom', 2),
    deleteRoom: called('deleteRoom', Promise.resolve(1)),
    revoke: called('revoke', 4),
    ...some,
  }
}

function send(method: string, target: string, sent: Sent = {}): Promise<HttpResponse> {
  const [path = '', query = ''] = target.split('?')
  const token = sent.token === undefined ? TOKEN : sent.token
  const headers: Record<string, string> = { ...sent.headers }
  if (token !== null) headers.authorization = `Bearer ${token}`
  calls = []
  errors = []
  return respondAdmin(
    {
      method,
      path,
      query,
      header: (name) => headers[name] ?? '',
      body: async () => (sent.body === null ? null : new TextEncoder().encode(sent.body ?? '')),
    },
    facts(sent.facts),
    sent.adminToken === undefined ? TOKEN : sent.adminToken,
    (error) => errors.push(error),
  )
}

const parsed = (response: HttpResponse): unknown => JSON.parse(response.body as string)

describe('who may ask', () => {
  test.each([null, ''])('without a token set there is nothing here: %s', async (adminToken) => {
    for (const path of ['/admin/rooms', '/admin/clients', '/admin/revoke', '/admin/nothing']) {
      expect(await send('GET', path, { adminToken, token: '' })).toMatchObject({ status: 404 })
    }
    expect(calls).toEqual([])
  })

  test.each([
    ['none', null, {}],
    ['a wrong one', 'wrong', {}],
    ['a beginning', TOKEN.slice(0, -1), {}],
    ['too long a one', `${TOKEN}x`, {}],
    ['an empty one', '', {}],
    ['another scheme', null, { authorization: `Basic ${TOKEN}` }],
    ['two', null, { authorization: `Bearer ${TOKEN} ${TOKEN}` }],
  ])('%s is refused with 401, whatever is asked', async (_, token, headers) => {
    for (const [method, path] of [
      ['GET', '/admin/rooms'],
      ['DELETE', '/admin/rooms/a'],
      ['GET', '/admin/nothing'],
    ] as const) {
      const response = await send(method, path, { token, headers })
      expect(response).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="admin"' } })
      expect(calls).toEqual([])
    }
  })

  test('the query is no place for it', async () => {
    expect(await send('GET', `/admin/rooms?token=${TOKEN}`, { token: null })).toMatchObject({ status: 401 })
  })
})

describe('routes', () => {
  test('rooms', async () => {
    const response = await send('GET', '/admin/rooms')
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
    expect(parsed(response)).toEqual({ rooms: [{ room: 'a/b', clients: 2 }] })
  })

  test.each([
    ['/admin/clients', null, 1_000],
    ['/admin/clients?room=a%2Fb&limit=5', 'a/b', 5],
    ['/admin/clients?limit=999999', null, 10_000],
  ])('clients: %s', async (target, room, limit) => {
    expect(parsed(await send('GET', target))).toEqual({ total: 7, clients: [{ room: 'a/b', queued: 3 }] })
    expect(calls).toEqual([['clients', room, limit]])
  })

  test.each(['-1', 'x', '1e3', ''])('clients: a limit of "%s" is a mistake', async (limit) => {
    expect(await send('GET', `/admin/clients?limit=${limit}`)).toMatchObject({ status: 400 })
  })

  test.each([
    ['update', '/admin/rooms/a', {}],
    ['update', '/admin/rooms/a?format=update', { accept: 'application/json' }],
    ['update', '/admin/rooms/a', { accept: '*/*' }],
    ['json', '/admin/rooms/a?format=json', {}],
    ['json', '/admin/rooms/a', { accept: 'text/html, application/json' }],
  ])('a board as %s: %s', async (format, target, headers) => {
    const response = await send('GET', target, { headers })
    expect(response.status).toBe(200)
    if (format === 'json') expect(parsed(response)).toEqual({ shapes: {} })
    else {
      expect(response.headers['content-type']).toBe('application/octet-stream')
      expect(response.body).toEqual(Uint8Array.of(0, 0))
    }
  })

  test('a board in another form', async () => {
    expect(await send('GET', '/admin/rooms/a?format=xml')).toMatchObject({ status: 400 })
  })

  test.each([
    ['/admin/rooms/a', 'a'],
    ['/admin/rooms/a/b', 'a/b'],
    ['/admin/rooms/a%2Fb', 'a/b'],
    ['/admin/rooms/a%252Fb', 'a%2Fb'],
    ['/admin/rooms/a/close', 'a/close'],
    ['/admin/rooms/%F0%9F%8E%A8', '🎨'],
    ['/admin/rooms/..%2F..%2Fetc', '../../etc'],
  ])('[FR1] %s is the room "%s"', async (path, room) => {
    await send('GET', path)
    expect(calls).toEqual([['boardAsUpdate', room]])
    await send('DELETE', path)
    expect(calls).toEqual([['deleteRoom', room]])
    await send('POST', `${path}/close`)
    expect(calls).toEqual([['closeRoom', room]])
  })

  test.each(['/admin/rooms/', '/admin/rooms/%', '/admin/rooms/%ff', `/admin/rooms/${'a'.repeat(513)}`])(
    'a bad room name: %s',
    async (path) => {
      expect(await send('GET', path)).toMatchObject({ status: 400 })
      expect(await send('DELETE', path)).toMatchObject({ status: 400 })
      expect(await send('POST', `${path}/close`)).toMatchObject({ status: 400 })
      expect(calls).toEqual([])
    },
  )

  test('closing and deleting say how many clients it closed', async () => {
    expect(parsed(await send('POST', '/admin/rooms/a/close'))).toEqual({ closed: 2 })
    expect(parsed(await send('DELETE', '/admin/rooms/a'))).toEqual({ deleted: true, closed: 1 })
  })

  test('what is not there is answered with 404', async () => {
    const none: Partial<AdminFacts> = {
      boardAsUpdate: async () => null,
      boardAsJson: async () => null,
      closeRoom: () => null,
      deleteRoom: async () => null,
    }
    for (const [method, path] of [
      ['GET', '/admin/rooms/a'],
      ['GET', '/admin/rooms/a?format=json'],
      ['POST', '/admin/rooms/a/close'],
      ['DELETE', '/admin/rooms/a'],
      ['GET', '/admin'],
      ['GET', '/admin/rooms2'],
    ] as const) {
      expect(await send(method, path, { facts: none })).toMatchObject({ status: 404 })
    }
  })

  test.each([
    ['POST', '/admin/rooms', 'GET'],
    ['DELETE', '/admin/clients', 'GET'],
    ['GET', '/admin/revoke', 'POST'],
    ['PUT', '/admin/rooms/a', 'GET, DELETE'],
    ['POST', '/admin/rooms/a', 'GET, DELETE'],
    ['PUT', '/admin/rooms/a/close', 'GET, DELETE, POST'],
  ])('%s %s is not allowed, %s is', async (method, path, allow) => {
    expect(await send(method, path)).toMatchObject({ status: 405, headers: { allow } })
    expect(calls).toEqual([])
  })

  test('a fact that fails is answered with 500 and told to the log, not to the caller', async () => {
    const failure = new Error('disk on fire')
    const response = await send('GET', '/admin/rooms/a', { facts: { boardAsUpdate: () => Promise.reject(failure) } })
    expect(response.status).toBe(500)
    expect(response.body).not.toContain('fire')
    expect(errors).toEqual([failure])
  })
})

describe('[AC3] revoking', () => {
  test.each([[{ subject: 'ann' }], [{ room: 'a/b' }], [{ subject: 'ann', room: 'a/b' }]])('%j', async (what) => {
    expect(parsed(await send('POST', '/admin/revoke', { body: JSON.stringify(what) }))).toEqual({ closed: 4 })
    expect(calls).toEqual([['revoke', what]])
  })

  test.each([
    '',
    'null',
    '[]',
    '{}',
    '"ann"',
    '{"subject":""}',
    '{"subject":1}',
    '{"room":""}',
    '{"room":null,"subject":"ann"}',
    '{"user":"ann","room":"a"}',
    JSON.stringify({ subject: 'x'.repeat(257) }),
    JSON.stringify({ room: 'x'.repeat(513) }),
    '{"subject":"ann"',
  ])('a body that is none: %s', async (body) => {
    expect(await send('POST', '/admin/revoke', { body })).toMatchObject({ status: 400 })
    expect(calls).toEqual([])
  })

  test('a body longer than the caller takes', async () => {
    expect(await send('POST', '/admin/revoke', { body: null })).toMatchObject({ status: 413 })
  })
})
