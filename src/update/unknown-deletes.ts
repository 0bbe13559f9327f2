/**
 * Delete ranges of structs that the document does not have: Yjs parks them, looks at all of them again on every later
 * update and sends them along in every full state (470 KB of them: 23 ms each time).
 */

import { writeVarUint } from '../protocol/varuint.ts'
import { findClient, StructWalk } from './struct-walk.ts'

/** The clock up to which a client's structs are there; 0 for an unknown one. */
export type KnownClock = (client: number) => number

/**
 * Removes from an update's delete set the ranges beyond what `known` plus the update's own sections hold; a range that
 * reaches beyond is cut. Returns the same bytes when nothing had to go. `stripped`: ranges removed or cut. What was
 * stripped is lost until its sender answers a SyncStep1: whoever strips has to ask. Bytes that checkUpdate would refuse
 * come back as they are.
 */
export function stripUnknownDeletes(bytes: Uint8Array, known: KnownClock): { bytes: Uint8Array; stripped: number } {
  const walk = new StructWalk()
  walk.begin(bytes)
  const sections = walkSections(walk)
  if (sections === undefined) return { bytes, stripped: 0 }
  const deleteSetAt = walk.pos
  const held = (client: number) => Math.max(known(client), endOf(sections, client))

  let stripped = 0
  let keptAuthors = 0
  const authors = walk.deleteAuthors()
  for (let i = 0; i < authors; i++) {
    if (!walk.deleteAuthor()) return { bytes, stripped: 0 }
    const limit = held(walk.deleteClient)
    let kept = 0
    for (let left = walk.deleteCount; left > 0; left--) {
      if (!walk.deleteRange()) return { bytes, stripped: 0 }
      if (walk.deleteClock < limit) kept++
      if (walk.deleteClock + walk.deleteLength > limit) stripped++
    }
    if (kept > 0) keptAuthors++
  }
  if (stripped === 0) return { bytes, stripped: 0 }

  // Every number written is at most the one that was read in its place, so the result is never longer.
  const out = new Uint8Array(bytes.length)
  out.set(bytes.subarray(0, deleteSetAt))
  walk.pos = deleteSetAt
  walk.deleteAuthors()
  let at = writeVarUint(out, deleteSetAt, keptAuthors)
  for (let i = 0; i < authors; i++) {
    walk.deleteAuthor()
    at = writeKeptRanges(walk, held(walk.deleteClient), out, at)
  }
  return { bytes: out.slice(0, at), stripped }
}

/** Copies the ranges of the author just read up to `limit`; where it stopped writing. */
function writeKeptRanges(walk: StructWalk, limit: number, out: Uint8Array, from: number): number {
  const rangesAt = walk.pos
  let kept = 0
  for (let left = walk.deleteCount; left > 0; left--) {
    walk.deleteRange()
    if (walk.deleteClock < limit) kept++
  }
  if (kept === 0) return from
  let at = writeVarUint(out, from, walk.deleteClient)
  at = writeVarUint(out, at, kept)
  walk.pos = rangesAt
  for (let left = walk.deleteCount; left > 0; left--) {
    walk.deleteRange()
    if (walk.deleteClock >= limit) continue
    at = writeVarUint(out, at, walk.deleteClock)
    at = writeVarUint(out, at, Math.min(walk.deleteLength, limit - walk.deleteClock))
  }
  return at
}

interface Sections {
  /** In descending order. */
  readonly clients: number[]
  readonly ends: number[]
}

function walkSections(walk: StructWalk): Sections | undefined {
  const clients: number[] = []
  const ends: number[] = []
  const count = walk.sections()
  if (count < 0) return undefined
  for (let i = 0; i < count; i++) {
    if (!walk.section()) return undefined
    for (let left = walk.structCount; left > 0; left--) if (!walk.struct()) return undefined
    clients.push(walk.client)
    ends.push(walk.clockEnd)
  }
  return { clients, ends }
}

/** The end of a client's section, 0 when it has none. */
function endOf({ clients, ends }: Sections, client: number): number {
  const section = findClient(clients, client)
  return section < 0 ? 0 : ends[section]!
}
