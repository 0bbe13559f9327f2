import { isBearer } from './bearer.ts'
import { bytes, type HttpResponse, json, methodNotAllowed, text } from './response.ts'

/**
 * What the person on call can see and do, behind `ADMIN_TOKEN`.
 *   GET    /admin/rooms                 rooms in memory
 *   GET    /admin/clients               clients, ?room= and ?limit= (1 000, at most 10 000)
 *   GET    /admin/rooms/<room>          the board as a Yjs update; JSON for `Accept: application/json` or ?format=json
 *   DELETE /admin/rooms/<room>          the board is deleted and stays deleted
 *   POST   /admin/rooms/<room>/close    its clients are closed
 *   POST   /admin/revoke                {"subject": …} and/or {"room": …}: sessions end, older tokens no longer count
 * `<room>` is percent-decoded once, as in a client's address: `a/b` and `a%2Fb` are the same room.
 */
export interface AdminRequest {
  readonly method: string
  /** The URL's path as it came, percent-encoded. */
  readonly path: string
  /** The URL's query as it came, without the `?`. */
  readonly query: string
  /** A request header by its lower-case name, or an empty text. */
  header(name: string): string
  /** The whole body, or null when it is longer than the caller takes. Called before the first await, or not at all. */
  body(): Promise<Uint8Array | null>
}

/** What these routes ask of the server. Rows go out as they are: whoever measures them decides what is in them. */
export interface AdminFacts {
  rooms(): readonly object[] | Promise<readonly object[]>
  /** At most `limit` rows, of one room unless null; `total` counts those left out too. */
  clients(room: string | null, limit: number): { rows: readonly object[]; total: number }
  /** The board as one update, null when there is none. Loads it when it is not in memory. */
  boardAsUpdate(room: string): Promise<Uint8Array | null>
  /** The board's content as plain data, null when there is none. */
  boardAsJson(room: string): Promise<unknown>
  /** Closes a room's clients. How many they were; null when the room is not in memory. */
  closeRoom(room: string): number | null | Promise<number | null>
  /** Deletes a board for good. How many clients were closed; null when there is no such board. */
  deleteRoom(room: string): Promise<number | null>
  /** Ends sessions and refuses tokens issued before now. How many sessions ended. */
  revoke(what: { readonly subject?: string; readonly room?: string }): number | Promise<number>
}

const DEFAULT_CLIENTS = 1_000
const MAX_CLIENTS = 10_000

/** As in a token: a longer subject cannot be in one. */
const MAX_SUBJECT_LENGTH = 256
const MAX_ROOM_BYTES = 512

/**
 * Answers a request below `/admin`. Without a token set there is nothing here (404); without the right one, 401
 * whatever the path is. A rejection of a fact is answered with 500 and given to `onError`.
 */
export async function respondAdmin(
  request: AdminRequest,
  facts: AdminFacts,
  adminToken: string | null,
  onError: (error: unknown) => void,
): Promise<HttpResponse> {
  if (!adminToken) return text(404, 'not found')
  if (!isBearer(request.header('authorization'), adminToken)) {
    return text(401, 'not authorised', { 'www-authenticate': 'Bearer realm="admin"' })
  }
  try {
    return await route(request, facts)
  } catch (error) {
    onError(error)
    return text(500, 'failed, see the log')
  }
}

async function route(request: AdminRequest, facts: AdminFacts): Promise<HttpResponse> {
  const { method, path } = request
  if (path === '/admin/rooms') {
    return method === 'GET' ? json(200, { rooms: await facts.rooms() }) : methodNotAllowed(['GET'])
  }
  if (path === '/admin/clients') return method === 'GET' ? clients(request, facts) : methodNotAllowed(['GET'])
  if (path === '/admin/revoke') return method === 'POST' ? revoke(request, facts) : methodNotAllowed(['POST'])
  if (path.startsWith('/admin/rooms/')) return room(request, facts, path.slice('/admin/rooms/'.length))
  return text(404, 'not found')
}

async function room(request: AdminRequest, facts: AdminFacts, rest: string): Promise<HttpResponse> {
  const { method } = request
  // A room may be called `a/close`: the ending means the action only where the method says so.
  const closing = rest.endsWith('/close')
  const name = decodeRoom(method === 'POST' && closing ? rest.slice(0, -'/close'.length) : rest)
  if (name === null) return text(400, 'bad room name')
  switch (method) {
    case 'GET':
      return board(request, facts, name)
    case 'DELETE': {
      const closed = await facts.deleteRoom(name)
      return closed === null ? text(404, 'no such board') : json(200, { deleted: true, closed })
    }
    case 'POST': {
      if (!closing) return methodNotAllowed(['GET', 'DELETE'])
      const closed = await facts.closeRoom(name)
      return closed === null ? text(404, 'no such room') : json(200, { closed })
    }
    default:
      return methodNotAllowed(closing ? ['GET', 'DELETE', 'POST'] : ['GET', 'DELETE'])
  }
}

async function board(request: AdminRequest, facts: AdminFacts, name: string): Promise<HttpResponse> {
  const format = new URLSearchParams(request.query).get('format')
  if (format !== null && format !== 'json' && format !== 'update') return text(400, 'format is json or update')
  if (format === 'json' || (format === null && /\bapplication\/json\b/i.test(request.header('accept')))) {
    const content = await facts.boardAsJson(name)
    return content === null || content === undefined ? text(404, 'no such board') : json(200, content)
  }
  const update = await facts.boardAsUpdate(name)
  if (!update) return text(404, 'no such board')
  return bytes(200, update, 'application/octet-stream', {
    'cache-control': 'no-store',
    'content-disposition': 'attachment; filename="board.yjs"',
  })
}

function clients(request: AdminRequest, facts: AdminFacts): HttpResponse {
  const query = new URLSearchParams(request.query)
  const limit = query.get('limit') ?? String(DEFAULT_CLIENTS)
  if (!/^\d{1,6}$/.test(limit)) return text(400, 'limit is a number')
  const { rows, total } = facts.clients(query.get('room'), Math.min(Number(limit), MAX_CLIENTS))
  return json(200, { total, clients: rows })
}

async function revoke(request: AdminRequest, facts: AdminFacts): Promise<HttpResponse> {
  const body = await request.body()
  if (!body) return text(413, 'body too large')
  const what = parseRevocation(body)
  if (!what) {
    return text(400, 'expected {"subject": …}, {"room": …} or both, as JSON texts')
  }
  return json(200, { closed: await facts.revoke(what) })
}

/** An unknown field is a mistake, not a detail: `{"user": "a", "room": "b"}` would otherwise revoke a whole room. */
function parseRevocation(body: Uint8Array): { subject?: string; room?: string } | null {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { subject, room, ...rest } = value as Record<string, unknown>
  if (Object.keys(rest).length > 0 || (subject === undefined && room === undefined)) return null
  if (subject !== undefined && !(typeof subject === 'string' && subject && subject.length <= MAX_SUBJECT_LENGTH)) {
    return null
  }
  if (room !== undefined && !(typeof room === 'string' && isRoomName(room))) return null
  return { ...(subject === undefined ? {} : { subject }), ...(room === undefined ? {} : { room }) }
}

function decodeRoom(encoded: string): string | null {
  try {
    const name = decodeURIComponent(encoded)
    return isRoomName(name) ? name : null
  } catch {
    return null
  }
}

function isRoomName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MAX_ROOM_BYTES
}
