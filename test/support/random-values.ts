/** Random contents for random documents: text, bytes and plain values of every kind that Yjs can hold. */
import type { Random } from './random.ts'

export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.int(256))
}

export function randomText(random: Random): string {
  const alphabet = ['a', 'b', ' ', '\n', 'é', '漢', '😀', '\u0000', '\ufeff', '"', 'word ', 'x'.repeat(200)]
  // Half an emoji, too: Yjs writes it as a replacement character.
  const text = Array.from({ length: 1 + random.int(6) }, () => random.pick(alphabet)).join('')
  return random.chance(0.05) ? `${text}\ud83d` : text
}

/** Yjs takes neither of the two as an element, only deeper inside. */
export function listValue(random: Random): unknown {
  const value = randomValue(random, 3)
  return value === undefined || typeof value === 'bigint' ? [value] : value
}

export function randomValue(random: Random, depth: number): unknown {
  switch (random.int(depth > 0 ? 13 : 10)) {
    case 0:
      return null
    case 1:
      return undefined
    case 2:
      return random.chance(0.5)
    case 3:
      return random.int(200) - 100
    case 4:
      return random.pick([2 ** 31, -(2 ** 31), 2 ** 40, -0, 0, Number.MAX_SAFE_INTEGER])
    case 5:
      return random.next()
    case 6:
      return random.pick([0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300])
    case 7:
      return BigInt(random.int(2 ** 31)) * -(2n ** 20n)
    case 8:
      return randomText(random)
    case 9:
      return random.pick(['', 'solid', '#ff0000'])
    case 10:
      return Array.from({ length: random.int(5) }, () => randomValue(random, depth - 1))
    case 11:
      return randomBytes(random, random.int(10))
    default:
      return Object.fromEntries(
        Array.from({ length: random.int(5) }, () => [randomText(random).slice(0, 4), randomValue(random, depth - 1)]),
      )
  }
}
