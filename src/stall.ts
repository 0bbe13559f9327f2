/**
 * `y-weir stall`: a client that reads slowly, or not at all, and says what the server did about it. For whoever wants to know what a bad
 * network looks like from the other end before their users have one.
 *   connect ─▶ SyncStep1 ─▶ so many bytes a second ─▶ a line a second ─▶ how it ended
 */
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { parseArgs } from 'node:util'

const USAGE = `y-weir stall <url> [--bytes-per-second n] [--seconds n] [--token t]

  <url>                   of a room, as ws://localhost:1234/board
  --bytes-per-second (0)  what it reads; 0 reads nothing after the handshake
  --seconds (60)          how long, unless the server ends it before
  --token                 an access token
`

/** How often it reads, ms. */
const READ_MS = 100
const CLOSE = 0x8
/** Unasked for, empty, masked with zeros: it says nothing, and is answered by nothing. */
const PONG = Uint8Array.of(0x8a, 0x80, 0, 0, 0, 0)

/** Resolves with the exit code: 0 when it was through, 1 when it could not connect, 64 for wrong usage. */
export async function stall(args: readonly string[]): Promise<number> {
  const options = {
    'bytes-per-second': { type: 'string', default: '0' },
    seconds: { type: 'string', default: '60' },
    token: { type: 'string' },
  } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [bytesPerSecond, seconds] = [Number(values['bytes-per-second']), Number(values.seconds)]
    const [address = ''] = positionals
    if (!/^wss?:/.test(address) || !URL.canParse(address) || !(bytesPerSecond >= 0) || !(seconds > 0)) throw new Error()
    const url = new URL(address)
    if (values.token !== undefined) url.searchParams.set('token', values.token)
    return await read(url, bytesPerSecond, seconds)
  } catch (error) {
    const { message } = error as Error
    process.stderr.write(message === '' ? USAGE : `stall: ${message}\n`)
    return message === '' ? 64 : 1
  }
}

async function read(url: URL, bytesPerSecond: number, seconds: number): Promise<number> {
  const { socket, head } = await connect(url)
  const began = performance.now()
  const frames = new Frames()
  frames.push(head)
  let isOver = false
  socket.on('close', () => {
    isOver = true
  })
  socket.on('error', () => {})
  socket.pause()
  socket.write(masked(Uint8Array.of(0, 0, 1, 0)))
  let told = began
  while (!isOver && performance.now() - began < seconds * 1000 && frames.closed === null) {
    await new Promise((resolve) => setTimeout(resolve, READ_MS))
    for (let left = Math.ceil((bytesPerSecond * READ_MS) / 1000); left > 0; ) {
      const chunk = socket.read(Math.min(left, socket.readableLength)) as Buffer | null
      if (chunk === null) break
      left -= chunk.length
      frames.push(chunk)
    }
    if (performance.now() - told >= 1000) {
      told = performance.now()
      // Whoever does not read learns from a write alone that the other end is gone.
      socket.write(PONG)
      say(`${Math.round((told - began) / 1000)} s: ${frames.bytes} bytes in ${frames.count} frames read`)
    }
  }
  // What the server said at last lies behind what was not read.
  for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
    frames.push(chunk)
  const ms = Math.round(performance.now() - began)
  if (frames.closed !== null) say(`closed by the server after ${ms} ms: ${frames.closed.code} ${frames.closed.reason}`)
  else if (isOver) say(`cut by the server after ${ms} ms, without a close frame`)
  else say(`still connected after ${ms} ms`)
  socket.destroy()
  return 0
}

function connect(url: URL): Promise<{ socket: Socket; head: Buffer }> {
  const { request } = url.protocol === 'wss:' ? https : http
  const target = new URL(url)
  target.protocol = url.protocol === 'wss:' ? 'https:' : 'http:'
  return new Promise((resolve, reject) => {
    const upgrade = request(target, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
      },
    })
    upgrade.on('upgrade', (_response, socket: Socket, head: Buffer) => resolve({ socket, head }))
    upgrade.on('response', ({ statusCode, statusMessage }) =>
      reject(new Error(`refused: ${statusCode} ${statusMessage}`)),
    )
    upgrade.on('error', (error) => reject(new Error(error.message || String(error))))
    upgrade.end()
  })
}

/** A client's frame: masked, with a key of zeros. */
function masked(payload: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(0x82, 0x80 | payload.length, 0, 0, 0, 0), payload])
}

/** Counts a server's frames as their bytes come, and keeps what a close frame says. */
class Frames {
  bytes = 0
  count = 0
  closed: { readonly code: number; readonly reason: string } | null = null
  #waiting = Buffer.alloc(0)
  /** Of the frame that is being read, bytes that are not looked at. */
  #skip = 0

  push(chunk: Buffer): void {
    this.bytes += chunk.length
    const skipped = Math.min(this.#skip, chunk.length)
    this.#skip -= skipped
    this.#waiting = Buffer.concat([this.#waiting, chunk.subarray(skipped)])
    while (this.#skip === 0 && this.#next()) {}
  }
  #next(): boolean {
    const bytes = this.#waiting
    if (bytes.length < 2) return false
    const short = bytes[1]! & 0x7f
    const head = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < head) return false
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
    const isClose = (bytes[0]! & 0xf) === CLOSE
    if (isClose && bytes.length < head + length) return false
    this.count++
    const payload = bytes.subarray(head, head + length)
    if (isClose)
      this.closed = { code: length >= 2 ? payload.readUInt16BE(0) : 1005, reason: payload.subarray(2).toString() }
    this.#skip = length - payload.length
    this.#waiting = bytes.subarray(head + payload.length)
    return true
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
