/** Where this page's token comes from. Open servers need none. */

/** `#token=…` in the address: never sent to the server that serves the page, and taken out of the address bar at once. */
const tokenFromAddress = (() => {
  const key = `y-weir:token:${new URLSearchParams(location.search).get('room') ?? ''}`
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  try {
    // This tab keeps it through a reload; other tabs and the address bar never see it.
    if (!token) return sessionStorage.getItem(key)
    sessionStorage.setItem(key, token)
  } catch {
    // Storage is switched off: the token holds until the page is left.
  }
  if (token) history.replaceState(null, '', location.pathname + location.search)
  return token
})()

/** Does this page come in with a token? Then a link alone lets nobody in. */
export const hasToken = (): boolean => tokenFromAddress !== null || canRenewToken()

const tokenUrl = (): string | null =>
  document.querySelector<HTMLMetaElement>('meta[name="y-weir-token-url"]')?.content || null

export const canRenewToken = (): boolean => tokenUrl() !== null

/**
 * The token for the next connection: fresh from the endpoint that the page names, else the one from the address.
 * The endpoint is asked with `?room=` and answers with JSON `{ "token": "…" }`; null when it cannot be reached or refuses.
 */
export async function freshToken(room: string): Promise<string | null> {
  const endpoint = tokenUrl()
  if (endpoint === null) return tokenFromAddress
  try {
    const url = new URL(endpoint, location.href)
    url.searchParams.set('room', room)
    const response = await fetch(url, {
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(5_000),
    })
    const body = (await response.json()) as { token?: unknown }
    return response.ok && typeof body.token === 'string' ? body.token : null
  } catch {
    return null
  }
}
