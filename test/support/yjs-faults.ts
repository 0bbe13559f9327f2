/**
 * Calls into Yjs that throw when a test says so. Its classes are wrapped once, from outside: nothing in the server knows. What
 * the clients of a test do with their own documents is let alone (`atClient`).
 */
import * as Y from 'yjs'
import type { Random } from './random.ts'

type Methods = Record<string, (...args: unknown[]) => unknown>

/** Where Yjs can be made to throw: by what it does there. */
const PROTOTYPES: readonly (readonly [name: string, owner: object, methods: readonly string[]])[] = [
  ['doc', Y.Doc.prototype, ['transact', 'destroy']],
  ['item', Y.Item.prototype, ['integrate', 'write', 'gc', 'delete', 'mergeWith', 'markDeleted', 'getMissing']],
  ['collected', Y.GC.prototype, ['integrate', 'write', 'mergeWith']],
  ['string', Y.ContentString.prototype, ['integrate', 'write', 'delete', 'gc', 'splice', 'mergeWith']],
  ['any', Y.ContentAny.prototype, ['integrate', 'write', 'delete', 'gc', 'splice']],
  ['format', Y.ContentFormat.prototype, ['integrate', 'write', 'delete', 'gc']],
  ['type', Y.ContentType.prototype, ['integrate', 'write', 'delete', 'gc']],
  ['deleted', Y.ContentDeleted.prototype, ['integrate', 'write', 'mergeWith']],
  ['map', Y.Map.prototype, ['_integrate', '_callObserver', '_write']],
  ['array', Y.Array.prototype, ['_integrate', '_callObserver']],
  ['text', Y.Text.prototype, ['_integrate', '_callObserver']],
  ['any type', Y.AbstractType.prototype, ['_callObserver']],
  ['encoder', Y.UpdateEncoderV1.prototype, ['writeInfo', 'writeLeftID', 'writeString', 'toUint8Array']],
  ['decoder', Y.UpdateDecoderV1.prototype, ['readInfo', 'readLeftID', 'readString']],
  // What writes and reads delete sets.
  ['deletes', Object.getPrototypeOf(Y.UpdateEncoderV1.prototype), ['writeDsClock', 'writeDsLen']],
  ['deletes', Object.getPrototypeOf(Y.UpdateDecoderV1.prototype), ['readDsClock', 'readDsLen']],
]
/** How a document's structs are looked up: vectors, gaps, cursors, scans. */
const LOOKUPS = ['get', 'has', 'forEach', Symbol.iterator] as const

export class InjectedError extends Error {
  override readonly name = 'InjectedError'
}

/** Whether a client of the test is at work. */
export const isAtClient = (): boolean => atClients > 0

let armed: { readonly kind: string; left: number } | null = null
let atClients = 0
let injected = 0

function maybeThrow(kind: string): void {
  if (armed === null || atClients > 0 || armed.kind !== kind || --armed.left > 0) return
  armed = null
  injected++
  throw new InjectedError(`injected into ${kind}`)
}

/** What a client of the test does: it never throws. */
export function atClient<T>(work: () => T): T {
  atClients++
  try {
    return work()
  } finally {
    atClients--
  }
}

export class YjsFaults {
  readonly #kinds = new Set<string>()
  readonly #undo: (() => void)[] = []
  readonly #from = injected

  /** Wraps Yjs's classes until `restore`. */
  constructor() {
    for (const [name, owner, methods] of PROTOTYPES) {
      for (const method of methods) this.#wrap(owner as Methods, method, `${name}.${method}`)
    }
  }

  /** Errors thrown since the beginning. */
  get injected(): number {
    return injected - this.#from
  }
  get isArmed(): boolean {
    return armed !== null
  }

  /** One of the next calls of some kind will throw. */
  arm(random: Random, doc: Y.Doc | undefined): void {
    if (doc !== undefined) for (const lookup of LOOKUPS) this.#wrapLookup(doc.store.clients, lookup)
    armed = { kind: random.pick([...this.#kinds]), left: 1 + random.int(random.pick([2, 8])) }
  }
  disarm(): void {
    armed = null
  }
  restore(): void {
    this.disarm()
    for (const undo of this.#undo.reverse()) undo()
  }

  #wrap(owner: Methods, method: string, kind: string): void {
    const original = owner[method]
    if (typeof original !== 'function') throw new Error(`there is no ${kind} in Yjs`)
    const isOwn = Object.hasOwn(owner, method)
    this.#kinds.add(kind)
    owner[method] = function (this: unknown, ...args: unknown[]) {
      maybeThrow(kind)
      return original.apply(this, args)
    }
    this.#undo.push(() => {
      if (isOwn) owner[method] = original
      else delete owner[method]
    })
  }
  #wrapLookup(clients: object, lookup: (typeof LOOKUPS)[number]): void {
    if (Object.hasOwn(clients, lookup)) return
    const kind = `structs.${String(lookup)}`
    this.#kinds.add(kind)
    const original = (clients as Record<typeof lookup, (...args: unknown[]) => unknown>)[lookup]
    Object.defineProperty(clients, lookup, {
      value(...args: unknown[]) {
        maybeThrow(kind)
        return original.apply(this, args)
      },
    })
  }
}
