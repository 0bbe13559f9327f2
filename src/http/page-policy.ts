/** What the whiteboard page may do, and who may show it inside a page of their own. */

const ANCESTOR = /^(?:'self'|(?:https?:\/\/)?(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::(?:\d{1,5}|\*))?)$/i

const split = (frameAncestors: string): string[] => frameAncestors.split(/\s+/).filter(Boolean)

/** What is wrong with a value of `FRAME_ANCESTORS`, in words; none of it can end the directive and begin another. */
export const frameAncestorMistakes = (frameAncestors: string): string[] =>
  split(frameAncestors)
    .filter((entry) => !ANCESTOR.test(entry))
    .map((entry) => `${JSON.stringify(entry)} is no origin like https://wiki.example.org, nor 'self'`)

/**
 * The `Content-Security-Policy` of every file. Scripts, workers and styles come from our own files only; `blob:` and `data:`
 * images are the export of a drawing; sockets may go to another host, because a page may be pointed at another server.
 */
export function pagePolicy(frameAncestors = ''): string {
  const ancestors = split(frameAncestors)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self' ws: wss:",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ].join('; ')
}
