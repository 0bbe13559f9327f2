/** A client with a document and nothing else: it joins, applies everything, and sends what is done to its document. */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { type Address, Peer } from './peer.ts'
import { ROOT } from './script.ts'

const FROM_SERVER = Symbol('server')

export class FullClient {
  readonly doc = new Y.Doc()
  /** Resolves at the SyncStep2; rejects when the server hangs up before. */
  readonly joined: Promise<void>
  readonly #peer: Peer
  closedWith: number | null = null

  constructor(address: Address, room: string, onUpdate: (update: Uint8Array) => void = () => {}) {
    let resolve: () => void = () => {}
    let reject: (error: Error) => void = () => {}
    this.joined = new Promise((res, rej) => {
      resolve = res
      reject = rej
    })
    this.joined.catch(() => {})
    this.#peer = new Peer(address, room, {
      ready: () => {
        if (address.dialect === 'relay') resolve()
        else this.#peer.ask(Y.encodeStateVector(this.doc))
      },
      asked: (stateVector) => this.#peer.answer(Y.encodeStateAsUpdate(this.doc, stateVector)),
      update: (bytes, from, to, isAnswer) => {
        const update = bytes.slice(from, to)
        Y.applyUpdate(this.doc, update, FROM_SERVER)
        onUpdate(update)
        if (isAnswer) resolve()
      },
      presence: () => {},
      readDone: () => {},
      closed: (code) => {
        this.closedWith = code
        reject(new Error(`closed with ${code} before it had joined`))
      },
    })
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== FROM_SERVER) this.#peer.update(update)
    })
  }

  /** Bytes the server has not taken yet. */
  get unsent(): number {
    return this.#peer.socket.unsent
  }
  close(): void {
    this.#peer.socket.destroy()
    this.doc.destroy()
  }
}

/** What differs between two documents of the same board, or null. */
export function difference(a: Y.Doc, b: Y.Doc): string | null {
  for (const [name, doc] of [
    ['the first', a],
    ['the second', b],
  ] as const) {
    if (doc.store.pendingStructs !== null || doc.store.pendingDs !== null) return `${name} waits for missing updates`
  }
  const vectors = [a, b].map((doc) => Y.decodeStateVector(Y.encodeStateVector(doc)))
  if (!isDeepStrictEqual(vectors[0], vectors[1])) return 'state vectors differ'
  return isDeepStrictEqual(a.getMap(ROOT).toJSON(), b.getMap(ROOT).toJSON()) ? null : 'contents differ'
}
