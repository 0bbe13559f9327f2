import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { collectedIn } from '../../../src/diff/collected-deletes.ts'
import { DiffCursor, DiffSource, OwedDeletes } from '../../../src/diff/diff-cursor.ts'
import { idleMarks, liveMarks, relayDoc, retype } from '../../support/formatted-board.ts'
import { Random } from '../../support/random.ts'
import { randomText } from './random-world.ts'

/** `WORLDS=20000 npx vitest run test/unit/diff/formatted-parts.fuzz.test.ts` runs more. */
const WORLDS = Number(process.env.WORLDS ?? 80)
const SEED = Number(process.env.SEED ?? 0)

const openRoots = (doc: Y.Doc): void => {
  doc.getText('text')
  doc.getMap('shapes')
  doc.getXmlFragment('xml')
}

/** Every text of the document that is seen. */
function textsOf(doc: Y.Doc): Y.Text[] {
  const texts: Y.Text[] = [doc.getText('text')]
  for (const value of [...doc.getMap('shapes').values(), ...doc.getXmlFragment('xml').toArray()]) {
    if (value instanceof Y.Text) texts.push(value)
  }
  return texts
}

/** What everybody sees of the document, as one value. */
const seen = (doc: Y.Doc): unknown => ({
  text: doc.getText('text').toDelta().map(shown),
  shapes: [...doc.getMap('shapes')]
    .map(([key, value]) => [key, value instanceof Y.Text ? value.toDelta().map(shown) : value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  xml: doc
    .getXmlFragment('xml')
    .toArray()
    .map((node) => (node instanceof Y.Text ? node.toDelta().map(shown) : '')),
})
/** Without formats that say "none": tidying takes them away, and nobody sees it. */
function shown({ insert, attributes = {} }: { insert: unknown; attributes?: Record<string, unknown> }): unknown {
  return {
    insert,
    attributes: Object.entries(attributes)
      .filter(([, value]) => value !== null)
      .sort(),
  }
}
const joined = (ops: unknown): string => JSON.stringify(ops)

/** People who write formatted text, each from its own state, and the server that relays and never tidies. */
class FormattedWorld {
  readonly server = relayDoc()
  readonly people: Y.Doc[]
  private readonly undo: Y.UndoManager
  private readonly random: Random

  constructor(random: Random) {
    this.random = random
    this.people = Array.from({ length: 2 + random.int(3) }, (_, i) =>
      Object.assign(new Y.Doc(), { clientID: 100 + (random.chance(0.5) ? i : 50 - i) }),
    )
    for (const doc of this.people) openRoots(doc)
    const undoing = random.pick(this.people)
    this.undo = new Y.UndoManager([undoing.getText('text'), undoing.getMap('shapes')], { captureTimeout: 0 })
  }

  step(): void {
    const { random } = this
    const dice = random.int(100)
    if (dice < 25) this.exchange(random.pick(this.people))
    else if (dice < 28) this.undo.undo()
    else if (dice < 30) this.undo.redo()
    else this.edit(random.pick(this.people))
  }
  exchange(doc: Y.Doc): void {
    for (const [from, to] of [
      [doc, this.server],
      [this.server, doc],
      [doc, this.server],
    ] as const)
      Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)))
  }

  private edit(doc: Y.Doc): void {
    const { random } = this
    if (random.chance(0.15)) {
      const shapes = doc.getMap('shapes')
      const xml = doc.getXmlFragment('xml')
      const key = `s${random.int(12)}`
      if (random.chance(0.4)) xml.insert(random.int(xml.length + 1), [new Y.XmlText(randomText(random, 5))])
      else if (random.chance(0.1)) shapes.delete(key)
      else shapes.set(key, random.chance(0.8) ? new Y.Text(randomText(random, 8)) : randomText(random, 30))
      return
    }
    const text = random.pick(textsOf(doc))
    const ops = text.toDelta() as { insert: unknown }[]
    const units = ops.map(({ insert }) => (typeof insert === 'string' ? insert : '.')).join('')
    const outside = (at: number): number => (/[\ud800-\udbff]/.test(units[at - 1] ?? '') ? at + 1 : at)
    const at = outside(random.int(units.length + 1))
    const span = outside(Math.min(units.length, at + 1 + random.int(12))) - at
    const dice = random.int(10)
    if (dice === 0) text.delete(at, span)
    else if (dice === 1) text.insertEmbed(at, { image: randomText(random, 4) })
    else if (dice < 6) {
      const key = random.pick(['bold', 'colour', 'link'])
      text.format(at, span, { [key]: random.pick([true, null, 'red', 'blue']) })
    } else if (dice < 9) retype(text, random)
    else text.insert(at, randomText(random, random.chance(0.1) ? 60 : 6))
  }
}

