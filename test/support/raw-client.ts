/**
 * A websocket client on a bare TCP socket, for what no library does: stop reading, reset, split a frame, ignore a ping.
 * Frames are kept as they come; `join` makes it a whole Yjs client beside that.
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { TestContext } from 'vitest'
import * as sync from 'y-protocols/sync'
import * as Y from 'yjs'
import { until } from './until.ts'
import { varuint } from './update-bytes.ts'

const SYNC = 0
const PRESENCE = 1

export interface RawFrame {
  readonly kind: 'step1' | 'step2' | 'update' | 'presence' | 'other'
  readonly bytes: Uint8Array
  /** `performance.now()` when it had been read. */
  readonly at: number
}

export interface RawOptions {
  /** Keep every frame in `frames`; turn it off where megabytes pass. */
  readonly record?: boolean
  /** Whether pings are answered. */
  readonly pongs?: boolean
  /** Beside what an upgrade needs, or instead of it. */
  readonly headers?: Record<string, string>
}

export class RawClient {
  readonly socket: Socket
  readonly frames: RawFrame[] = []
  /** Called for every data frame, after it was recorded and applied. */
  onFrame: (frame: RawFrame) => void = () => {}
  /** What the server said when it closed. */
  closeFrame: { readonly code: number; readonly reason: string } | null = null
  /** The TCP connection is over, whoever ended it. */
  isOver = false
  /** Frames that came after a close frame: there must be none. */
  framesAfterClose = 0
  textFrames = 0
  pings = 0
  bytesRead = 0
  /** Its document while it is in a room. */
  doc: Y.Doc | null = null
  isSynced = false
  /** Frames after which the document waited for something: the server sent an update before what it depends on. */
  parked = 0
  readonly #options: RawOptions
  #inbox: Buffer = Buffer.alloc(0)
  #upgraded = false
  #readBudget: number | null = null
  /** The server's SyncStep1 that came before there was a document. */
  #question: RawFrame | null = null
  status = ''
  /** The answer to the upgrade: status line and header lines. */
  head = ''

