/** Longest room name, bytes of UTF-8 after decoding (FR1). */
const MAX_ROOM_NAME_BYTES = 512

/**
 * The room a socket's URL path names: what follows the first slash, percent-decoded once. Null for an empty, over-long or
 * undecodable one.
 */
export function roomName(path: string): string | null {
  try {
    const name = decodeURIComponent(path.slice(1))
    return name !== '' && Buffer.byteLength(name) <= MAX_ROOM_NAME_BYTES ? name : null
  } catch {
    return null
  }
}
