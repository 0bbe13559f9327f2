import type { RawClient } from './raw-client.ts'

/** The notices a client was given, in order. */
export const noticesOf = (client: RawClient): Record<string, unknown>[] =>
  client.frames.flatMap(({ bytes }) =>
    bytes[0] === 100 ? [JSON.parse(Buffer.from(bytes.subarray(2)).toString()) as Record<string, unknown>] : [],
  )
