/**
 * A stock-like client without a document: joins, sends what its script says, and tells the room's ledger what reaches it.
 * One per room may have a document as well, which applies everything as a browser's would.
 */
import * as Y from 'yjs'
import type { Ledger } from './ledger.ts'
import { type Address, Peer } from './peer.ts'
import { cursorState, type Script } from './script.ts'
import type { Tally } from './tally.ts'
import { encodeAnnouncement, readVarUint, varUintEnd } from './wire.ts'

export interface LoadClientOptions {
  readonly address: Address
  readonly room: string
  /** This client's number in its room: receiver and, below the number of scripts, author. */
  readonly index: number
  readonly script: Script | null
  readonly ledger: Ledger
  readonly tally: Tally
  /** Sends back every presence change it receives, as stock clients do. */
  readonly echoes: boolean
  /** Announces itself on joining. */
  readonly hasPresence: boolean
  readonly doc: Y.Doc | null
}

const EMPTY_STATE_VECTOR = Uint8Array.of(0)
const EMPTY_UPDATE = Uint8Array.of(0, 0)

export class LoadClient {
  /** Resolves when the server has answered SyncStep1; rejects when it hangs up before. */
  readonly joined: Promise<void>
  readonly doc: Y.Doc | null
  readonly #options: LoadClientOptions
  readonly #peer: Peer
  #resolve: () => void = () => {}
  #reject: (error: Error) => void = () => {}
  #isJoined = false
  /** Time of the read that is being handled, 0 between two. */
  #readAt = 0
  #nextEdit = 0
  closedWith: number | null = null
  /** When the answer to SyncStep1 was complete. */
  joinedAt = 0
  asked = 0

  constructor(options: LoadClientOptions) {
    this.#options = options
    this.doc = options.doc
    this.joined = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.joined.catch(() => {})
    this.#peer = new Peer(options.address, options.room, {
      ready: () => this.#ready(),
      asked: (stateVector) => this.#asked(stateVector),
      update: (bytes, from, to, isAnswer) => this.#update(bytes, from, to, isAnswer),
      presence: (bytes, from, to) => this.#presence(bytes, from, to),
      readDone: () => {
        this.#readAt = 0
      },
      closed: (code) => {
        this.closedWith = code
        this.#reject(new Error(`closed with ${code} before it had joined`))
      },
    })
  }

  get bytesRead(): number {
    return this.#peer.socket.bytesRead
  }
  get isJoined(): boolean {
    return this.#isJoined
  }

  sendEdit(now: number): void {
    const { script, ledger, index } = this.#options
    const update = script?.edits[this.#nextEdit]
    if (update === undefined) throw new Error('the script is too short')
    this.#nextEdit++
    ledger.editSent(index, now)
    this.#peer.update(update)
    if (this.doc !== null) Y.applyUpdate(this.doc, update)
  }
  sendPresence(now: number): void {
    const { ledger, index, script } = this.#options
    const clock = ledger.presenceSent(index, now)
    this.#peer.presence(encodeAnnouncement(script!.clientId, clock, cursorState(index, now)))
  }
  pause(): void {
    this.#options.ledger.setReading(this.#options.index, false)
    this.#peer.socket.pause()
  }
  resume(): void {
    this.#peer.socket.resume()
  }
  close(): void {
    this.#peer.socket.destroy()
  }

  #ready(): void {
    if (this.#peer.dialect === 'relay') this.#join()
    else this.#peer.ask(EMPTY_STATE_VECTOR)
    if (this.#options.hasPresence) this.sendPresence(performance.now())
  }
  #join(): void {
    if (this.#isJoined) return
    this.#isJoined = true
    this.joinedAt = performance.now()
    this.#resolve()
  }

  #asked(stateVector: Uint8Array): void {
    this.asked++
    if (this.doc !== null) {
      this.#peer.answer(Y.encodeStateAsUpdate(this.doc, stateVector))
      return
    }
    const { script } = this.#options
    const known = script === null ? 0 : (Y.decodeStateVector(stateVector).get(script.clientId) ?? 0)
    const first = script?.ends.findIndex((end) => end > known) ?? -1
    const missing = first < 0 ? [] : script!.edits.slice(first, this.#nextEdit)
    this.#peer.answer(missing.length === 0 ? EMPTY_UPDATE : Y.mergeUpdates(missing))
  }

  #update(bytes: Uint8Array, from: number, to: number, isAnswer: boolean): void {
    if (this.#readAt === 0) this.#readAt = performance.now()
    this.#options.ledger.update(this.#options.index, bytes, from, to, this.#readAt)
    if (this.doc !== null) Y.applyUpdate(this.doc, bytes.slice(from, to))
    if (isAnswer) this.#join()
  }

  #presence(bytes: Uint8Array, from: number, to: number): void {
    if (this.#readAt === 0) this.#readAt = performance.now()
    const { ledger, index, echoes, tally } = this.#options
    const all = readVarUint(bytes, from)
    const isNews: boolean[] | null = echoes ? [] : null
    const news = ledger.presence(index, bytes, from, this.#readAt, isNews)
    if (isNews === null || news === 0) return
    tally.echoes++
    this.#peer.presence(news === all ? bytes.subarray(from, to) : pick(bytes, from, isNews, news))
  }
}

/** The entries of a presence payload that `isPicked` names. */
function pick(bytes: Uint8Array, from: number, isPicked: readonly boolean[], count: number): Uint8Array {
  readVarUint(bytes, from)
  let at = varUintEnd()
  const parts: Uint8Array[] = [Uint8Array.of(count & 0x7f)]
  if (count >= 0x80) parts[0] = Uint8Array.of((count & 0x7f) | 0x80, count >> 7)
  for (const picked of isPicked) {
    const start = at
    readVarUint(bytes, at)
    readVarUint(bytes, varUintEnd())
    const length = readVarUint(bytes, varUintEnd())
    at = varUintEnd() + length
    if (picked) parts.push(bytes.subarray(start, at))
  }
  return Buffer.concat(parts)
}
