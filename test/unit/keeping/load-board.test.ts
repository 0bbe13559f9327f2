/** Records that break documents while a board is loaded: how many go, and how often it is begun anew. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { type LoadTarget, loadBoard } from '../../../src/keeping/load-board.ts'
import { Slices } from '../../../src/keeping/slices.ts'
import { MemoryStorage } from '../../../src/storage/memory-storage.ts'
import { HeldClock } from '../../support/held-clock.ts'
import { heldLoop } from '../../support/held-loop.ts'

/** A document that some records break, whenever they are applied to it. */
class Target implements LoadTarget {
  applied: string[] = []
  begun = 1
  /** Once broken it throws for these too, until it is renewed. */
  readonly #victims: ReadonlySet<string>
  readonly #bad: ReadonlySet<string>
  #isBroken = false

  constructor(bad: readonly string[], victims: readonly string[] = []) {
    this.#bad = new Set(bad)
    this.#victims = new Set(victims)
  }
  apply(update: Uint8Array): void {
    const [name] = [...new Set(keysOf(update))]
    if (this.#bad.has(name!) || (this.#isBroken && this.#victims.has(name!))) {
      this.#isBroken = true
      throw new Error(`${name} throws`)
    }
    this.applied.push(name!)
  }
  renew(): void {
    this.applied = []
    this.#isBroken = false
    this.begun++
  }
  loosen(): void {}
}

function keysOf(update: Uint8Array): string[] {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return [...doc.getMap('m').keys()]
}

function record(name: string): Uint8Array {
  const doc = new Y.Doc()
  doc.getMap('m').set(name, 1)
  return Y.encodeStateAsUpdate(doc)
}

const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `r${from + i}`)

async function load(target: Target, more: readonly Uint8Array[] = []) {
  const clock = new HeldClock()
  const storage = new MemoryStorage({ durable: true })
  await storage.append('room', names(0, 30).map(record))
  const log = { error: () => {} } as never
  const loading = loadBoard('room', storage, target, { log, slices: new Slices(heldLoop(clock)) }, more)
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  loading.then(over, over)
  while (!isOver) await clock.settle()
  return { board: await loading, quarantined: storage.quarantined.map(({ reason }) => reason.split(' ')[0]) }
}

test('[ST4] one record that breaks the document: begun anew once, that record alone is out', async () => {
  const target = new Target(['r7'], ['r8'])
  const { board, quarantined } = await load(target)
  expect(quarantined).toEqual(['r7'])
  expect(target.begun).toBe(2)
  expect(target.applied).toEqual(names(0, 30).filter((name) => name !== 'r7'))
  expect(board).toMatchObject({ bad: 1, lastSeq: 30, sizes: { tailRecords: 30 } })
})

test('[ST4] up to four are told apart from what only throws because of them', async () => {
  const bad = ['r3', 'r5', 'r20', 'r29']
  const target = new Target(bad, ['r4', 'r21'])
  const { quarantined } = await load(target)
  expect(quarantined).toEqual(bad)
  expect(target.begun).toBe(5)
})

test('[ST4] many of them are found in one go, so that a board is begun anew a bounded number of times', async () => {
  const bad = names(5, 25)
  const target = new Target(bad)
  const { quarantined } = await load(target)
  expect(quarantined).toEqual(bad)
  expect(target.begun).toBe(6)
  expect(target.applied).toEqual([...names(0, 5), ...names(25, 30)])
})

test('[ST4] [RB1] what is not stored yet and breaks the document is told, and stays out', async () => {
  const target = new Target(['r2', 'new1'])
  const more = ['new0', 'new1', 'new2'].map(record)
  const { board, quarantined } = await load(target, more)
  expect(quarantined).toEqual(['r2'])
  expect([...board.refused]).toEqual([more[1]])
  expect(target.applied.slice(-2)).toEqual(['new0', 'new2'])
})

test('[ST5] a board that breaks whatever is left out is not loaded', async () => {
  const target = new Target([])
  let calls = 0
  target.apply = () => {
    if (++calls % 3 === 0) throw new Error('again')
  }
  await expect(load(target)).rejects.toThrow('too many of its records cannot be applied')
})
