import * as Y from 'yjs'
import type { Random } from './random.ts'

/**
 * One small change of a board's kind: text, a map's keys, an array of shapes, deletions. `size` scales the inserted text.
 * No astral characters: Yjs itself replaces the halves of one that an edit splits, differently at different clients.
 */
export function randomEdit(doc: Y.Doc, random: Random, size = 1): void {
  const text = doc.getText('text')
  const shapes = doc.getArray<Y.Map<unknown>>('shapes')
  const map = doc.getMap('map')
  const word = (): string => random.pick(['a', 'bc', 'déf', '€', 'long word ']).repeat(1 + random.int(8 * size))
  const steps: (() => void)[] = [
    () => text.insert(random.int(text.length + 1), word()),
    () => text.insert(text.length, word()),
    () => {
      if (text.length > 0) {
        const at = random.int(text.length)
        text.delete(at, Math.min(text.length - at, 1 + random.int(12)))
      }
    },
    () => {
      if (text.length > 1)
        text.format(random.int(text.length - 1), 1, random.chance(0.5) ? { bold: true } : { bold: null })
    },
    () => {
      const shape = new Y.Map<unknown>()
      shape.set('pos', [random.int(1000), random.int(1000)])
      shapes.insert(random.int(shapes.length + 1), [shape])
    },
    () => {
      if (shapes.length > 0) shapes.get(random.int(shapes.length)).set('pos', [random.int(1000), random.int(1000)])
    },
    () => {
      if (shapes.length > 0) shapes.delete(random.int(shapes.length), 1)
    },
    () => map.set(`k${random.int(6)}`, word()),
    () => map.delete(`k${random.int(6)}`),
  ]
  doc.transact(() => {
    for (let n = 1 + random.int(2); n > 0; n--) random.pick(steps)()
  })
}
