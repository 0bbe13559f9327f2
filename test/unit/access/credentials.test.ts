import { describe, expect, test } from 'vitest'
import { readCredentials } from '../../../src/access/credentials.ts'

function read(query = '', authorization = '', protocols = '') {
  return readCredentials({ query, authorization, protocols })
}

describe('[AC1] where a token may be', () => {
  test.each([
    ['nowhere', '', '', '', null],
    ['in the query', 'token=a.b.c', '', '', 'a.b.c'],
    ['in the query among others', 'notices=1&token=a.b.c&x=y', '', '', 'a.b.c'],
    ['in the query, encoded', 'token=a%2Eb.c', '', '', 'a.b.c'],
    ['in the query, twice: the first', 'token=a&token=b', '', '', 'a'],
    ['in the query, empty', 'token=', '', '', null],
    ['under another name', 'Token=a', '', '', null],
    ['as a bearer', '', 'Bearer a.b.c', '', 'a.b.c'],
    ['as a bearer in lower case', '', 'bearer   a.b.c ', '', 'a.b.c'],
    ['in another scheme', '', 'Basic a.b.c', '', null],
    ['as two bearers', '', 'Bearer a b', '', null],
    ['in the subprotocols', '', '', 'y-weir, token.a.b.c', 'a.b.c'],
    ['in the subprotocols without spaces', '', '', 'token.a.b.c,y-weir', 'a.b.c'],
    ['in the subprotocols, empty', '', '', 'token.', null],
    ['in the query and as a bearer: the query', 'token=a', 'Bearer b', 'token.c', 'a'],
    ['as a bearer and in the subprotocols: the bearer', 'token=', 'Bearer b', 'token.c', 'b'],
  ])('%s', (_, query, authorization, protocols, token) => {
    expect(read(query, authorization, protocols).token).toBe(token)
  })
})

describe('[AC1] the subprotocol that is answered', () => {
  test.each([
    ['none offered, none answered', '', null],
    ['ours beside the token', 'y-weir, token.a.b.c', 'y-weir'],
    ['ours after the token', 'token.a.b.c,y-weir', 'y-weir'],
    ['ours among others', 'chat, y-weir', 'y-weir'],
    ['the first of others, as a y-websocket server does', 'chat, superchat', 'chat'],
    ['another beside the token', 'token.a.b.c, chat', 'chat'],
    ['the token alone is never repeated', 'token.a.b.c', null],
    ['two tokens are never repeated', 'token.a.b.c, token.d.e.f', null],
    ['what is no name is never repeated', 'a\r\nset-cookie: b, c d, "e"', null],
  ])('%s', (_, protocols, subprotocol) => {
    expect(read('', '', protocols).subprotocol).toBe(subprotocol)
  })
})