  constructor(socket: Socket, options: RawOptions) {
    this.socket = socket
    this.#options = options
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isOver = true
    })
  }

  get isUpgraded(): boolean {
    return this.#upgraded
  }

  /** Stops reading: the kernel's buffers fill, then the server's. */
  pause(): void {
    this.socket.pause()
  }
  resume(): void {
    this.#readBudget = null
    this.socket.resume()
  }
  /** Reads about `bytes` more, then stops again. */
  async readSome(bytes: number): Promise<void> {
    this.#readBudget = bytes
    this.socket.resume()
    // The server may have nothing more.
    await until(() => this.#readBudget === null || this.isOver, 'some bytes are read', 250).catch(() => {})
    this.#readBudget = null
    this.pause()
  }
  /** RST, as from a machine that was switched off and on. */
  reset(): void {
    this.socket.resetAndDestroy()
  }

  /** One binary message. */
  send(bytes: Uint8Array): void {
    if (this.socket.writable) this.socket.write(clientFrame(0x2, bytes, true))
  }
  sendText(text: string): void {
    this.socket.write(clientFrame(0x1, Buffer.from(text), true))
  }
  sendPing(): void {
    this.socket.write(clientFrame(0x9, new Uint8Array(), true))
  }
  /** One message in `parts` websocket frames, each written to TCP in two halves. */
  async sendSplit(bytes: Uint8Array, parts: number): Promise<void> {
    const size = Math.ceil(bytes.length / parts)
    for (let i = 0; i < parts; i++) {
      const frame = clientFrame(i === 0 ? 0x2 : 0x0, bytes.subarray(i * size, (i + 1) * size), i === parts - 1)
      const middle = Math.ceil(frame.length / 2)
      for (const half of [frame.subarray(0, middle), frame.subarray(middle)]) {
        await new Promise((resolve) => this.socket.write(half, resolve))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }
  /** A polite end of the connection: close frame, then FIN when the server has answered. */
  close(code = 1000): void {
    this.socket.write(clientFrame(0x8, Buffer.from([code >> 8, code & 0xff]), true))
  }

  /** Takes part in the room with this document, as a stock client does. */
  join(doc: Y.Doc = new Y.Doc()): Y.Doc {
    this.doc = doc
    doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin === this) return
      this.send(syncMessage((encoder) => sync.writeUpdate(encoder, update)))
    })
    this.send(syncMessage((encoder) => sync.writeSyncStep1(encoder, doc)))
    // The server has asked already; left without an answer, it would ask again.
    if (this.#question !== null) this.#sync(doc, this.#question)
    this.#question = null
    return doc
  }
  sendUpdate(update: Uint8Array): void {
    this.send(syncMessage((encoder) => sync.writeUpdate(encoder, update)))
  }
  sendStep1(stateVector: Uint8Array = Uint8Array.of(0)): void {
    this.send(Buffer.concat([Uint8Array.of(SYNC, 0, ...varuint(stateVector.length)), stateVector]))
  }
  /** Presence entries as given: id, clock, state. A text is sent as it is, whether or not it is JSON. */
  sendPresence(...entries: readonly (readonly [id: number, clock: number, state: unknown])[]): void {
    this.send(presenceMessage(entries))
  }
  /** The newest presence this client was told, by id; removed ones are left out. */
  presence(): Map<number, { readonly clock: number; readonly state: unknown }> {
    const known = new Map<number, { clock: number; state: unknown }>()
    for (const { kind, bytes } of this.frames) {
      if (kind !== 'presence') continue
      for (const { id, clock, state } of readPresence(bytes)) {
        const before = known.get(id)
        const isNews = before === undefined || clock > before.clock || (clock === before.clock && state === null)
        if (isNews) known.set(id, { clock, state })
      }
    }
    for (const [id, { state }] of known) if (state === null) known.delete(id)
    return known
  }

  #read(chunk: Buffer): void {
    this.bytesRead += chunk.length
    this.#inbox = this.#inbox.length === 0 ? chunk : Buffer.concat([this.#inbox, chunk])
    if (!this.#upgraded) {
      const end = this.#inbox.indexOf('\r\n\r\n')
      if (end < 0) return
      this.head = this.#inbox.subarray(0, end).toString()
      this.status = this.head.split('\r\n')[0]!
      this.#inbox = this.#inbox.subarray(end + 4)
      this.#upgraded = true
    }
    let at = 0
    for (;;) {
      const frame = frameAt(this.#inbox, at)
      if (frame === null) break
      at = frame.end
      this.#take(frame.opcode, frame.payload)
    }
    this.#inbox = this.#inbox.subarray(at)
    if (this.#readBudget !== null && (this.#readBudget -= chunk.length) <= 0) {
      this.#readBudget = null
      this.pause()
    }
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === 0x9) {
      this.pings++
      if (this.#options.pongs ?? true) this.socket.write(clientFrame(0xa, payload, true))
      return
    }
    if (opcode === 0x8) {
      // An empty one is read as 1005, "no status".
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
      this.closeFrame = { code, reason: payload.subarray(2).toString() }
      return
    }
    if (this.closeFrame !== null) this.framesAfterClose++
    if (opcode === 0x1) this.textFrames++
    if (opcode !== 0x2) return
    const frame: RawFrame = { kind: kindOf(payload), bytes: payload, at: performance.now() }
    if (this.#options.record ?? true) this.frames.push({ ...frame, bytes: Uint8Array.from(payload) })
    if (this.doc !== null && payload[0] === SYNC) this.#sync(this.doc, frame)
    else if (frame.kind === 'step1') this.#question = { ...frame, bytes: Uint8Array.from(payload) }
    this.onFrame(frame)
  }

  #sync(doc: Y.Doc, frame: RawFrame): void {
    const decoder = decoding.createDecoder(frame.bytes)
    decoding.readVarUint(decoder)
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, SYNC)
    sync.readSyncMessage(decoder, encoder, doc, this)
    if (encoding.length(encoder) > 1) this.send(encoding.toUint8Array(encoder))
    if (frame.kind === 'step2') this.isSynced = true
    if (doc.store.pendingStructs !== null || doc.store.pendingDs !== null) this.parked++
  }
}