function receiverAt(state: Uint8Array): Y.Doc {
  const doc = new Y.Doc()
  openRoots(doc)
  doc.transact((transaction) => {
    Y.applyUpdate(doc, state)
    transaction.local = true
  })
  return doc
}

interface Counts {
  parts: number
  torn: number
  whole: number
}

/** Whether a receiver ends up with what the server has; null when some text had to be torn. */
function runWorld(seed: number, counts: Counts, whole?: number): boolean | null {
  const random = new Random(seed)
  const world = new FormattedWorld(random)
  const steps = 20 + random.int(180)
  const staleAt = random.chance(0.5) ? -1 : random.int(steps)
  const missed = new OwedDeletes()
  let stale: Uint8Array = Uint8Array.of(0, 0)
  for (let i = 0; i < steps; i++) {
    if (i === staleAt) {
      stale = Y.encodeStateAsUpdate(world.server)
      world.server.on('beforeObserverCalls', (transaction: Y.Transaction) => {
        missed.add(transaction.deleteSet)
        const collected = collectedIn(transaction)
        if (collected !== null) missed.add(collected)
      })
    }
    world.step()
  }
  for (const doc of world.people) world.exchange(doc)
  const receiver = receiverAt(stale)
  // Deletions of its own that the server does not know change nothing; its state is a state the server once had.
  const source = new DiffSource(world.server)
  const deletes = staleAt >= 0 && random.chance(0.4) ? missed.clone() : OwedDeletes.full()
  const cursor = new DiffCursor(source, Y.decodeStateVector(Y.encodeStateVector(receiver)), deletes)
  world.server.on('beforeObserverCalls', (transaction: Y.Transaction) => {
    cursor.addDeletes(transaction.deleteSet)
    const collected = collectedIn(transaction)
    if (collected !== null) cursor.addDeletes(collected)
  })
  const partBytes = random.pick([64, 150, 400, 1500])
  const bound = random.chance(0.8) ? 1 << 20 : partBytes * (2 + random.int(4))
  const wholeBytes = whole ?? bound
  const editing = random.chance(0.3) ? random.int(10) : 0
  let torn = false
  for (let left = editing; ; ) {
    const part = cursor.next(partBytes, wholeBytes)
    counts.parts++
    torn ||= part.endsInsideText
    if (part.update.length > partBytes) counts.whole++
    expect(part.update.length, `seed ${seed}`).toBeLessThanOrEqual(Math.max(wholeBytes, partBytes) + 1024)
    Y.applyUpdate(receiver, part.update)
    expect(receiver.store.pendingStructs, `seed ${seed}`).toBeNull()
    expect(receiver.store.pendingDs, `seed ${seed}`).toBeNull()
    if (part.last) {
      if (left <= 0) break
    }
    if (left > 0) {
      left--
      for (let i = random.int(6); i >= 0; i--) world.step()
      for (const doc of world.people) world.exchange(doc)
    }
  }
  source.close()
  if (torn) {
    counts.torn++
    return null
  }
  const reference = receiverAt(Y.encodeStateAsUpdate(world.server))
  if (joined(seen(receiver)) !== joined(seen(reference))) return false
  // Marks that say nothing may go, as they do whenever Yjs comes by; no other.
  const left = liveMarks(receiver)
  const idle = new Set(textsOf(reference).flatMap((text) => [...idleMarks(text)]))
  return [...liveMarks(reference)].every((mark) => left.has(mark) || idle.has(mark))
}

test('[FC8] random formatted worlds: a receiver with its texts open sees what the server has after any parts', () => {
  const counts = { parts: 0, torn: 0, whole: 0 }
  for (let seed = SEED; seed < SEED + WORLDS; seed++) expect(runWorld(seed, counts), `seed ${seed}`).not.toBe(false)
  expect(counts.parts).toBeGreaterThan(WORLDS)
  expect(counts.whole).toBeGreaterThan(WORLDS / 10)
  expect(counts.torn).toBeGreaterThan(0)
  if (process.env.WORLDS) console.log(counts)
}, 600_000)

test('the worlds are such that a receiver of parts that end anywhere does lose formats', () => {
  const counts = { parts: 0, torn: 0, whole: 0 }
  let differ = 0
  for (let seed = 0; seed < 60; seed++) if (runWorld(seed, counts, 0) === false) differ++
  expect(differ).toBeGreaterThan(3)
  if (process.env.WORLDS) console.log({ differ })
}, 60_000)
