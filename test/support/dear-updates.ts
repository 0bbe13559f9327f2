/** Updates that cost far more than their bytes tell. */
import { varuint } from './update-bytes.ts'

/**
 * `count` letters that `author` put each in front of everything in the root array `a`, without having seen any of another's.
 * Beside another author's as many, each of the one with the higher id walks past all of the other's: n·m steps.
 */
export function concurrentInserts(author: number, count: number): Uint8Array {
  const structs: number[] = []
  // No origins, parent info 1: the root named `a`; a string of one letter.
  for (let i = 0; i < count; i++) structs.push(4, 1, 1, 0x61, 1, 0x78)
  return Uint8Array.from([1, ...varuint(count), ...varuint(author), 0, ...structs, 0])
}
