/**
 * A process of ten attackers who have read the source: `attackers.ts <port> <room> <seconds> [name]`, all or one of them. Each comes from a loopback address of its
 * own, keeps at one thing, comes back when it is shown the door, and stops by itself. At the end a line of JSON says how often
 * each was closed and with which codes.
 */
import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as encoding from 'lib0/encoding'
import * as sync from 'y-protocols/sync'
import * as Y from 'yjs'
import { Random } from './random.ts'
import { presenceMessage, RawClient, syncMessage, upgradeRequest } from './raw-client.ts'
import { until } from './until.ts'

const [port, room, seconds, only] = [
  Number(process.argv[2]),
  process.argv[3]!,
  Number(process.argv[4]),
  process.argv[5],
]
/** They come back no sooner, ms: what is tested is the server, not the kernel's accept queue. */
const COME_BACK_MS = 200
/** Most bytes one of them has on its way: a server that reads slowly must not fill this process instead. */
const MAX_UNSENT = 4 << 20
const ends = performance.now() + seconds * 1000
const isOver = (): boolean => performance.now() >= ends

try {
  // Below the people and the server: what matters is what the server does with it, not who wins the second core.
  setPriority(15)
} catch {
  // Not root.
}

/** One attacker: an address, and what happened to its sockets. */
class Attacker {
  readonly name: string
  readonly address: string
  readonly random: Random
  readonly closes: Record<string, number> = {}
  connections = 0
  readonly #open = new Set<Socket>()

  constructor(name: string, number: number) {
    this.name = name
    this.address = `127.9.0.${number}`
    this.random = new Random(number)
  }

  async client(path: string): Promise<RawClient> {
    this.connections++
    const socket = connect({ port, host: '127.0.0.1', localAddress: this.address })
    const client = new RawClient(socket, { record: false })
    this.#open.add(socket)
    socket.on('close', () => {
      this.#open.delete(socket)
      const how = client.closeFrame === null ? 'cut' : String(client.closeFrame.code)
      this.closes[how] = (this.closes[how] ?? 0) + 1
    })
    socket.write(upgradeRequest(port, path))
    await until(() => client.isUpgraded || client.isOver, 'an answer', 30_000)
    return client
  }
  /** TCP alone. */
  socket(): Socket {
    this.connections++
    const socket = connect({ port, host: '127.0.0.1', localAddress: this.address })
    socket.on('error', () => {})
    this.#open.add(socket)
    socket.on('close', () => this.#open.delete(socket))
    return socket
  }
  stop(): void {
    for (const socket of this.#open) socket.destroy()
  }
}

const hasRoom = (client: RawClient): boolean => !client.isOver && client.socket.writableLength < MAX_UNSENT
const updateFrame = (update: Uint8Array): Uint8Array => syncMessage((encoder) => sync.writeUpdate(encoder, update))
const step2Frame = (update: Uint8Array): Uint8Array => Buffer.concat([Uint8Array.of(0, 1), payload(update)])
function payload(bytes: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint8Array(encoder, bytes)
  return encoding.toUint8Array(encoder)
}

/** A text at the very beginning of the array `a`, beside no neighbour. */
function writeInsert(encoder: encoding.Encoder): void {
  encoding.writeUint8(encoder, 4)
  encoding.writeVarUint(encoder, 1)
  encoding.writeVarString(encoder, 'a')
  encoding.writeVarString(encoder, 'x')
}

/** `count` inserts of one author at the very beginning of the array `a`, none of which names a neighbour: each walks past all others. */
function insertsAtOnePlace(author: number, count: number): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, 1)
  encoding.writeVarUint(encoder, count)
  encoding.writeVarUint(encoder, author)
  encoding.writeVarUint(encoder, 0)
  for (let i = 0; i < count; i++) {
    writeInsert(encoder)
  }
  encoding.writeVarUint(encoder, 0)
  return encoding.toUint8Array(encoder)
}

/** Structs of as many authors, one each, descending as they must. */
function manyAuthors(first: number, count: number): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, count)
  for (let i = count - 1; i >= 0; i--) {
    encoding.writeVarUint(encoder, 1)
    encoding.writeVarUint(encoder, first + i)
    encoding.writeVarUint(encoder, 0)
    writeInsert(encoder)
  }
  encoding.writeVarUint(encoder, 0)
  return encoding.toUint8Array(encoder)
}

/** A board of about `bytes` in small values. */
function boardOf(bytes: number): Uint8Array {
  const doc = new Y.Doc()
  const map = doc.getMap('m')
  doc.transact(() => {
    for (let i = 0; i * 40 < bytes; i++) map.set(`k${i}`, i)
  })
  return Y.encodeStateAsUpdate(doc)
}

/** An update of about `bytes` whose predecessor nobody has. */
function withGap(bytes: number, author: number): Uint8Array {
  const doc = new Y.Doc()
  doc.clientID = author
  doc.getArray('a').push([0])
  const before = Y.encodeStateVector(doc)
  doc.getArray('a').push(Array.from({ length: Math.floor(bytes / 10) }, (_, i) => `value-${i % 1000}`))
  return Y.encodeStateAsUpdate(doc, before)
}

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))

