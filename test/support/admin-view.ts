import type { TestServer } from './start-server.ts'

export const ADMIN_TOKEN = 'test-admin-token'

/** One row of /admin/clients. */
export interface ClientView {
  readonly room: string
  readonly state: 'admitting' | 'joining' | 'live' | 'holding' | 'behind' | 'ending' | 'closed'
  readonly queuedFrames: number
  readonly heldBytes: number
  readonly drops: number
  readonly resyncs: number
  readonly limited: boolean
}

/** What the server says of each of its clients. It must have been started with `adminToken: ADMIN_TOKEN`. */
export async function clientViews(server: TestServer): Promise<readonly ClientView[]> {
  const response = await fetch(`${server.httpUrl}/admin/clients`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  if (!response.ok) throw new Error(`/admin/clients answered ${response.status}`)
  return ((await response.json()) as { clients: ClientView[] }).clients
}
