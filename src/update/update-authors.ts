import { readVarUint } from '../protocol/varuint.ts'
import { StructWalk } from './struct-walk.ts'

/** Authors of an update's structs, as many as it says without being walked. */
export const authorCount = (update: Uint8Array): number => Math.max(0, readVarUint(update, 0))

/** Who they are. Linear. Bytes that checkUpdate would refuse: as far as they are good. */
export function authorsOf(update: Uint8Array): number[] {
  const walk = new StructWalk()
  walk.begin(update)
  const authors: number[] = []
  for (let left = walk.sections(); left > 0 && walk.section(); left--) {
    authors.push(walk.client)
    for (let structs = walk.structCount; structs > 0 && walk.struct(); structs--);
  }
  return authors
}
