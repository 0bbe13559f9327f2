/** Updates put together by hand, byte by byte. */
import * as encoding from 'lib0/encoding'

export const KEY = [1, 1, 0x6d] // parent info 1: the root named `m`

/** An update of one author, 9, starting at clock 0: the structs' bytes, then an empty delete set unless given. */
export function update(structs: number[][], deletes: number[] = [0]): Uint8Array {
  return Uint8Array.from([1, ...varuint(structs.length), 9, 0, ...structs.flat(), ...deletes])
}

export function varuint(value: number): number[] {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, value)
  return [...encoding.toUint8Array(encoder)]
}

export function varstring(text: string): number[] {
  const bytes = new TextEncoder().encode(text)
  return [...varuint(bytes.length), ...bytes]
}

/** Text of one byte a character, without its length. */
export function ascii(text: string): number[] {
  return [...text].map((char) => char.charCodeAt(0))
}