/** Connects and upgrades; the connection is destroyed when the test is over. `path` is sent as it is. */
export async function rawClient(
  t: Pick<TestContext, 'onTestFinished'>,
  port: number,
  path: string,
  options: RawOptions = {},
): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1')
  const client = new RawClient(socket, options)
  t.onTestFinished(() => {
    socket.destroy()
  })
  socket.write(upgradeRequest(port, path, options.headers))
  await until(() => client.isUpgraded || client.isOver, 'the server answers the upgrade')
  return client
}

/** The head of an upgrade, as bytes. */
export function upgradeRequest(port: number, path: string, headers: Record<string, string> = {}): Buffer {
  const lines = Object.entries({
    Host: `127.0.0.1:${port}`,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`GET /${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

/** A raw client that is in the room and has its board. */
export async function rawMember(
  t: Pick<TestContext, 'onTestFinished'>,
  port: number,
  path: string,
  options: RawOptions & { readonly doc?: Y.Doc } = {},
): Promise<RawClient & { readonly doc: Y.Doc }> {
  const client = await rawClient(t, port, path, options)
  client.join(options.doc)
  await until(() => client.isSynced, 'the raw client is synced')
  return client as RawClient & { readonly doc: Y.Doc }
}

export function syncMessage(write: (encoder: encoding.Encoder) => void): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, SYNC)
  write(encoder)
  return encoding.toUint8Array(encoder)
}

export function presenceMessage(entries: readonly (readonly [number, number, unknown])[]): Uint8Array {
  const inner = encoding.createEncoder()
  encoding.writeVarUint(inner, entries.length)
  for (const [id, clock, state] of entries) {
    encoding.writeVarUint(inner, id)
    encoding.writeVarUint(inner, clock)
    encoding.writeVarString(inner, typeof state === 'string' ? state : JSON.stringify(state))
  }
  const outer = encoding.createEncoder()
  encoding.writeVarUint(outer, PRESENCE)
  encoding.writeVarUint8Array(outer, encoding.toUint8Array(inner))
  return encoding.toUint8Array(outer)
}

export function readPresence(bytes: Uint8Array): { id: number; clock: number; state: unknown }[] {
  const outer = decoding.createDecoder(bytes)
  decoding.readVarUint(outer)
  const decoder = decoding.createDecoder(decoding.readVarUint8Array(outer))
  const count = decoding.readVarUint(decoder)
  return Array.from({ length: count }, () => ({
    id: decoding.readVarUint(decoder),
    clock: decoding.readVarUint(decoder),
    state: JSON.parse(decoding.readVarString(decoder)) as unknown,
  }))
}

function kindOf(payload: Uint8Array): RawFrame['kind'] {
  if (payload[0] === PRESENCE) return 'presence'
  if (payload[0] !== SYNC) return 'other'
  return (['step1', 'step2', 'update'] as const)[payload[1] ?? 3] ?? 'other'
}

/** A masked frame, as clients must send them (RFC 6455, section 5.2). */
export function clientFrame(opcode: number, payload: Uint8Array, final: boolean): Buffer {
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([0, 0x80 | length])
      : length < 65_536
        ? Buffer.from([0, 0x80 | 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([0, 0x80 | 127]), bigEndian64(length)])
  head[0] = (final ? 0x80 : 0) | opcode
  const mask = randomBytes(4)
  const masked = Buffer.from(payload)
  for (let i = 0; i < masked.length; i++) masked[i]! ^= mask[i & 3]!
  return Buffer.concat([head, mask, masked])
}

function bigEndian64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/** The whole server frame at `at`, or null. Servers do not mask, and ours does not fragment. */
function frameAt(buffer: Buffer, at: number): { opcode: number; payload: Buffer; end: number } | null {
  if (buffer.length - at < 2) return null
  let length = buffer[at + 1]! & 0x7f
  let start = at + 2
  if (length === 126) {
    if (buffer.length - at < 4) return null
    length = buffer.readUInt16BE(start)
    start += 2
  } else if (length === 127) {
    if (buffer.length - at < 10) return null
    length = Number(buffer.readBigUInt64BE(start))
    start += 8
  }
  const end = start + length
  return end > buffer.length ? null : { opcode: buffer[at]! & 0x0f, payload: buffer.subarray(start, end), end }
}
