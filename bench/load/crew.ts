/** Everybody who takes part in a run: rooms of load clients, connected, sending at a pace, and closed together. */
import * as Y from 'yjs'
import { Ledger } from './ledger.ts'
import { LoadClient } from './load-client.ts'
import { Pace } from './pace.ts'
import type { Address } from './peer.ts'
import { scripts } from './script.ts'
import { Tally } from './tally.ts'
import { eachInTurn, until } from './waiting.ts'

export interface CrewWork {
  readonly rooms: number
  readonly members: number
  /** Per client. */
  readonly editsPerSecond: number
  readonly presencePerSecond: number
  readonly echoes: boolean
  /** How long it may send at most, ms: scripts are recorded for that. */
  readonly longestMs: number
  /** The last so many members of each room send nothing but their arrival; they may be paused. */
  readonly silent?: number
  readonly roomPrefix: string
}

export interface CrewRoom {
  readonly name: string
  readonly ledger: Ledger
  readonly clients: LoadClient[]
}

const CONNECTING_AT_ONCE = 25

export class Crew {
  readonly tally = new Tally()
  readonly rooms: CrewRoom[] = []
  readonly pace = new Pace()
  readonly #address: Address
  readonly #work: CrewWork

  constructor(address: Address, work: CrewWork) {
    this.#address = address
    this.#work = work
  }

  get clients(): LoadClient[] {
    return this.rooms.flatMap(({ clients }) => clients)
  }
  /** The clients that are told to be silent. */
  get silent(): LoadClient[] {
    const { silent = 0 } = this.#work
    return silent === 0 ? [] : this.rooms.flatMap(({ clients }) => clients.slice(-silent))
  }
  get bytesRead(): number {
    let bytes = 0
    for (const { clients } of this.rooms) for (const client of clients) bytes += client.bytesRead
    return bytes
  }
  /** The member of the first room that has a document. */
  get witness(): LoadClient {
    return this.rooms[0]!.clients[0]!
  }

  /** Connects everybody; resolves when all are in. */
  async connect(timeoutMs: number): Promise<void> {
    const { rooms, members, editsPerSecond, presencePerSecond, echoes, longestMs, roomPrefix } = this.#work
    const lines = scripts(members, Math.ceil((longestMs / 1000) * editsPerSecond * 1.2) + 20)
    for (let room = 0; room < rooms; room++) {
      this.rooms.push({
        name: `${roomPrefix}${room}`,
        ledger: new Ledger(lines, members, this.tally),
        clients: [],
      })
    }
    const places = Array.from({ length: rooms * members }, (_, i) => ({ room: this.rooms[i % rooms]!, i }))
    await eachInTurn(places, CONNECTING_AT_ONCE, timeoutMs, async ({ room, i }) => {
      const index = Math.floor(i / rooms)
      const client = new LoadClient({
        address: this.#address,
        room: room.name,
        index,
        script: lines[index]!,
        ledger: room.ledger,
        tally: this.tally,
        echoes,
        hasPresence: presencePerSecond > 0,
        doc: i === 0 ? new Y.Doc() : null,
      })
      room.clients[index] = client
      await client.joined
    })
  }

  start(): void {
    const { editsPerSecond, presencePerSecond, silent = 0, members } = this.#work
    for (const { clients } of this.rooms) {
      for (const [index, client] of clients.entries()) {
        if (index >= members - silent) continue
        this.pace.add(editsPerSecond, (now) => client.sendEdit(now))
        this.pace.add(presencePerSecond, (now) => client.sendPresence(now))
      }
    }
    this.pace.start()
  }
  stop(): void {
    this.pace.stop()
  }

  /** Waits until everybody has everything; false when the time is over first. */
  settled(timeoutMs: number): Promise<boolean> {
    return until(timeoutMs, () =>
      this.rooms.every(({ ledger, clients }) => clients.every((_, receiver) => ledger.isComplete(receiver))),
    )
  }

  /** Clients that were sent an update without what comes before it. */
  get gapped(): number {
    return this.rooms.reduce(
      (sum, { ledger, clients }) => sum + clients.filter((_, receiver) => ledger.missing(receiver).gaps > 0).length,
      0,
    )
  }

  /** What went wrong with the clients, in words. */
  complaints(): string[] {
    const closes = new Map<number, number>()
    for (const { closedWith } of this.clients) {
      if (closedWith !== null) closes.set(closedWith, (closes.get(closedWith) ?? 0) + 1)
    }
    const complaints = [...closes].map(([code, count]) => `${count} clients closed with ${code}`)
    if (this.gapped > 0) complaints.push(`${this.gapped} clients were sent updates with gaps`)
    return complaints
  }

  close(): void {
    this.stop()
    for (const client of this.clients) {
      client.close()
      client.doc?.destroy()
    }
  }
}
