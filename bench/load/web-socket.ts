/**
 * A WebSocket client that costs the load's core little: one read buffer for all sockets, frames handed over as ranges of
 * it, several frames written in one go. Binary frames, pings and close; nothing else is expected of the servers.
 */
import { connect, type Socket } from 'node:net'
import { controlFrame } from './wire.ts'

export interface SocketEvents {
  open(): void
  /** One frame's payload, `bytes[from, to)`: only lent. */
  message(bytes: Uint8Array, from: number, to: number): void
  /** Everything that one read brought has been handed over. */
  readDone(): void
  /** `code` is the close frame's, 1006 without one. Not called after `destroy`. */
  closed(code: number): void
}

export interface Target {
  readonly port: number
  readonly path: string
}

const BINARY = 0x82
const CLOSE = 0x88
const PING = 0x89
const PONG = 0x8a

/** Reading is synchronous, so that all sockets can share one. */
const readBuffer = Buffer.allocUnsafeSlow(256 * 1024)

/**
 * Sources of the connections, 127.0.0.2 upwards: servers limit connections per address, and one address has only so many
 * ports.
 */
const SOURCES = 60
let connections = 0

export class ClientSocket {
  readonly #socket: Socket
  readonly #events: SocketEvents
  #upgraded = false
  /** The beginning of a frame's header, or of the handshake's answer. */
  #rest: Buffer | null = null
  /** A frame that came in several reads. */
  #body: Buffer | null = null
  #filled = 0
  #opcode = 0
  #closeCode = 1006
  #isReading = false
  #destroyed = false
  #out: Buffer[] = []
  bytesRead = 0

  constructor(target: Target, events: SocketEvents) {
    this.#events = events
    this.#socket = connect({
      host: '127.0.0.1',
      port: target.port,
      localAddress: `127.0.0.${2 + (connections++ % SOURCES)}`,
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          this.#read(length)
          return true
        },
      },
    })
    this.#socket.on('connect', () => {
      this.#socket.write(
        `GET ${target.path} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      )
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      if (!this.#destroyed) this.#events.closed(this.#closeCode)
    })
  }

  /** A whole frame, written with the others of this read, or at once. */
  send(frame: Buffer): void {
    if (this.#destroyed) return
    if (this.#isReading) this.#out.push(frame)
    else this.#socket.write(frame)
  }
  /** Stops reading: what the server sends stays in the kernel until it is full. */
  pause(): void {
    this.#socket.pause()
  }
  resume(): void {
    this.#socket.resume()
  }
  destroy(): void {
    this.#destroyed = true
    this.#socket.destroy()
  }
  /** Bytes that the kernel has not taken from us yet. */
  get unsent(): number {
    return this.#socket.writableLength
  }

  #read(length: number): void {
    this.bytesRead += length
    this.#isReading = true
    this.#take(readBuffer, length)
    this.#events.readDone()
    this.#isReading = false
    const out = this.#out
    if (out.length === 0) return
    this.#out = []
    if (!this.#destroyed) this.#socket.write(out.length === 1 ? out[0]! : Buffer.concat(out))
  }

  #take(chunk: Buffer, chunkLength: number): void {
    let bytes = chunk
    let length = chunkLength
    let at = 0
    if (this.#body !== null) {
      const taken = Math.min(this.#body.length - this.#filled, length)
      bytes.copy(this.#body, this.#filled, 0, taken)
      this.#filled += taken
      at = taken
      if (this.#filled < this.#body.length) return
      const body = this.#body
      this.#body = null
      this.#deliver(this.#opcode, body, 0, body.length)
    }
    if (this.#rest !== null) {
      bytes = Buffer.concat([this.#rest, bytes.subarray(at, length)])
      length = bytes.length
      at = 0
      this.#rest = null
    }
    if (!this.#upgraded) {
      at = this.#handshake(bytes, length)
      if (at < 0) return
    }
    while (at < length) {
      const headEnd = at + 2
      if (headEnd > length) break
      const opcode = bytes[at]!
      const short = bytes[at + 1]!
      let from = headEnd
      let size = short
      if (short === 126) {
        from += 2
        if (from > length) break
        size = bytes.readUInt16BE(headEnd)
      } else if (short === 127) {
        from += 8
        if (from > length) break
        size = Number(bytes.readBigUInt64BE(headEnd))
      }
      if (from + size > length) {
        this.#body = Buffer.allocUnsafe(size)
        this.#filled = bytes.copy(this.#body, 0, from, length)
        this.#opcode = opcode
        return
      }
      this.#deliver(opcode, bytes, from, from + size)
      at = from + size
    }
    if (at < length) this.#rest = Buffer.from(bytes.subarray(at, length))
  }

  /** Position behind the answer, or -1: it is not complete or not a yes. */
  #handshake(bytes: Buffer, length: number): number {
    const end = bytes.subarray(0, length).indexOf('\r\n\r\n')
    if (end < 0) {
      this.#rest = Buffer.from(bytes.subarray(0, length))
      return -1
    }
    if (!bytes.toString('latin1', 0, end).startsWith('HTTP/1.1 101')) {
      this.#socket.destroy()
      return -1
    }
    this.#upgraded = true
    this.#events.open()
    return end + 4
  }

  #deliver(opcode: number, bytes: Buffer, from: number, to: number): void {
    if (opcode === BINARY) this.#events.message(bytes, from, to)
    else if (opcode === PING) this.send(controlFrame(PONG & 0x0f, bytes.subarray(from, to)))
    else if (opcode === CLOSE) {
      if (to - from >= 2) this.#closeCode = bytes.readUInt16BE(from)
      this.#socket.end()
    } else if (opcode !== PONG) throw new Error(`unexpected WebSocket frame ${opcode.toString(16)}`)
  }
}
