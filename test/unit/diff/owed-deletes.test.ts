import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { DiffCursor, DiffSource, OwedDeletes } from '../../../src/diff/diff-cursor.ts'
import { Random } from '../../support/random.ts'
import { varuint } from '../../support/update-bytes.ts'

const sets = (items: readonly (readonly [clock: number, len: number])[]) => {
  const set = Y.createDeleteSet()
  set.clients.set(
    7,
    items.map(([clock, len]) => ({ clock, len }) as never),
  )
  return set
}

test('[FC4] many ranges added in one go are the same as one by one', () => {
  const random = new Random(11)
  for (let round = 0; round < 300; round++) {
    const [together, single] = [new OwedDeletes(200), new OwedDeletes(200)]
    for (let i = 0; i < 4; i++) {
      const items: [number, number][] = []
      for (let clock = random.int(20), left = random.int(40); left > 0; left--) {
        const len = 1 + random.int(5)
        items.push([clock, len])
        clock += len + 1 + random.int(round % 7 === 0 ? 3 : 30)
      }
      together.add(sets(items))
      for (const [clock, len] of items) single.addRange(7, clock, len)
    }
    expect(together.byAuthor()).toEqual(single.byAuthor())
    expect([together.isFull, together.count]).toEqual([single.isFull, single.count])
  }
})

/** The order of a text is not that of its clocks: each of these comes before all that were put in order already. */
test('[LT1] [FC8] a part that tells of very many deletions in a formatted text is no longer in the making than it has to be', () => {
  const COUNT = 60_000
  const doc = new Y.Doc()
  const local = (...bytes: number[][]): void =>
    doc.transact((transaction) => {
      Y.applyUpdate(doc, Uint8Array.from(bytes.flat()))
      transaction.local = true
    })
  // Letters in front of each other, every second one in another text, so that no two of one text follow each other.
  const letters = Array.from({ length: COUNT }, () => [4, 1, 1, 0x74, 1, 0x78, 4, 1, 1, 0x65, 1, 0x79])
  local([1, ...varuint(2 * COUNT), 1, 0], letters.flat(), [0])
  local([1, 1, 9, 0, 6, 1, 1, 0x74, 4, 0x62, 0x6f, 0x6c, 0x64, 4, 0x74, 0x72, 0x75, 0x65, 0])
  local([1, 1, 3, 0, 4, 1, 1, 0x66, ...varuint(100_000)], new Array<number>(100_000).fill(0x61), [0])
  local([0, 1, 1, ...varuint(COUNT)], Array.from({ length: COUNT }, (_, i) => [...varuint(2 * i), 1]).flat())
  const cursor = new DiffCursor(new DiffSource(doc), new Map([[1, 2 * COUNT]]), OwedDeletes.full())
  let longest = 0
  for (let isLast = false; !isLast; ) {
    const began = performance.now()
    isLast = cursor.next(65_536, 1 << 20).last
    longest = Math.max(longest, performance.now() - began)
  }
  // Some 50 ms; it was seconds.
  expect(longest).toBeLessThan(2500)
})
