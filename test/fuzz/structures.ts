/**
 * One seeded world of updates made struct by struct: whatever of them the check takes, a document can take in, write again and
 * pass on. Throws with the seed in its message.
 */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { collectedIn } from '../../src/diff/collected-deletes.ts'
import { encodeDeletes } from '../../src/diff/owed-deletes.ts'
import type { ParentType } from '../../src/diff/root-types.ts'
import { DocumentCheck, type Whole } from '../../src/room/document-check.ts'
import { applyOwned } from '../../src/update/owned-update.ts'
import { partReady } from '../../src/update/ready-structs.ts'
import { checkUpdate, stripUnknownDeletes } from '../../src/update/update-check.ts'
import { findGap } from '../../src/update/update-gaps.ts'
import { contentOf } from '../support/memory-world.ts'
import { Random } from '../support/random.ts'
import { StructWorld, type StructWorldOptions } from '../support/random-structs.ts'

/** A document that takes updates as a room does. */
class Taker {
  readonly doc = new Y.Doc()
  readonly #stateOf = (client: number): number => Y.getState(this.doc.store, client)
  readonly #check = new DocumentCheck(this.doc, this.#stateOf)
  readonly emitted: Uint8Array[] = []
  /** What was given to the document, and the deletions that belong to it. */
  readonly accepted: Uint8Array[] = []
  #waiting: Uint8Array[] = []
  readonly tally = { applied: 0, parked: 0, refused: {} as Record<string, number> }

  constructor() {
    this.doc.on('update', (update: Uint8Array, _origin: unknown, _doc: Y.Doc, transaction: Y.Transaction) => {
      this.emitted.push(update)
      const collected = collectedIn(transaction)
      if (collected !== null) this.emitted.push(encodeDeletes(collected))
    })
  }

  take(update: Uint8Array): void {
    this.#offer(update)
    // What waited may have got what it waited for.
    for (let before = -1; before !== this.#waiting.length; ) {
      before = this.#waiting.length
      for (const part of this.#waiting.splice(0)) this.#offer(part)
    }
  }

  #offer(update: Uint8Array): void {
    const check = checkUpdate(update)
    if (!check.ok) {
      this.#refuse(check.reason)
      return
    }
    const { bytes } = stripUnknownDeletes(update, this.#stateOf)
    const whole = { update, summary: check.summary }
    const news = this.#check.newsOf(bytes, whole)
    const gap = findGap(news, this.#stateOf)
    if (gap === null) {
      this.#apply(news, whole, news !== bytes)
      return
    }
    const { ready, waiting } = partReady(news, this.#stateOf)
    if (waiting === null) throw new Error('a gap, and nothing waits')
    this.tally.parked++
    this.#waiting.push(waiting)
    if (ready.length > 2) this.#apply(ready, whole, news !== bytes)
  }

  #apply(part: Uint8Array, whole: Whole, isNews: boolean): void {
    const fit = this.#check.judge(part, whole, isNews)
    if (typeof fit === 'string') {
      this.#refuse(fit)
      return
    }
    if (!checkUpdate(fit).ok) throw new Error(`not an update any more: ${Buffer.from(fit).toString('hex')}`)
    this.doc.transact((transaction) => {
      applyOwned(this.doc, fit)
      transaction.local = true
    })
    this.tally.applied++
    this.accepted.push(fit)
    const { store } = this.doc
    if (store.pendingStructs !== null) this.#refuse('circle')
    else if (store.pendingDs !== null) throw new Error('deletes of what is not there')
    store.pendingStructs = store.pendingDs = null
  }

  #refuse(reason: string): void {
    this.tally.refused[reason] = (this.tally.refused[reason] ?? 0) + 1
  }
}

export type StructuresResult = Taker['tally']

export function runStructures(seed: number, options: StructWorldOptions = {}): StructuresResult {
  const world = new StructWorld(seed, options)
  const random = new Random(seed ^ 0x1f3d5b79)
  const updates = Array.from({ length: 3 + random.int(14) }, () => world.next())
  const server = new Taker()
  let step = 0
  try {
    for (const update of updates) {
      server.take(update)
      step++
      const state = Y.encodeStateAsUpdate(server.doc)
      const check = checkUpdate(state)
      if (!check.ok) throw new Error(`its state is refused: ${check.reason}`)
      if (step % 4 === 0 || step === updates.length) expectSame('its state', server.doc, fed([state]), world.isSane)
    }
    // A client that is told what the server's document emits; one whose roots have types, as on a page.
    expectSame('a listener', server.doc, fed(server.emitted), world.isSane)
    typed(server.emitted)
    if (options.contradictions !== true) {
      const other = new Taker()
      for (const update of shuffled(random, server.accepted)) other.take(update)
      // Deletions of what was not there yet are lost, until their author is asked for all it has.
      for (const update of server.accepted) other.take(update)
      expectSame('another order', server.doc, other.doc, world.isSane)
    }
  } catch (error) {
    const hex = updates.slice(0, step + 1).map((update) => Buffer.from(update).toString('hex'))
    throw new Error(`seed ${seed}, update ${step} of\n${hex.join('\n')}`, { cause: error })
  }
  return server.tally
}

function fed(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) {
    doc.transact((transaction) => {
      Y.applyUpdate(doc, update)
      transaction.local = true
    })
  }
  return doc
}

/** As remote transactions, which tidy formats. What that does differs; that it throws must not be. */
function typed(updates: readonly Uint8Array[]): void {
  const doc = new Y.Doc()
  doc.getText('t')
  doc.getArray('l')
  doc.getMap('m')
  doc.getXmlFragment('x')
  let emitted = 0
  doc.on('update', () => emitted++)
  for (const update of updates) Y.applyUpdate(doc, update)
  doc.getMap('own').set('after', 1)
  if (emitted === 0) throw new Error('a page went silent')
  Y.encodeStateAsUpdate(doc)
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items]
  return items.map(() => left.splice(random.int(left.length), 1)[0]!)
}

function expectSame(what: string, doc: Y.Doc, other: Y.Doc, ordered: boolean): void {
  if (other.store.pendingStructs !== null) throw new Error(`${what}: something is parked`)
  for (const of of [contentOf, shownBy]) {
    const [a, b] = [of(doc, ordered), of(other, ordered)]
    if (!isDeepStrictEqual(a, b)) throw new Error(`${what} differs:\n${JSON.stringify(a)}\n${JSON.stringify(b)}`)
  }
}

/** Everything that is not deleted, in its place, or at least in its list. Roots that show nothing are left out. */
function shownBy(doc: Y.Doc, ordered: boolean): unknown {
  const roots = [...doc.share].map(([name, type]) => [name, typeOf(type, ordered)] as const)
  return roots.filter(([, { list, keys }]) => list.length + keys.length > 0).sort(byName)
}

function typeOf(type: ParentType, ordered: boolean): { list: unknown[]; keys: (readonly [string, unknown])[] } {
  const list: unknown[] = []
  for (let item = type._start; item !== null; item = item.right) {
    if (!item.deleted) for (let unit = 0; unit < item.length; unit++) list.push(unitOf(item, unit, ordered))
  }
  if (!ordered) list.sort()
  const keys: (readonly [string, unknown])[] = []
  for (const [key, item] of type._map) if (!item.deleted) keys.push([key, unitOf(item, item.length - 1, ordered)])
  return { list, keys: keys.sort(byName) }
}

function unitOf({ id, content }: Y.Item, unit: number, ordered: boolean): unknown {
  const at = `${id.client}:${id.clock + unit}`
  return content instanceof Y.ContentType ? [at, typeOf(content.type as ParentType, ordered)] : at
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}