const ATTACKS: Record<string, (self: Attacker) => Promise<void>> = {
  // In the innocent room fewer: what each of twenty browsers has to work through, twenty clients of one process do here.
  async 'dear inserts'(self) {
    const isNeighbour = self.random.chance(0.5)
    const client = await self.client(isNeighbour ? 'dear' : room)
    for (let i = 0; i < 4 && !client.isOver; i++) {
      client.send(updateFrame(insertsAtOnePlace(1_000_000 + self.random.int(1_000_000), isNeighbour ? 5_000 : 100)))
      await sleep(250)
    }
    await sleep(2000)
  },
  async 'a hundred answers'(self) {
    const answer = step2Frame(boardOf(370_000))
    const clients = await Promise.all(Array.from({ length: 100 }, (_, i) => self.client(`answers-${i}`)))
    for (const client of clients) if (hasRoom(client)) client.send(answer)
    await sleep(4000)
    for (const client of clients) client.reset()
  },
  async gaps(self) {
    const client = await self.client('gaps')
    for (let i = 0; i < 20 && hasRoom(client); i++) {
      client.send(updateFrame(withGap(340_000, 2_000_000 + self.random.int(1_000_000))))
      await sleep(100)
    }
  },
  async 'frames that cost nothing'(self) {
    const target = self.random.chance(0.5) ? room : 'free'
    const client = await self.client(target)
    const kinds = [
      Uint8Array.of(1, 1, 0),
      hex('00 02 02 00 00'),
      hex('00 00 01 00'),
      Uint8Array.of(3),
      presenceMessage([[4_000_000, 1, { x: 1 }]]),
    ]
    const frame = self.random.pick(kinds)
    for (let i = 0; i < 400 && !client.isOver; i++) {
      if (hasRoom(client)) for (let k = 0; k < 250; k++) client.send(frame)
      await sleep(5)
    }
  },
  async pings(self) {
    const client = await self.client('pings')
    client.pause()
    for (let i = 0; i < 200 && hasRoom(client); i++) {
      for (let k = 0; k < 100; k++) client.sendPing()
      if (i % 10 === 0) client.sendText('hello')
      await sleep(10)
    }
    client.reset()
  },
  async 'updates nobody can have made'(self) {
    const client = await self.client(self.random.chance(0.5) ? room : 'bad')
    const bad = ['01014d0009010178016776010467756964750000', '0101090004010178ff', '01 01 09 00 0a 05 00', '00 00 00']
    for (let i = 0; i < 8 && !client.isOver; i++) {
      client.send(updateFrame(hex(self.random.pick(bad))))
      await sleep(50)
    }
  },
  async 'readers that do not read'(self) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => self.client(room)))
    for (const client of clients) {
      client.pause()
      for (let i = 0; i < 20; i++) client.sendStep1()
    }
    await sleep(8000)
    for (const client of clients) client.reset()
  },
  async memory(self) {
    const halves = await Promise.all(Array.from({ length: 20 }, () => self.client('halves')))
    for (const client of halves) client.socket.write(partOfMessage(12 << 20, 1 << 20))
    const sockets = Array.from({ length: 10 }, () => self.socket())
    const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(200)
    for (const socket of sockets) {
      socket.pause()
      socket.write(request)
    }
    await sleep(6000)
    for (const client of halves) client.reset()
    for (const socket of sockets) socket.destroy()
  },
  async 'stolen presence'(self) {
    const client = await self.client(room)
    const seen: number[] = []
    client.onFrame = ({ kind, bytes }) => {
      if (kind === 'presence' && bytes.length > 6) seen.push(idIn(bytes))
    }
    for (let i = 0; i < 200 && !client.isOver; i++) {
      const id = seen.length > 0 ? self.random.pick(seen) : 5_000_000
      client.send(
        presenceMessage([[id, self.random.pick([2, 1000, 2 ** 32, 2 ** 53 - 1]), i % 3 === 0 ? null : { x: i }]]),
      )
      if (i % 20 === 0) client.send(presenceMessage([[6_000_000 + i, 1, { big: 'x'.repeat(60_000) }]]))
      await sleep(25)
    }
  },
  async 'authors and rooms'(self) {
    const client = await self.client('authors')
    if (hasRoom(client)) client.send(updateFrame(manyAuthors(10_000_000 + self.random.int(100_000_000), 20_000)))
    for (let i = 0; i < 50; i++) void self.client(`room-${self.random.int(1_000_000)}`)
    const refused = Array.from({ length: 20 }, () => self.socket())
    for (const socket of refused) socket.write(upgradeRequest(port, '%ff'))
    await sleep(3000)
    self.stop()
  },
}

function idIn(bytes: Uint8Array): number {
  let [value, scale, at] = [0, 1, 3]
  if (bytes[1]! >= 0x80) at++
  for (; at < bytes.length; at++) {
    value += (bytes[at]! & 0x7f) * scale
    if (bytes[at]! < 0x80) break
    scale *= 128
  }
  return value
}

/** The beginning of one masked message of `declared` bytes. */
function partOfMessage(declared: number, sent: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x82
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(declared), 2)
  return Buffer.concat([head, Buffer.alloc(sent, 1)])
}

const attackers = Object.keys(ATTACKS)
  .filter((name) => only === undefined || name === only)
  .map((name, i) => new Attacker(name, i + 1))
process.on('unhandledRejection', () => {})
await Promise.all(
  attackers.map(async (self) => {
    while (!isOver()) {
      await ATTACKS[self.name]!(self).catch(() => {})
      await sleep(COME_BACK_MS)
    }
    self.stop()
  }),
)
console.log(JSON.stringify(attackers.map(({ name, connections, closes }) => ({ name, connections, closes }))))
process.exit(0)
