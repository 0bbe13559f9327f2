import type { HttpRequest } from 'uWebSockets.js'

/**
 * A request's headers, copied, by lower-case name; an empty text for one that is not there. Lines of the same name are joined
 * by commas: uWS's own `getHeader` gives the first line only, and every proxy may add one (RFC 9110, 5.3).
 */
export function copyHeaders(request: HttpRequest): (name: string) => string {
  const headers = new Map<string, string>()
  request.forEach((name, value) => {
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier},${value}`)
  })
  return (name) => headers.get(name) ?? ''
}
