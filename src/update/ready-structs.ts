/**
 * Parts an update into what a document can take in now and what waits for something that is not there, so that Yjs never
 * has to: it would look at what waits again with every later update.
 */

import { varUintLength, writeVarUint } from '../protocol/varuint.ts'
import { CausalOrder } from './causal-order.ts'
import { StructIndex } from './struct-index.ts'
import { type KnownClock, stripUnknownDeletes } from './unknown-deletes.ts'

export interface Parted {
  /** To be applied; without structs when all of them wait. */
  readonly ready: Uint8Array
  /** What waits, with the whole delete set: what it names of others does no harm. Null when nothing does. */
  readonly waiting: Uint8Array | null
}

/**
 * A struct is ready when everything before it of its author is, and what it refers to is known or ready. Structs that refer to
 * each other in a circle, which Yjs never makes, are never ready. For updates that checkUpdate has accepted and of which
 * nothing is known (see known-structs). Linear.
 */
export function partReady(bytes: Uint8Array, known: KnownClock): Parted {
  const index = new StructIndex(bytes)
  index.fill(Number.POSITIVE_INFINITY)
  if (index.deleteSetAt < 0) return { ready: bytes, waiting: null }
  const blockedAt = findBlocked(index, known)
  if (blockedAt.every((struct, section) => struct === index.firsts[section + 1])) return { ready: bytes, waiting: null }
  const ready = writePart(index, (section) => [index.firsts[section]!, blockedAt[section]!])
  const waiting = writePart(index, (section) => [blockedAt[section]!, index.firsts[section + 1]!])
  return { ready: stripUnknownDeletes(ready, known).bytes, waiting }
}

/** Per section its first struct that is not ready. */
function findBlocked(index: StructIndex, known: KnownClock): number[] {
  const order = new CausalOrder(index)
  const { walk } = order
  const blockedAt = index.clients.map(() => -1)
  /** The clock up to which a section is ready. */
  const reached = index.clients.map((client) => known(client))
  const isThere = (client: number, clock: number): boolean => {
    if (client < 0) return true
    const section = index.sectionOf(client)
    return clock < (section < 0 ? known(client) : reached[section]!)
  }
  for (let section = order.ready(); section >= 0; section = order.ready()) {
    const struct = order.upcoming(section)
    const isReady =
      blockedAt[section] === -1 &&
      !index.isSkip(struct) &&
      index.clock(struct) <= reached[section]! &&
      isThere(walk.originClient, walk.originClock) &&
      isThere(walk.rightClient, walk.rightClock) &&
      isThere(walk.parentClient, walk.parentClock)
    if (isReady) reached[section] = index.clockEnd(section, struct)
    else if (blockedAt[section] === -1) blockedAt[section] = struct
    order.pass(section)
  }
  return blockedAt.map((struct, section) => (struct === -1 ? index.firsts[section + 1]! : struct))
}

/** The structs of each section that `range` gives, from and to, and the whole delete set. */
function writePart(index: StructIndex, range: (section: number) => readonly [from: number, to: number]): Uint8Array {
  const { bytes, clients, deleteSetAt } = index
  const sections = clients.flatMap((client, section) => {
    const [from, to] = range(section)
    return from === to ? [] : [{ client, section, from, to }]
  })
  const room = sections.reduce(
    (sum, { client, from, to }) =>
      sum + varUintLength(to - from) + varUintLength(client) + varUintLength(index.clock(from)),
    varUintLength(sections.length) + bytes.length,
  )
  const out = new Uint8Array(room)
  let at = writeVarUint(out, 0, sections.length)
  for (const { client, section, from, to } of sections) {
    at = writeVarUint(out, at, to - from)
    at = writeVarUint(out, at, client)
    at = writeVarUint(out, at, index.clock(from))
    const raw = bytes.subarray(index.offset(from), index.byteEnd(section, to - 1))
    out.set(raw, at)
    at += raw.length
  }
  out.set(bytes.subarray(deleteSetAt), at)
  return out.slice(0, at + bytes.length - deleteSetAt)
}
