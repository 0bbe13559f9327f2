import { get as getPlain, type IncomingMessage } from 'node:http'
import { get as getEncrypted } from 'node:https'
import type { Clock } from '../observe/clock.ts'

/** A set of a hundred RSA keys with certificates is about this long; a real one has two or three keys. */
const MAX_BYTES = 256 * 1024

/** Longest time from the call to the last byte. Whoever waits at the door for a key waits this long at most. */
const DOWNLOAD_TIMEOUT_MS = 5_000

/**
 * Fetches a small JSON document. Rejects on anything but a complete 200 of at most 256 KiB within 5 s that parses.
 * Redirects are not followed: the operator named the address, and another may be inside the operator's own network.
 * The connection is not kept.
 */
export function downloadJson(url: URL, clock: Clock): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getEncrypted : getPlain
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const request = get(url, { agent: false, headers }, (response) => {
      readJson(response).then(settle(resolve), settle(reject))
    })
    const cancel = clock.after(DOWNLOAD_TIMEOUT_MS, () => {
      request.destroy(new Error(`no complete answer within ${DOWNLOAD_TIMEOUT_MS} ms`))
    })
    request.on('error', settle(reject))

    function settle<T>(done: (value: T) => void): (value: T) => void {
      return (value) => {
        cancel()
        done(value)
        request.destroy()
      }
    }
  })
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new Error('not JSON')
  }
}
